"""Secrets in a column of a table whose head names it: CSV, tabs, and tables of databases."""

import re
from collections.abc import Iterator

from agentmut.recording.spans import Span

_CORE = re.compile(
    "|".join(
        form
        for core in ("pass", "secret", "key", "token")
        for form in (core, core.capitalize(), core.upper())
    )
)
_HEAD = re.compile(
    r"\s*\\*\"?(?:\w{1,20}[ _-])?(?i:password|passwd|passphrase|secret|token|pass"
    r"|(?:api|access|secret)[ _]?key)"
    r"\\*\"?\s*"
)
_NAME = re.compile(r"\s*(?:\\*[\"'])?[\w .#-]{1,40}(?:\\*[\"'])?\s*")
_LINE = re.compile(r"(?:\\+r|\r)?(?:\n|\\+n)")
_NEXT_LINE = r"(?:(?<!\\)\\++r|\r)?(?:\n|(?<!\\)\\++n)"
"""The same, looked for: a search begins once in a run of backslashes, and not at each of them."""
_END = re.compile(rf"{_NEXT_LINE}|(?<!\\)\\*+[\"'][ ]?[}}\]]")
_BEGIN = re.compile(rf"{_NEXT_LINE}|(?<!\\)\\*+[\"']\s?:\s?\\*[\"']")
"""A table may stand in a value of JSON."""
_CELL = re.compile(r"\s*(?:\\*[\"'])?([^\s\"'\\=():]+)(?:\\*[\"'])?\s*")
MOST_ROWS = 1000
LONGEST_HEAD = 400
LEAST = 6


def column_spans(text: str) -> list[Span]:
    """Return the places of values with a letter and a digit in columns that are headed as secrets."""
    found: list[Span] = []
    end = 0
    for core in _CORE.finditer(text):
        if core.start() >= end:
            end = _end_of_line(text, core.end())
            found += _columns(text, _line_before(text, core.start()), end)
    return found


def _columns(text: str, begin: int, end: int) -> Iterator[Span]:
    line = text[begin:end]
    sign = next((sign for sign in ("|", "\t", ",", ";") if sign in line), None) or _escaped_tab(line)
    if sign is None or end == len(text) or len(line) > LONGEST_HEAD:
        return
    cells = line.strip(" |").split(sign) if sign == "|" else line.split(sign)
    heads = [number for number, cell in enumerate(line.split(sign)) if _HEAD.fullmatch(cell)]
    if heads and len(cells) > 1 and all(map(_NAME.fullmatch, cells)):
        yield from _cells(text, end, sign, line.count(sign), heads)


def _cells(text: str, end: int, sign: str, cells: int, heads: list[int]) -> Iterator[Span]:
    for _ in range(MOST_ROWS):
        line = _LINE.match(text, end)
        if line is None:
            return
        begin, end = line.end(), _end_of_line(text, line.end())
        row = text[begin:end]
        if row.count(sign) == cells:
            for column in heads:
                yield from _cell(row, begin, sign, column)
        elif row.strip(" -+|:"):
            return


def _end_of_line(text: str, place: int) -> int:
    found = _END.search(text, place)
    return found.start() if found else len(text)


def _escaped_tab(line: str) -> str | None:
    found = re.search(r"\\+t", line)
    return found[0] if found else None


def _line_before(text: str, place: int) -> int:
    ends = [found.end() for found in _BEGIN.finditer(text, max(0, place - LONGEST_HEAD), place)]
    return ends[-1] if ends else max(0, place - LONGEST_HEAD)


def _cell(row: str, place: int, sign: str, column: int) -> Iterator[Span]:
    parts = row.split(sign)
    if column >= len(parts):
        return
    found = _CELL.fullmatch(parts[column])
    if (
        found
        and len(found[1]) >= LEAST
        and any(map(str.isdigit, found[1]))
        and any(map(str.isalpha, found[1]))
    ):
        begin = place + sum(len(part) + len(sign) for part in parts[:column])
        yield begin + found.start(1), begin + found.end(1)
