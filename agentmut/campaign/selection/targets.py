"""The option `--target`: mutants chosen by the place that they change."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agentmut._base import UsageError, line_starts, nearest
from agentmut.campaign.selection.locate import Spot, spot
from agentmut.nouns import CutComment, Mutant, Origin

_MOST_DIGITS = 9
_LINES = re.compile(r"(?P<name>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?")


class _TargetPattern(NamedTuple):
    name: str
    first: int
    last: int


def at_targets(mutants: Iterable[Mutant], targets: Sequence[str], origin: Origin) -> tuple[Mutant, ...]:
    """Return the mutants that change or concern one of the targets.

    A target is a file, with a line or lines (`prompts/system.md:10-20`), a document's name, `prompt`, `tools`,
    `tools/NAME`, `context`, `model`, `model/temperature`, `orchestration` or `history`. Raises `UsageError` for a
    name that the agent does not have.
    """
    candidates = tuple(mutants)
    spots = {mutant.id: [spot(place, origin) for place in mutant.places] for mutant in candidates}
    known = _names(origin) | {
        name for spots_of_mutant in spots.values() for one in spots_of_mutant for name in one.names
    }
    wanted = [_wanted(target, known, origin) for target in targets]
    return tuple(m for m in candidates if any(_is_at(one, w) for one in spots[m.id] for w in wanted))


def _names(origin: Origin) -> set[str]:
    """Return the names of the config's parts, including parts that no mutant changes."""
    config, sources = origin.config, origin.sources
    parts = {"prompt", "tools", "context", "model", "orchestration", "history", sources.prompt or "prompt"}
    parts |= {f"tools/{tool.name}" for tool in config.tools} | {d.name for d in config.context}
    parts |= {f"model/{name}" for name in type(config.model).model_fields}
    parts |= {f"orchestration/{name}" for name in config.orchestration}
    files = {place.path for place in sources.tool_places.values()} | set(sources.recorded.values())
    return parts | files | {origin.file}


def _wanted(target: str, known: set[str], origin: Origin) -> _TargetPattern:
    if target in known:
        return _TargetPattern(target, 0, 0)
    lines = _LINES.fullmatch(target)
    name = lines["name"] if lines else target
    if name not in known:
        raise UsageError(f"--target {_short(target)}: the agent has no such part. {nearest(name, known)}")
    if not lines:
        return _TargetPattern(name, 0, 0)
    first, last = (_line(written) for written in (lines["first"], lines["last"] or lines["first"]))
    if not 1 <= first <= last:
        raise UsageError(f"--target {_short(target)}: lines count from 1, the first before the last.")
    if name in (length := _lengths(origin)) and first > length[name]:
        raise UsageError(f"--target {_short(target)}: {name} has {_counted(length[name])}.")
    return _TargetPattern(name, first, last)


def _line(written: str) -> int:
    """Return a line number; a number too long for Python to read becomes a line that no file has."""
    return int(written) if len(written) <= _MOST_DIGITS else 10**_MOST_DIGITS


def _short(target: str) -> str:
    return target if len(target) <= 80 else f"{target[:79]}…"


def _lengths(origin: Origin) -> dict[str, int]:
    """Return the number of lines of each file that holds only a prompt or a document."""
    config, sources = origin.config, origin.sources
    lengths = {
        document.name: _lines(document.text) + _cut_lines(sources.context_cuts.get(document.name, ()))
        for document in config.context
    }
    if sources.prompt:
        lengths[sources.prompt] = _lines(config.prompt) + _cut_lines(sources.prompt_cuts)
    return lengths


def _cut_lines(cuts: Iterable[CutComment]) -> int:
    return sum(cut.text.count("\n") for cut in cuts)


def _counted(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


def _lines(text: str) -> int:
    return len(line_starts(text)) - text.endswith("\n")


def _is_at(spot: Spot, wanted: _TargetPattern) -> bool:
    if wanted.name not in spot.names:
        return False
    if not wanted.first:
        return True
    line = spot.target.line if spot.target.path == wanted.name else None
    return line is not None and line <= wanted.last and (spot.last_line or line) >= wanted.first
