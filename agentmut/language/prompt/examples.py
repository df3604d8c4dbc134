"""Find what a prompt shows instead of asking for it: tagged examples, dialogues, sections of examples."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from agentmut.language.prompt.line import Kind, Line, cut, first_blanks, is_empty
from agentmut.language.prompt.spans import Span

_SPEAKER = re.compile(
    r"(?:\*\*|__)?"
    r"(?P<label>user|assistant|customer|human|ai|agent|bot|system|input|output|question|answer|q|a|example)"
    r"(?:[ \t]*\d+)?[ \t]*:",
    re.IGNORECASE,
)
_ONE_EXAMPLE = "example|beispiel|exemple|ejemplo"
_EXAMPLE_TAG = re.compile(rf"(?:few_?shot_?)?(?:(?:{_ONE_EXAMPLE})s?|beispiele)$", re.IGNORECASE)
_ONE_LINE = re.compile(rf"<(?P<label>{_ONE_EXAMPLE})(?:\s[^<>]{{0,200}})?>.*</(?P=label)>$", re.IGNORECASE)
_OPEN_EXAMPLE = re.compile(rf"<(?:{_ONE_EXAMPLE})(?:\s[^<>]{{0,200}})?>$", re.IGNORECASE)
_CLOSE_EXAMPLE = re.compile(rf"</(?:{_ONE_EXAMPLE})>$", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:few[- ]?shot |worked |sample )?"
    r"(?P<noun>examples?|beispiele?|exemples?|ejemplos?)(?: \d{1,3}| [A-Z])?"
    r"(?: ?[:(–—-].{0,60}| (?:conversations?|dialogues?|outputs?|answers?|replies)| of .{0,40})?$",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?:\*\*|__)?(?:for )?examples?(?: \d{1,3})?:?(?:\*\*|__)?:?$", re.IGNORECASE)
_TALK = frozenset(["user", "assistant", "customer", "human", "ai", "agent", "bot"])
_PLAIN_HEADING, _NO_HEADING = 7, 99
"""From the first level on a heading is only a line that looks like one; "Example:" before code is none."""


class FewShot(NamedTuple):
    """One example of a prompt, as whole lines."""

    start: int
    end: int
    removal: Span
    """The span to cut so that the rest stays well formed."""


def with_example_tags(text: str, lines: Sequence[Line]) -> Iterator[Line]:
    """Mark the lines between `<example>` and `</example>` as examples: they ask for nothing."""
    closers = {line.label for line in lines if line.kind is Kind.CLOSE_TAG}
    open_tag = ""
    for line in lines:
        if line.kind is Kind.OPEN_TAG and not open_tag and _EXAMPLE_TAG.match(line.label):
            open_tag = line.label if line.label in closers else ""
            yield line
        elif open_tag and line.kind is Kind.CLOSE_TAG and line.label == open_tag:
            open_tag = ""
            yield line
        elif open_tag or _ONE_LINE.match(text, line.start, line.end):
            yield line._replace(kind=Kind.PROTECTED, label=_speaker(text, line))
        else:
            yield line


def with_dialogues(text: str, lines: Sequence[Line]) -> Iterator[Line]:
    """Mark runs of lines in which at least two speakers take turns, with what each speaker says."""
    speakers = [_speaker(text, line) for line in lines]
    regions = list(_dialogues(text, lines, speakers))
    for line, speaker, shown in zip(lines, speakers, _covered(regions, len(lines)), strict=True):
        yield line._replace(kind=Kind.PROTECTED, label=speaker or line.label) if shown else line


def _speaker(text: str, line: Line) -> str:
    found = _SPEAKER.match(text, line.start, line.end) if line.kind is Kind.TEXT else None
    return found["label"].lower() if found else ""


def _dialogues(text: str, lines: Sequence[Line], speakers: Sequence[str]) -> Iterator[range]:
    turns = [index for index, speaker in enumerate(speakers) if speaker]
    chain: list[int] = []
    for turn in turns:
        if chain and not _answers(lines, speakers, chain[-1], turn):
            yield from _dialogue(text, lines, chain)
            chain = []
        chain.append(turn)
    yield from _dialogue(text, lines, chain)


def _answers(lines: Sequence[Line], speakers: Sequence[str], first: int, second: int) -> bool:
    """Return whether two turns belong together: different speakers, and only the first turn's text between them."""
    blank = False
    for line in lines[first + 1 : second]:
        if line.kind is Kind.BLANK:
            blank = True
        elif blank or line.kind not in (Kind.TEXT, Kind.ITEM, Kind.PROTECTED):
            return False
    return speakers[first] != speakers[second] or speakers[first] == "example"


