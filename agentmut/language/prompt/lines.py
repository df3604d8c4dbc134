"""Classify each line of a prompt: heading, list item, code, table, tag or running text."""

import re
from collections.abc import Iterator, Sequence

from agentmut.language.prompt.examples import with_dialogues, with_example_sections, with_example_tags
from agentmut.language.prompt.line import Kind, Line
from agentmut.language.prompt.spans import Span
from agentmut.language.prompt.templates import comment_spans, is_silent

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ITEM = re.compile(
    r"(?P<marker>[-*+•–▪◦‣]|\(?\d{1,3}[.)](?!\d)|\(?[a-zA-Z][.)]|\(?[ivx]{1,4}\))"
    r"(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)"
)
_ATX = re.compile(
    r"#{1,6}(?:[ \t]++(?P<label>.*?)(?<![ \t])(?:[ \t]++#*+|(?:(?<!#)|(?<=[ \t]#))#*+)?$|[ \t]*+#*+$)"
)
"""A heading; hashes that close it are not of its label. Each run of blanks and of hashes is read once."""
_UNDERLINE = re.compile(r"(?:=+|-{3,})$")
_DIVIDER = re.compile(r"(?:[-*_=~#][ \t]*){3,}$")
_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})")
_COLUMN_RULE = r"[ \t]*:?-{2,}:?[ \t]*"
_TABLE_RULE = re.compile(rf"\|?{_COLUMN_RULE}(?:\|{_COLUMN_RULE})+\|?$|\|{_COLUMN_RULE}\|$")
_TAG = re.compile(r"<(?P<close>/?)(?P<label>[A-Za-z][\w.:-]{0,64})(?:\s[^<>]{0,200})?>$")
_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<label>[^*_]+?):?(?P=mark):?$")
_STRICT = re.compile(r"\b(?:must|never|always|only|do not|don't|should|not|no)\b", re.IGNORECASE)


def read_lines(text: str) -> list[Line]:
    """Return every line of the text, classified. The joined outer spans are the whole text."""
    plain = [_plain(text, match.start(), match.end()) for match in _LINE.finditer(text)]
    marked = list(_with_silence(text, list(_with_fences(text, plain))))
    passes = (_with_tables, with_example_tags, with_dialogues, _with_headings, with_example_sections)
    for pass_ in passes:
        marked = list(pass_(text, marked))
    return marked


def _plain(text: str, outer_start: int, outer_end: int) -> Line:
    body = text[outer_start:outer_end]
    start = outer_start + len(body) - len(body.lstrip())
    end = outer_start + len(body.rstrip())
    if start >= end:
        return Line(Kind.BLANK, outer_start, outer_start, outer_start, outer_end, 0, "", "")
    indent = len(text[outer_start:start].expandtabs(4))
    return _classified(text, Line(Kind.TEXT, outer_start, start, end, outer_end, indent, "", ""))


def _classified(text: str, line: Line) -> Line:
    body = text[line.start : line.end]
    if atx := _ATX.match(body):
        level = len(body) - len(body.lstrip("#"))
        return line._replace(kind=Kind.HEADING, label=atx["label"] or "", level=level)
    if _DIVIDER.match(body):
        return line._replace(kind=Kind.DIVIDER)
    if tag := _TAG.match(body):
        return line._replace(kind=Kind.CLOSE_TAG if tag["close"] else Kind.OPEN_TAG, label=tag["label"])
    if item := _ITEM.match(body):
        return line._replace(kind=Kind.ITEM, start=line.start + item.end(), marker=item["marker"])
    if body.startswith(">"):  # a block quote: its text may hold rules like any other
        quoted = len(body) - len(body.lstrip("> \t"))
        return line._replace(start=line.start + quoted)
    return line


def _with_fences(text: str, lines: Sequence[Line]) -> Iterator[Line]:
    fence = ""
    for line in lines:
        body = text[line.start : line.end]
        opening = _FENCE.match(body)
        if fence:
            closes = body.startswith(fence) and not body.strip(fence[0])
            yield _code(line)
            fence = "" if closes else fence
        elif opening:
            fence = opening["fence"]
            yield _code(line)
        else:
            yield line


def _code(line: Line) -> Line:
    return line._replace(kind=Kind.PROTECTED, marker="", label="")


def _with_silence(text: str, lines: Sequence[Line]) -> Iterator[Line]:
    comments = comment_spans(text)
    for line in lines:
        spoken = line.kind in (Kind.BLANK, Kind.PROTECTED)
        silent = not spoken and is_silent(text, Span(line.start, line.end), comments)
        yield line._replace(kind=Kind.SILENT) if silent else line


def _with_tables(text: str, lines: Sequence[Line]) -> Iterator[Line]:
    rows = [line.kind is not Kind.PROTECTED and "|" in text[line.start : line.end] for line in lines]
    ruled = [bool(_TABLE_RULE.match(text[line.start : line.end])) for line in lines]
    inside = False
    for index, line in enumerate(lines):
        begins = any(ruled[index : index + 2])
        inside = rows[index] and (inside or begins or text[line.start] == "|")
        yield _code(line) if inside else line


def _with_headings(text: str, lines: Sequence[Line]) -> Iterator[Line]:
    """Mark headings without Markdown marks: underlined, bold or capital lines, and short labels."""
    nothing = Line(Kind.BLANK, 0, 0, 0, 0, 0, "", "")
    for before, line, after in zip([nothing, *lines], lines, [*lines[1:], nothing], strict=False):
        label = ""
        if line.kind is Kind.TEXT and _begins_block(text, before, line):
            underlined = bool(_UNDERLINE.match(text[after.start : after.end]))
            # "In this format:" before a code block is half of an instruction.
            announces = after.kind is Kind.PROTECTED
            label = "" if announces else _heading_label(text[line.start : line.end], underlined)
        level = _level(text[line.start : line.end], text[after.start : after.end]) if label else 0
        yield line._replace(kind=Kind.HEADING, label=label, level=level) if label else line


def _begins_block(text: str, before: Line, line: Line) -> bool:
    if before.kind is Kind.ITEM:
        return line.indent <= before.indent
    return before.kind is not Kind.TEXT or text[before.end - 1] in ".!?:"


def _heading_label(body: str, underlined: bool) -> str:
    bold = _BOLD.match(body)
    label = (bold["label"] if bold else body).strip()
    size = len(label.split())
    if size > 10 or label[-1:] in tuple(".!?;,") or _STRICT.search(label):
        return ""
    capital = label.isupper() and size <= 6
    short_label = label.endswith(":") and size <= 3
    return label.rstrip(":") if underlined or bold or capital or short_label else ""


def _level(body: str, after: str) -> int:
    """Return the heading's level: Markdown headings first, then lines in capitals, bold lines, labels."""
    if _UNDERLINE.match(after):
        return 1 if after.startswith("=") else 2
    return 7 if body.isupper() else 8 if _BOLD.match(body) else 9
