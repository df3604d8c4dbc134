"""Where the texts of a saved request are written: files and lines of the user, which reports then point to."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from agentmut.nouns import AgentConfig, Place, PromptPart, ToolSpec
from agentmut.project.parts import TEXT_SUFFIXES

KEY = "sources"
"""The key of a saved request under which the files stand that hold its texts."""
LEAST_LINE = 12
"""Characters of a line from which on it names its file: shorter lines stand anywhere."""
LARGEST = 200_000
"""Bytes of a file that is read."""
MOST_LINES_TO_NAME = 12
"""Lines of code between the name of a tool and its description."""
PLACEHOLDER = re.compile(r"\{\w+\}")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)")
_NAMED = r"""(?:\bdef\s+{name}\s*\(|["'`]{name}["'`])"""


class _File(NamedTuple):
    name: str
    lines: Sequence[str]


class _Found(NamedTuple):
    """A text of a request in a line of a file; `shift` is how many columns further right it stands there."""

    file: str
    line: int
    shift: int | None


class _Piece(NamedTuple):
    """A line of the prompt or a sentence of it, and where it was found."""

    at: int
    row: int
    found: _Found | None


def kept_sources(request: Path) -> Mapping[str, Any]:
    """Return the files that a saved request names as its sources, with what it counts of each."""
    try:
        kept = json.loads(request.read_text("utf-8-sig")).get(KEY)
    except (OSError, ValueError, AttributeError):
        return {}
    return kept if isinstance(kept, dict) else {}


def prompt_places(config: AgentConfig, request: Path, root: Path) -> tuple[PromptPart, ...]:
    """Return where each line of a saved request's prompt is written; empty if no line was found.

    The places are those of today's files, found by their texts. A line that was not found has no place, unless the
    lines around it leave only one.
    """
    return _places(config.prompt, _files(kept_sources(request), root))


def live_prompt_places(prompt: str, names: Iterable[str], root: Path) -> tuple[PromptPart, ...]:
    """Return where each line of a prompt is written that the built agent has; empty if no line was found.

    `names` are the files that may hold the prompt, relative to `root`.
    """
    return _places(prompt, _files(names, root))


def _places(prompt: str, files: Sequence[_File]) -> tuple[PromptPart, ...]:
    pieces = _between(list(_pieces(prompt, files))) if files else []
    if not any(piece.found for piece in pieces):
        return ()
    return tuple(_part(piece.at, piece.found) for piece in pieces)


def tool_places(config: AgentConfig, request: Path, root: Path) -> dict[str, Place]:
    """Return where the tools of a saved request are written, by name, as far as their descriptions tell."""
    files = _files(kept_sources(request), root)
    found = ((tool.name, _place_of(tool, files)) for tool in config.tools)
    return {name: place for name, place in found if place is not None}


def text_of(path: Path) -> str:
    """Return the text of a file; empty for one that is missing, large or no text."""
    try:
        return path.read_text("utf-8") if path.stat().st_size <= LARGEST else ""
    except (OSError, UnicodeDecodeError):
        return ""


def sentences_of(line: str) -> tuple[str, ...]:
    """Return the sentences of a line that has several.

    >>> sentences_of("You are a clerk. Never swear."), sentences_of("One sentence.")
    (('You are a clerk.', 'Never swear.'), ())
    """
    found = tuple(match.group() for match in _SENTENCE.finditer(line))
    return found if len(found) > 1 else ()


def _files(sources: Iterable[str], root: Path) -> list[_File]:
    """Return the sources, files of text first: code may quote a prompt that a file of text holds."""
    names = sorted(sources, key=lambda name: (Path(name).suffix not in TEXT_SUFFIXES, name))
    inside = [name for name in names if (root / name).resolve().is_relative_to(root.resolve())]
    return [_File(name, text_of(root / name).split("\n")) for name in inside]


def _pieces(prompt: str, files: Sequence[_File]) -> Iterator[_Piece]:
    at, last = 0, None
    for row, line in enumerate(prompt.split("\n")):
        for start, text in _texts(line, files, last):
            found = _find(text, files, last)
            yield _Piece(at + start, row, found)
            last = found or last
        at += len(line) + 1


def _texts(line: str, files: Sequence[_File], last: _Found | None) -> Iterator[tuple[int, str]]:
    """Yield a line, or its sentences if code writes them on several lines, each with its place in the line."""
    whole = line.strip()
    several = () if _find(whole, files, last) else sentences_of(whole)
    if not several:
        yield 0, line
    for number, match in enumerate(_SENTENCE.finditer(line) if several else ()):
        start = match.start() if number else 0  # the first sentence has the blanks before it
        yield start, line[start : match.end()]


def _find(text: str, files: Sequence[_File], last: _Found | None) -> _Found | None:
    """Return where a text stands; of several places the first one behind `last`, if that is in the same file."""
    wanted = text.strip()
    if len(wanted) < LEAST_LINE or PLACEHOLDER.search(wanted):
        return None
    lead = len(text) - len(text.lstrip())
    found = [place for file in files for place in _in_file(wanted, file, lead)]
    behind = [one for one in found if last and one.file == last.file and one.line >= last.line]
    return next(iter(behind or found), None)


def _in_file(wanted: str, file: _File, lead: int) -> Iterator[_Found]:
    quoted = {wanted.replace('"', '\\"'), wanted.replace("'", "\\'")} - {wanted}
    for number, line in enumerate(file.lines, 1):
        if (column := line.find(wanted)) >= 0:
            yield _Found(file.name, number, column - lead)
        elif any(form in line for form in quoted):
            yield _Found(file.name, number, None)


def _between(pieces: list[_Piece]) -> list[_Piece]:
    """Return the pieces with a place for each one between two that are as far apart in a file as in the prompt."""
    filled = list(pieces)
    known = [index for index, piece in enumerate(pieces) if piece.found]
    for before, after in pairwise(known):
        first, last = pieces[before], pieces[after]
        if not (first.found and last.found and first.found.file == last.found.file):
            continue
        if last.found.line - first.found.line == last.row - first.row:
            for index in range(before + 1, after):
                line = first.found.line + pieces[index].row - first.row
                filled[index] = pieces[index]._replace(found=_Found(first.found.file, line, None))
    return filled


def _part(at: int, found: _Found | None) -> PromptPart:
    if found is None:
        return PromptPart(at=at, line=None)
    return PromptPart(at=at, line=found.line, indent=found.shift, file=found.file)


def _place_of(tool: ToolSpec, files: Sequence[_File]) -> Place | None:
    """Return the line that names a tool, above its description or at it; else the line of the description."""
    described = _find(next(iter(tool.description.strip().splitlines()), ""), files, None)
    if described is None:
        return None
    named = re.compile(_NAMED.format(name=re.escape(tool.name)))
    (lines,) = (file.lines for file in files if file.name == described.file)
    above = range(described.line, max(0, described.line - MOST_LINES_TO_NAME), -1)
    line = next((number for number in above if named.search(lines[number - 1])), described.line)
    return Place(path=described.file, line=line)
