"""A parsed prompt: its instructions with the exact characters they occupy, and the protected characters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from agentmut.language.prompt.blocks import Block, read_blocks
from agentmut.language.prompt.emphasis import Emphasis, emphases
from agentmut.language.prompt.examples import FewShot, read_examples
from agentmut.language.prompt.line import Kind
from agentmut.language.prompt.lines import read_lines
from agentmut.language.prompt.protected import protected_spans
from agentmut.language.prompt.sections import Section, read_sections
from agentmut.language.prompt.sentences import sentence_spans
from agentmut.language.prompt.spans import Span, inside, joined, overlaps

_STATEMENT = r"\{%[^%{}]{0,300}%\}"
_LEADING = re.compile(rf"(?:\(?(?:\d{{1,2}}|[a-z])[.)]\s+)?(?:(?:<[A-Za-z][^<>]{{0,200}}>|{_STATEMENT})\s*)*")
_CLOSING = rf"(?:</[^<>]{{1,80}}>|{_STATEMENT})"
_TRAILING = re.compile(rf"(?<!\s)\s*+{_CLOSING}(?:\s*+{_CLOSING})*+(?P<at_end>\n?\Z)?")
_MARK = re.compile(r"</?(?P<tag>[\w.:-]++)[^<>]*+>|\{%[-+]?\s*(?P<statement>\w++)[^%]*+%\}")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One rule, request or statement of a prompt: what somebody could lose in an edit."""

    start: int
    end: int
    """`text` is exactly the characters `start` to `end` of the prompt: no bullet, number or line break."""
    text: str
    removal: Span
    """The span to cut so that the rest stays well formed: with bullet and line break, or an adjoining blank."""
    heading: str | None
    """The nearest heading, tag or lead-in ("When a refund is asked for:") above it."""
    marker: str
    """Its bullet or number; empty in a paragraph."""
    group: int
    """Equal for items of one list, and for sentences of one paragraph or item."""


@dataclass(frozen=True, slots=True)
class PromptDocument:
    """A parsed prompt. Spans count characters of `text`."""

    text: str
    instructions: tuple[Instruction, ...]
    """In the order of the text. Headings, lead-ins to lists, code, tables and examples are none."""
    protected: tuple[Span, ...]
    """Sorted and disjoint: code, links, placeholders, JSON, tags, tables, examples, quotes, names."""
    sections: tuple[Section, ...] = ()
    """Outer before inner: headings with all that is under them, elements of tags."""
    examples: tuple[FewShot, ...] = ()
    """Few-shot examples, one by one: tagged, in dialogue, or under a heading that says so."""

    def protects(self, start: int, end: int) -> bool:
        """Return whether any of the characters `start` to `end` is protected."""
        return overlaps(self.protected, Span(start, end))

    def emphases(self, instruction: Instruction) -> tuple[Emphasis, ...]:
        """Return the emphasis in an instruction, outside protected text; spans count from the prompt's start."""
        placed = (
            Emphasis(instruction.start + start, instruction.start + end, plain)
            for start, end, plain in emphases(instruction.text)
        )
        return tuple(one for one in placed if not self.protects(one.start, one.end))


class _Piece(NamedTuple):
    """A sentence without its number, tags and statements, and with them (`outer`) where they are its own."""

    start: int
    end: int
    outer: Span


def parse(text: str, tool_names: Iterable[str] = ()) -> PromptDocument:
    r"""Parse a prompt; `tool_names` are protected wherever they stand as whole words.

    Reads Markdown, numbered rules, plain paragraphs and lines, and XML-tagged prompts, with either line
    break. Any string is a prompt; an empty one has no instructions.

    >>> [i.text for i in parse("# Rules\n- Be polite.\n- Never guess. Ask instead.").instructions]
    ['Be polite.', 'Never guess.', 'Ask instead.']
    """
    return _parse(text, tuple(sorted(set(tool_names))))


@lru_cache(maxsize=64)  # the prompt operators, and a simulator's every turn, read the same documents
def _parse(text: str, tool_names: tuple[str, ...]) -> PromptDocument:
    lines = read_lines(text)
    fixed = joined(Span(line.outer_start, line.outer_end) for line in lines if line.kind is Kind.PROTECTED)
    protected = protected_spans(text, fixed, tool_names)
    blocks = read_blocks(text, lines)
    return PromptDocument(
        text, tuple(_instructions(text, blocks, protected)), protected, read_sections(text, lines),
        read_examples(text, lines),
    )  # fmt: skip


