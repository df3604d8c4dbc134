"""Two runs beside each other as the page shows them: lines of two cells, with the words that differ marked."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agentmut.insight import Event, EventPair, MutantRuns, RunView, SideBySide
from agentmut.report.html.inline import Kind, Piece, cut, word_diff
from agentmut.report.paint import clean

ROOM = 2_000_000
"""Characters of runs that one page holds, the marks of HTML around them included, roughly."""
FURTHER = 10
"""Runs of one mutant that a page holds beyond the typical and the telling one."""
_LONGEST = 4_000
"""Characters of one event that are shown."""
_MARKS = 160
"""Characters of HTML around one event, roughly."""


class Cell(NamedTuple):
    """What one run did: the kind of the event, and its text in pieces."""

    kind: str
    pieces: tuple[Piece, ...]


class Line(NamedTuple):
    """What both runs did at one place; None where a run did nothing there."""

    original: Cell | None
    mutant: Cell | None
    same: bool


def run_lines(pair: SideBySide) -> list[Line]:
    """Return the events of two runs line by line, cleaned, each text cut to about 4,000 characters."""
    return [_line(events) for events in pair.pairs]


def _line(events: EventPair) -> Line:
    ours, theirs = _text(events.original), _text(events.mutant)
    if events.same or ours == theirs:
        same = _cell(events.original, (Piece(Kind.SAME, ours),))
        return Line(same, same, same=True)
    if events.original is None or events.mutant is None:
        alone = _cell(events.original, (Piece(Kind.GONE, ours),))
        return Line(alone, _cell(events.mutant, (Piece(Kind.NEW, theirs),)), same=False)
    pieces = list(word_diff(ours, theirs))
    left = _cell(events.original, tuple(piece for piece in pieces if piece.kind is not Kind.NEW))
    return Line(
        left,
        _cell(events.mutant, tuple(piece for piece in pieces if piece.kind is not Kind.GONE)),
        same=False,
    )


def _cell(event: Event | None, pieces: tuple[Piece, ...]) -> Cell | None:
    return None if event is None else Cell(event.kind.value, pieces)


def _text(event: Event | None) -> str:
    return cut(event.text, _LONGEST) if event else ""


def run_head(run: RunView) -> str:
    """Return the number of a stored run, its outcome, its time in seconds, its tokens and its cost."""
    parts = [f"trial {run.trial}", clean(run.outcome), f"{run.seconds:.1f} s"]
    if run.tokens:
        parts += [f"{run.tokens:,} tokens", "cost unknown" if run.usd is None else f"${run.usd:.4f}"]
    return " · ".join(parts)


def runs_within(found: Iterable[MutantRuns], room: int = ROOM) -> tuple[MutantRuns, ...]:
    """Return the runs that fit into a page; the typical and the most telling pair of each mutant come first.

    `found` is read only until the room is used up. `room` counts characters.
    """
    kept: list[MutantRuns] = []
    for runs in found:
        room -= sum(map(_size, _chosen(runs)))
        if room < 0:
            break
        kept.append(runs)
    return tuple(_filled(kept, room))


def _filled(kept: Iterable[MutantRuns], room: int) -> Iterator[MutantRuns]:
    """Yield the runs, each with as many further pairs as fit."""
    for runs in kept:
        pairs = list(_chosen(runs))
        for pair in runs.pairs[len(pairs) :]:
            room -= _size(pair)
            if room < 0:
                break
            pairs.append(pair)
        yield runs.model_copy(update={"pairs": tuple(pairs)})


def _chosen(runs: MutantRuns) -> list[SideBySide]:
    return [pair for pair in runs.pairs if pair.chosen != "another"]


def _size(pair: SideBySide) -> int:
    events = (event for both in pair.pairs for event in (both.original, both.mutant) if event)
    return sum(min(len(event.text), _LONGEST) + _MARKS for event in events)
