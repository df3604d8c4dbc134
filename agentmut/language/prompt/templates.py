"""Find Jinja in a prompt: statements, which open and close blocks, and comments, which no model reads."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from agentmut.language.prompt.spans import Span, inside, merged

_STATEMENT = re.compile(r"\{%[-+]?\s*(?P<word>\w+)[^%]{0,300}%\}")
_OPENING = frozenset(["if", "for", "macro", "call", "filter", "block", "with", "raw", "autoescape", "trans"])
_BRANCHES = frozenset(["else", "elif"])
_COMMENTS = (("<!--", "-->"), ("{#", "#}"))
_PLACEHOLDER = re.compile(r"\{\{|\{%")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


class Statement(NamedTuple):
    """One `{% ... %}`; `step` is 1 where it opens a block, -1 where it closes one, else 0."""

    start: int
    end: int
    word: str
    step: int


def statements(text: str, start: int = 0, end: int | None = None) -> tuple[Statement, ...]:
    """Return every statement of the text, in order."""
    found = _STATEMENT.finditer(text, start, len(text) if end is None else end)
    return tuple(Statement(*match.span(), match["word"], _step(match["word"])) for match in found)


def _step(word: str) -> int:
    return -1 if word.startswith("end") else int(word in _OPENING)


def balanced(text: str, span: Span) -> bool:
    """Return whether the template stays whole without these characters: each block is inside or outside them.

    >>> text = "{% if vip %}Be fast.{% endif %}"
    >>> balanced(text, Span(0, 31)), balanced(text, Span(0, 20))
    (True, False)
    """
    depth = 0
    for statement in statements(text, *span):
        depth += statement.step
        if depth < 0 or (statement.word in _BRANCHES and not depth):
            return False
    return depth == 0


class Nesting:
    """How many blocks of a template are open at each offset of a text."""

    def __init__(self, text: str) -> None:
        found = statements(text)
        self._ends = [statement.end for statement in found]
        self._depths = [0, *accumulate(statement.step for statement in found)]

    def depth(self, offset: int) -> int:
        """Return the number of blocks that are open at `offset`."""
        return self._depths[bisect_right(self._ends, offset)]


def comment_spans(text: str) -> tuple[Span, ...]:
    """Return HTML and Jinja comments, sorted and disjoint. A comment that never closes is text."""
    return merged(span for marks in _COMMENTS for span in _between(text, *marks))


def _between(text: str, opening: str, closing: str) -> list[Span]:
    found: list[Span] = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        found.append(Span(start, end + len(closing)))
        start = text.find(opening, found[-1].end)
    return found


def unclosed_spans(text: str) -> tuple[Span, ...]:
    """Return each `{{` or `{%` that is not closed in its paragraph, up to the end of its line.

    >>> unclosed_spans("Greet {{ name }} and {{ team.\\nBe kind.")
    (Span(start=21, end=29),)
    """
    return merged(span for part in _paragraphs(text) for span in _unclosed(text, part))


def _paragraphs(text: str) -> Iterator[Span]:
    edges = [0, *(edge for match in _BLANK_LINE.finditer(text) for edge in match.span()), len(text)]
    return (Span(*pair) for pair in zip(edges[::2], edges[1::2], strict=True))


def _unclosed(text: str, part: Span) -> Iterator[Span]:
    opened = [match.span() for match in _PLACEHOLDER.finditer(text, *part)]
    last = part.start
    for (start, end), (following, _) in pairwise([*opened, (part.end, part.end)]):
        closing = "}}" if text[start:end] == "{{" else "%}"
        if start >= last and text.find(closing, end, following) < 0:
            line = text.find("\n", end, part.end)
            last = part.end if line < 0 else line - text.startswith("\r", line - 1)
            yield Span(start, last)


def is_silent(text: str, line: Span, comments: Sequence[Span]) -> bool:
    """Return whether a line holds nothing but comments and statements."""
    last = line.start
    spans = [*inside(comments, line), *(Span(s.start, s.end) for s in statements(text, *line))]
    for span in merged(spans):
        if text[last : max(span.start, last)].strip():
            return False
        last = max(last, span.end)
    return last > line.start and not text[last : line.end].strip()
