"""Scenarios from imported runs: the users' own inputs, with assertions that hold in all passing runs."""

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from agentmut._base import UsageError, unwritten, write_whole
from agentmut.nouns import EvaluatorSpec, RecordPlace, Scenario
from agentmut.project import scenario_item
from agentmut.usecases.analysis_runs import JudgedRun

FEWEST = 3
"""Runs that passed, from which an assertion is read."""
ANSWERS = EvaluatorSpec(name="regex", argument=r"\S")
"""That there is an answer: for scenarios whose runs have nothing in common."""
_MASK = "[redacted]"


class ScenarioWriter:
    """Writes a scenario for each imported one that the project lacks, from runs that come one by one.

    Raises `UsageError` where the file is there already.
    """

    def __init__(self, path: Path, known: Container[str]) -> None:
        if path.exists():
            raise UsageError(f"{path} is there already. Name another file: scenarios are not overwritten.")
        self._path, self._known = path, known
        self._found: dict[str, _RecordedConversation] = {}

    def add(self, run: JudgedRun) -> None:
        """Take in one run that is evidence; turns are those of the scenario's first run, without secrets."""
        name = run.found.scenario
        if name not in self._known:
            first = _RecordedConversation(run.found.trial.turns, run.found.trial.place)
            self._found.setdefault(name, first).add(run)

    def write(self) -> int:
        """Write the scenarios and return their number. Raises `UsageError` where the file cannot be written."""
        written = [_text(name, each) for name, each in self._found.items()]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, "\n".join(written).encode())
        except OSError as error:
            raise unwritten(f"cannot write {self._path}", error, "Name another place.") from None
        return len(written)


@dataclass
class _RecordedConversation:
    """What a scenario is written from."""

    turns: tuple[JsonValue, ...]
    place: RecordPlace
    passed: int = 0
    tools: tuple[str, ...] = ()
    """The tools that every run called which passed, in the order of the first of these runs."""

    def add(self, run: JudgedRun) -> None:
        """Count a run that passed, and keep the tools that all of these called."""
        if run.passed:
            called = run.trace.tools_called
            self.tools = (
                tuple(t for t in self.tools if t in called) if self.passed else tuple(dict.fromkeys(called))
            )
            self.passed += 1


def _text(name: str, found: _RecordedConversation) -> str:
    evaluators, said = _assertions(found)
    masked = any(_MASK in str(turn) for turn in found.turns)
    gap = f"\nput a made-up value where {_MASK} stands" if masked else ""
    scenario = Scenario(name=name, turns=found.turns, evaluators=evaluators)
    return scenario_item(scenario, f"{said}, from {found.place}{gap}")


def _assertions(found: _RecordedConversation) -> tuple[tuple[EvaluatorSpec, ...], str]:
    """Return the tools that every passing run called, in order, and the evidence for this."""
    if found.passed < FEWEST:
        return (ANSWERS,), f"{found.passed} recorded runs passed, too few to read an assertion from"
    specs = tuple(EvaluatorSpec(name="tool_called", argument=tool) for tool in found.tools)
    return specs or (ANSWERS,), f"true of all {found.passed} recorded runs that passed"
