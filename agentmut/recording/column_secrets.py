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
    r"\s*(?:\\*\"){0,4}(?:\w{1,20}[ _-])?(?i:password|passwd|passphrase|secret|token|pass"
    r"|(?:api|access|secret)[ _]?key)"
    r"(?:\\*\"){0,4}\s*"
)
_NAME = re.compile(r"\s*(?:\\*[\"']){0,4}[\w .#-]{1,40}(?:\\*[\"']){0,4}\s*")
_LINE = re.compile(r"(?:\\+r|\r)?(?:\n|\\+n)")
_NEXT_LINE = r"(?:(?<!\\)\\++r|\r)?(?:\n|(?<!\\)\\++n)"
"""The same, looked for: a search begins once in a run of backslashes, and not at each of them."""
_END = re.compile(rf"{_NEXT_LINE}|(?<!\\)\\*+[\"'][ ]?[}}\]]")
_BEGIN = re.compile(rf"{_NEXT_LINE}|(?<!\\)\\*+[\"']\s?:\s?\\*[\"']")
"""A table may stand in a value of JSON."""
_ITEM = re.compile(r"[\[,(]\s?\\*[\"']")
_LABEL = re.compile(r":\s")
"""Or in an item of a list, or behind a label: `export: user,password`."""
_VALUE_BEGINS = re.compile(rf"{_BEGIN.pattern}|{_ITEM.pattern}")
_END_OF_ITEM = re.compile(r"(?P<row>(?:[^\"'\\]|(?<!\\)\\++(?![\"']))*+)\\*[\"']\s?[,)]")
_CELL = re.compile(r"\s*(?:\\*[\"']){0,4}([^\s\"'\\=():]+)(?:\\*[\"']){0,4}\s*")
MOST_ROWS = 1000
LONGEST_HEAD = 400
LEAST = 6


def column_spans(text: str) -> list[Span]:
    """Return the places of values with a letter and a digit in columns that are headed as secrets."""
    found: list[Span] = []
    if "\n" not in text and "\\n" not in text:
        return found
    looked = end = 0
    for core in _CORE.finditer(text):
        if core.start() >= end or _VALUE_BEGINS.search(text, looked, core.start()):
            last = _END.search(text, core.end(), core.end() + LONGEST_HEAD)
            end = last.start() if last else core.end() + LONGEST_HEAD
            found += _below(text, core.start(), end) if last else ()
        looked = core.end()
    return found


def _below(text: str, place: int, end: int) -> list[Span]:
    """Return the secrets below the line of a head, which begins behind a line, or with an item of a list."""
    return next((spans for begin in _begins(text, place) if (spans := list(_columns(text, begin, end)))), [])


def _columns(text: str, begin: int, end: int) -> Iterator[Span]:
    line = text[begin:end]
    sign = next((sign for sign in ("|", "\t", ",", ";") if sign in line), None) or _escaped_tab(line)
    if sign is None or len(line) > LONGEST_HEAD:
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
        row = _until_item_ends(text[begin:end])
        if row.count(sign) == cells:
            for column in heads:
                yield from _cell(row, begin, sign, column)
        elif row.strip(" -+|:"):
            return


def _until_item_ends(row: str) -> str:
    """Return a row without what follows an item of a list, which ends with the row's first quotation mark."""
    found = _END_OF_ITEM.match(row)
    return row[: found.end("row")] if found else row


def _end_of_line(text: str, place: int) -> int:
    found = _END.search(text, place)
    return found.start() if found else len(text)


def _escaped_tab(line: str) -> str | None:
    found = re.search(r"\\+t", line)
    return found[0] if found else None


def _begins(text: str, place: int) -> Iterator[int]:
    """Yield where the line of a place may begin."""
    first = max(0, place - LONGEST_HEAD)
    for pattern in (_BEGIN, _ITEM, _LABEL):
        ends = [found.end() for found in pattern.finditer(text, first, place)]
        yield ends[-1] if ends else first


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
