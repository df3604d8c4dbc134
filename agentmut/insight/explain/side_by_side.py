"""Two runs of one scenario side by side: their common events, and the events of only one."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from pydantic import JsonValue

from agentmut._base import Frozen
from agentmut.nouns import Action, AgentTrace, Step


class EventKind(StrEnum):
    """The kind of an event, by who speaks or acts."""

    USER = "user"
    CALL = "call"
    RESULT = "result"
    ANSWER = "answer"
    END = "end"
    """The run ended otherwise than by an answer."""


class Event(Frozen):
    """One event of a run, in the form that a reader sees."""

    kind: EventKind
    text: str
    tool: str = ""
    """The tool that was called, or that returned a result."""


class RunView(Frozen):
    """A stored run, with the parts needed to read and compare it."""

    trial: int
    mutant: str
    """Mutant id; empty for the original."""
    outcome: str
    reason: str
    seconds: float
    tokens: int
    usd: float | None
    """Cost in US dollars; None where the price of a model is unknown."""
    events: tuple[Event, ...]

    @property
    def calls(self) -> tuple[str, ...]:
        """Return the tools that the run called, in order."""
        return tuple(event.tool for event in self.events if event.kind is EventKind.CALL)


class EventPair(Frozen):
    """Two events side by side; one of them may be missing."""

    original: Event | None
    mutant: Event | None

    @property
    def same(self) -> bool:
        """Return whether both events are equal."""
        return self.original == self.mutant


class SideBySide(Frozen):
    """A run of the original and a run of a mutant on one scenario."""

    scenario: str
    chosen: str
    """Why these two: `typical`, `telling`, `another`, or `asked for`."""
    original: RunView
    mutant: RunView
    pairs: tuple[EventPair, ...]


class MutantRuns(Frozen):
    """Stored runs of a mutant on one scenario, each beside a typical run of the original."""

    mutant: str
    pairs: tuple[SideBySide, ...]
    """The typical pair, the telling pair where it is another one, then further runs of the mutant."""
    stored: int
    """Runs of the mutant on the scenario that are stored; there may be more of them than pairs."""


class FailingRuns(Frozen):
    """Some failed runs of the unchanged agent on a scenario."""

    scenario: str
    runs: tuple[RunView, ...]
    stored: int
    """Failed runs of the scenario that are stored; there may be more of them than runs."""


def run_events(turns: Sequence[JsonValue], trace: AgentTrace, ending: str = "") -> tuple[Event, ...]:
    """Return the events of a run in order: user turns, calls with results, answers, and the ending.

    `ending`: why the run ended without an answer; empty where it answered.
    """
    return tuple(_events(turns, trace, ending))


def _events(turns: Sequence[JsonValue], trace: AgentTrace, ending: str) -> Iterator[Event]:
    for number, turn in enumerate(turns):
        steps = [step for step in trace.steps if step.turn == number]
        if number and not steps and number >= len(trace.outputs):
            break  # the run ended before this turn
        yield Event(kind=EventKind.USER, text=_text(turn))
        for step in steps:
            yield from _tool_events(step)
        if number < len(trace.outputs):
            yield Event(kind=EventKind.ANSWER, text=_text(trace.outputs[number]))
    if ending:
        yield Event(kind=EventKind.END, text=ending)


def _tool_events(step: Step) -> Iterator[Event]:
    if step.action is not Action.CALL_TOOL or not step.tool:
        return
    arguments = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in (step.arguments or {}).items()
    )
    yield Event(kind=EventKind.CALL, text=f"{step.tool}({arguments})", tool=step.tool)
    if step.error is not None:
        yield Event(kind=EventKind.RESULT, text=f"error: {step.error}", tool=step.tool)
    elif step.output is not None:
        yield Event(kind=EventKind.RESULT, text=_text(step.output), tool=step.tool)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def typical_run(runs: Sequence[RunView]) -> RunView:
    """Return the most typical run: the most frequent sequence of calls and outcome, with the usual words.

    Raises `ValueError` for no runs.
    """
    if not runs:
        raise ValueError("no run is typical of no runs")
    courses = Counter((run.calls, run.outcome) for run in runs)
    course = courses.most_common(1)[0][0]
    alike = [run for run in runs if (run.calls, run.outcome) == course]
    usual = Counter(word for run in alike for word in _words(run))
    return max(alike, key=lambda run: (_usualness(run, usual), -run.trial))


def _usualness(run: RunView, usual: Counter[str]) -> float:
    words = _words(run)
    return sum(usual[word] for word in words) / len(words) if words else 0.0


def telling_run(original: RunView, runs: Sequence[RunView]) -> RunView:
    """Return the run that differs most from a run of the original; a failed run if there is one.

    Raises `ValueError` for no runs.
    """
    if not runs:
        raise ValueError("no run of no runs tells anything")
    failed = [run for run in runs if run.outcome != "pass"]
    return max(failed or runs, key=lambda run: (_difference(original, run), -run.trial))


def _difference(left: RunView, right: RunView) -> float:
    """Return the share of calls and words that only one of both runs has, from 0 (equal) to 1."""
    mine, theirs = (Counter((*run.calls, *_words(run))) for run in (left, right))
    together = (mine | theirs).total()
    return 1 - (mine & theirs).total() / together if together else 0.0


def _words(run: RunView) -> set[str]:
    said = (event.text for event in run.events if event.kind in (EventKind.ANSWER, EventKind.CALL))
    return {word.strip(".,;:!?()\"'").lower() for text in said for word in text.split()}


def side_by_side(scenario: str, chosen: str, original: RunView, mutant: RunView) -> SideBySide:
    """Return two runs with their events aligned: equal events, then events of one kind and tool, face each other."""
    pairs = tuple(_aligned(original.events, mutant.events))
    return SideBySide(scenario=scenario, chosen=chosen, original=original, mutant=mutant, pairs=pairs)


def _aligned(left: Sequence[Event], right: Sequence[Event]) -> Iterator[EventPair]:
    ours, theirs = ([(event.kind, event.tool) for event in events] for events in (left, right))
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            for one, other in zip(left[a:b], right[c:d], strict=True):
                yield EventPair(original=one, mutant=other)
            continue
        yield from (EventPair(original=one, mutant=None) for one in left[a:b])
        yield from (EventPair(original=None, mutant=one) for one in right[c:d])


def pairs_to_show(
    scenario: str, originals: Sequence[RunView], mutants: Sequence[RunView]
) -> tuple[SideBySide, ...]:
    """Return the typical pair of runs, and the most telling pair if another run of the mutant shows more.

    Nothing is returned where one of the two was not run on the scenario.
    """
    if not originals or not mutants:
        return ()
    original, usual = typical_run(originals), typical_run(mutants)
    telling = telling_run(original, mutants)
    found = [side_by_side(scenario, "typical", original, usual)]
    if telling.events != usual.events:
        found.append(side_by_side(scenario, "telling", original, telling))
    return tuple(found)


def further_pairs(shown: Sequence[SideBySide], mutants: Sequence[RunView], most: int) -> Iterator[SideBySide]:
    """Yield a pair for each further run of the mutant with the shown run of the original; failed runs first.

    Nothing is yielded where no pair is shown.
    """
    if not shown:
        return
    known = {pair.mutant.trial for pair in shown}
    rest = [run for run in mutants if run.trial not in known]
    for run in sorted(rest, key=lambda run: (run.outcome == "pass", run.trial))[:most]:
        yield side_by_side(shown[0].scenario, "another", shown[0].original, run)
