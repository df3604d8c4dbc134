"""Scenarios from imported runs: the users' own inputs, with assertions that hold in all passing runs."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agentmut._base import UsageError, unwritten, write_whole
from agentmut.nouns import EvaluatorSpec, Scenario
from agentmut.project import scenario_item
from agentmut.usecases.analysis_runs import JudgedRun, by_scenario

FEWEST = 3
"""Runs that passed, from which an assertion is read."""
ANSWERS = EvaluatorSpec(name="regex", argument=r"\S")
"""That there is an answer: for scenarios whose runs have nothing in common."""
_MASK = "[redacted]"


def write_scenarios(runs: Iterable[JudgedRun], known: Mapping[str, Scenario], path: Path) -> int:
    """Write a scenario for each imported one that the project lacks; return their number.

    Turns are those of the scenario's first run, without the secrets that the import took out. Raises `UsageError`
    where the file is there already or cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path} is there already. Name another file: scenarios are not overwritten.")
    written = list(_texts(by_scenario(runs), known))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "\n".join(written).encode())
    except OSError as error:
        raise unwritten(f"cannot write {path}", error, "Name another place.") from None
    return len(written)


def _texts(grouped: Mapping[str, list[JudgedRun]], known: Mapping[str, Scenario]) -> Iterator[str]:
    for name, runs in grouped.items():
        if name not in known:
            evaluators, said = _assertions(runs)
            turns = runs[0].found.trial.turns
            masked = any(_MASK in str(turn) for turn in turns)
            gap = f"\nput a made-up value where {_MASK} stands" if masked else ""
            scenario = Scenario(name=name, turns=turns, evaluators=evaluators)
            yield scenario_item(scenario, f"{said}, from {runs[0].found.trial.place}{gap}")


def _assertions(runs: Iterable[JudgedRun]) -> tuple[tuple[EvaluatorSpec, ...], str]:
    """Return the tools that every passing run called, in order, and the evidence for this."""
    passed = [run.trace.tools_called for run in runs if run.passed]
    if len(passed) < FEWEST:
        return (ANSWERS,), f"{len(passed)} recorded runs passed, too few to read an assertion from"
    every = [tool for tool in dict.fromkeys(passed[0]) if all(tool in called for called in passed)]
    specs = tuple(EvaluatorSpec(name="tool_called", argument=tool) for tool in every)
    return specs or (ANSWERS,), f"true of all {len(passed)} recorded runs that passed"