def _instructions(text: str, blocks: Sequence[Block], protected: Sequence[Span]) -> Iterator[Instruction]:
    leads: list[tuple[int, str]] = []
    section = None
    for index, block in enumerate(blocks):
        leads = [lead for lead in leads if lead[0] < block.depth and block.heading == section]
        section = block.heading
        pieces = [
            _piece(text, span) for span in sentence_spans(text, Span(block.start, block.end), protected)
        ]
        heading = leads[-1][1] if leads else section
        last = pieces[-1] if pieces else None
        lead = _lead(text, last, block, blocks[index + 1 : index + 2])
        group = block.group if len(pieces) == 1 else len(blocks) + index
        for number, piece in enumerate(pieces):
            if _says_something(text, piece, protected) and not (lead and piece is last):
                removal = _removal(text, block, pieces, number)
                said = text[piece.start : piece.end]
                yield Instruction(piece.start, piece.end, said, removal, heading, block.marker, group)
        if lead:
            leads.append((block.depth, lead))


def _piece(text: str, span: Span) -> _Piece:
    said = text[span.start : span.end]
    leading = _LEADING.match(said)
    left, right = leading.end() if leading else 0, _end_of_words(said)
    if left >= right:  # nothing but tags
        return _Piece(span.start, span.start, span)
    start, end = span.start + left, span.start + right
    opened, closed = list(_MARK.finditer(said[:left]))[::-1], list(_MARK.finditer(said[right:]))
    if not opened and not closed:
        return _Piece(start, end, span)
    outer = Span(start, end)
    for first, last in zip(opened, closed, strict=False):
        if not _is_pair(first, last):
            break
        outer = Span(span.start + first.start(), end + last.end())
    return _Piece(start, end, outer)


def _end_of_words(said: str) -> int:
    """Return where the closing tags begin that a text ends with, or else its end."""
    starts = (match.start() for match in _TRAILING.finditer(said) if match["at_end"] is not None)
    return next(starts, len(said) - said.endswith("\n"))


def _is_pair(first: re.Match[str], last: re.Match[str]) -> bool:
    if first["tag"]:
        return first["tag"] == last["tag"]
    return f"end{first['statement']}" == last["statement"]


def _lead(text: str, last: _Piece | None, block: Block, following: Sequence[Block]) -> str:
    """Return the words that announce the list below, if the last sentence does so."""
    said = text[last.start : last.end].rstrip("*_ ") if last else ""
    announces = said.endswith(":") and any(
        after.marker and after.depth > block.depth and after.heading == block.heading for after in following
    )
    return said.strip("*_: ") if announces else ""


def _says_something(text: str, piece: _Piece, protected: Sequence[Span]) -> bool:
    """Return whether a letter stands outside protected text: a lone placeholder or tag says nothing."""
    held = inside(protected, Span(piece.start, piece.end))
    edges = [piece.start, *(edge for span in held for edge in span), piece.end]
    return any(
        any(map(str.isalpha, text[start:end])) for start, end in list(pairwise(edges))[::2] if start < end
    )


def _removal(text: str, block: Block, pieces: Sequence[_Piece], number: int) -> Span:
    start, end = pieces[number].outer
    if len(pieces) == 1 and (start, end) == (block.start, block.end):
        return _whole_lines(text, block)
    if number == 0:
        gap = text[end : pieces[1].outer.start] if len(pieces) > 1 else ""
        return Span(start, end + len(gap) - len(gap.lstrip()))
    gap = text[pieces[number - 1].outer.end : start]
    return Span(start - len(gap) + len(gap.rstrip()), end)


def _whole_lines(text: str, block: Block) -> Span:
    start, end = block.outer_start, block.outer_end
    if block.isolated and (blank := _BLANK_LINE.match(text, end)):
        return Span(start, blank.end())
    if end == len(text) and not text.endswith("\n"):  # the break before it becomes superfluous instead
        start = len(text[:start].removesuffix("\n").removesuffix("\r"))
    return Span(start, end)