def _dialogue(text: str, lines: Sequence[Line], chain: Sequence[int]) -> Iterator[range]:
    if len(chain) < 2:
        return
    last = chain[-1] + 1
    spoken = sum(lines[index].kind is not Kind.BLANK for index in range(chain[0], chain[-1] + 1))
    if text[lines[chain[-1]].end - 1] == ":" or spoken > len(chain):  # turns of several lines
        while last < len(lines) and lines[last].kind in (Kind.TEXT, Kind.PROTECTED):
            last += 1
    yield range(chain[0], last)


def with_example_sections(text: str, lines: Sequence[Line]) -> Iterator[Line]:
    """Mark the text under "## Examples" or "Example 1:" as examples, with its headings."""
    regions = list(_regions(text, lines))
    covered = _covered([region for _, region in regions], len(lines))
    labelled = {region.start for line, region in regions if line.kind is Kind.TEXT}
    for index, line in enumerate(lines):
        if not covered[index] or line.kind in (Kind.HEADING, Kind.OPEN_TAG, Kind.CLOSE_TAG):
            yield line
        else:
            yield line._replace(kind=Kind.PROTECTED, label="example" if index in labelled else line.label)


def _covered(regions: Sequence[range], size: int) -> list[bool]:
    covered = [False] * size
    for region in regions:
        covered[region.start : region.stop] = [True] * len(region)
    return covered


def _regions(text: str, lines: Sequence[Line]) -> Iterator[tuple[Line, range]]:
    """Yield each heading or label of examples, with the lines below it that belong to it."""
    index = 0
    while index < len(lines):
        line = lines[index]
        end = index + 1
        if line.kind is Kind.HEADING and _LABEL.match(line.label.strip("*_ ")):
            end = _end_of_region(text, lines, index)
            yield line, range(index + 1, end)
        elif line.kind is Kind.TEXT and _ALONE.match(text, line.start, line.end):
            end = _end_of_region(text, lines, index)
            if end > index + 1:
                yield line, range(index, end)
        index = end


def _end_of_region(text: str, lines: Sequence[Line], index: int) -> int:
    """Return the end: the next heading of this level or above; for a mere label, the next plain paragraph."""
    level = lines[index].level or _NO_HEADING
    last = index
    for place in range(index + 1, len(lines)):
        line = lines[place]
        apart = last > index and lines[place - 1].kind is Kind.BLANK
        if line.kind is Kind.HEADING and line.level <= level:
            break
        if line.kind is Kind.CLOSE_TAG or (level >= _PLAIN_HEADING and _leaves(line, apart)):
            break
        last = place if line.kind is not Kind.BLANK else last
    return last + 1


def _leaves(line: Line, apart: bool) -> bool:
    """Return whether a line cannot belong to the label above it."""
    if line.kind in (Kind.OPEN_TAG, Kind.SILENT, Kind.DIVIDER):
        return True
    return apart and line.kind not in (Kind.ITEM, Kind.PROTECTED, Kind.BLANK)


def read_examples(text: str, lines: Sequence[Line]) -> tuple[FewShot, ...]:
    """Return every single example in the classified lines, in order and disjoint."""
    found = list(_tagged(text, lines))
    taken = _covered(found, len(lines))
    for heading, region in _regions(text, lines):
        if not any(taken[region.start : region.stop]):
            found += _of_section(text, lines, heading, region)
    taken = _covered(found, len(lines))
    for chain in _shown_runs(lines, taken):
        found += _split_dialogue(lines, chain)
    spans = sorted((region.start, region.stop) for region in found)
    return tuple(_few_shot(text, lines, range(*span)) for span in spans)


def _few_shot(text: str, lines: Sequence[Line], region: range) -> FewShot:
    first, last = lines[region.start], lines[region.stop - 1]
    begins = first.outer_start + len(first_blanks(text, first))
    return FewShot(begins, last.end, cut(text, lines, region))


def _tagged(text: str, lines: Sequence[Line]) -> Iterator[range]:
    opened = -1
    for index, line in enumerate(lines):
        if _ONE_LINE.match(text, line.start, line.end) and line.kind is Kind.PROTECTED:
            yield range(index, index + 1)
        elif _OPEN_EXAMPLE.match(text, line.start, line.end):
            opened = index
        elif opened >= 0 and _CLOSE_EXAMPLE.match(text, line.start, line.end):
            yield range(opened, index + 1)
            opened = -1


def _of_section(text: str, lines: Sequence[Line], heading: Line, region: range) -> Iterator[range]:
    """Return the examples under a heading: its parts, list items or paragraphs. Dialogues are split by round."""
    inside = lines[region.start : region.stop]
    label = _LABEL.match(heading.label.strip("*_ "))
    if heading.kind is Kind.HEADING and label and not label["noun"].lower().endswith("s"):
        yield range(region.start - 1, region.stop)
        return
    if any(line.kind is Kind.HEADING for line in inside):
        level = min(line.level for line in inside if line.kind is Kind.HEADING)
        starts = [i for i in region if lines[i].kind is Kind.HEADING and lines[i].level == level]
    elif any(line.label for line in inside):
        return
    elif any(line.marker for line in inside):
        indent = min(line.indent for line in inside if line.marker)
        starts = [i for i in region if lines[i].marker and lines[i].indent == indent]
    else:
        starts = _paragraphs(text, lines, region)
    for start, end in pairwise([*starts, region.stop]):
        yield _without_blanks(lines, range(start, end))


def _paragraphs(text: str, lines: Sequence[Line], region: range) -> list[int]:
    """Yield where a paragraph begins that the paragraph before does not announce."""
    starts: list[int] = []
    announced = False
    for index in region:
        line = lines[index]
        if not is_empty(line):
            first = index == region.start or is_empty(lines[index - 1])
            if first and not announced:
                starts.append(index)
            announced = text[line.end - 1] == ":"
    return starts


def _without_blanks(lines: Sequence[Line], region: range) -> range:
    last = region.stop
    while last > region.start + 1 and is_empty(lines[last - 1]):
        last -= 1
    return range(region.start, last)


def _shown_runs(lines: Sequence[Line], taken: Sequence[bool]) -> Iterator[range]:
    """Yield runs of protected lines, each from its first line with a speaker."""
    start = -1
    for index, line in enumerate(lines):
        shown = line.kind is Kind.PROTECTED and not taken[index]
        if start >= 0 and not shown:
            yield _without_blanks(lines, range(start, index))
            start = -1
        elif start < 0 and shown and line.label:
            start = index
    if start >= 0:
        yield _without_blanks(lines, range(start, len(lines)))


def _split_dialogue(lines: Sequence[Line], run: range) -> Iterator[range]:
    """Return one example for each round: from each turn of the first speaker, or from blank line to blank line."""
    first = lines[run.start].label
    turns = [index for index in run if lines[index].label]
    starts = [index for index in turns if lines[index].label == first]
    after_blank = [i for i in starts[1:] if is_empty(lines[i - 1])]
    blanks = sum(is_empty(lines[i - 1]) for i in turns[1:])
    if after_blank and blanks == len(after_blank):  # a conversation of several rounds is one example
        starts = [run.start, *after_blank]
    if len(starts) == 1 and len(turns) > 1 and first not in _TALK and first != "example":
        return  # "Input: a ticket. Output: a label." once is a description
    for start, end in pairwise([*starts, run.stop]):
        yield _without_blanks(lines, range(start, end))
