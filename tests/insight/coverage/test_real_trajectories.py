"""Coverage of 200 recorded runs of a gpt-4o agent, with numbers counted here once more from the raw file."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentmut.insight.coverage.dimensions import decision_path
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Coverage, Dimension
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import read_tool
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings

SHARED = (parent / "shared" / "data" / "tau-bench" for parent in Path(__file__).parents)
FOLDER = next((folder for folder in SHARED if folder.is_dir()), None)
pytestmark = pytest.mark.skipif(FOLDER is None, reason="the recorded runs are not on this machine")
Raw = list[dict[str, Any]]


@pytest.fixture(scope="module")
def raw() -> Raw:
    assert FOLDER
    found: Raw = json.loads((FOLDER / "gpt-4o-airline.json").read_text())
    return found


@pytest.fixture(scope="module")
def tools() -> Raw:
    assert FOLDER
    found: Raw = json.loads((FOLDER / "airline_tools.json").read_text())
    return found


def converted(messages: Raw) -> AgentTrace:
    """A trajectory as a trace: each reply is a model call, then its tool calls, or an answer."""
    steps: list[Step] = []
    answers, turn = [], -1
    for message in messages:
        turn += message["role"] == "user"
        if message["role"] != "assistant":
            continue
        steps.append(Step(action=Action.REASON, turn=turn, model="gpt-4o-2024-08-06"))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            arguments = json.loads(function["arguments"])
            steps.append(Step(action=Action.CALL_TOOL, turn=turn, tool=function["name"], arguments=arguments))
        if not message.get("tool_calls"):
            answers.append(message["content"])
            steps.append(Step(action=Action.RESPOND, turn=turn, output=message["content"]))
    return AgentTrace(steps=tuple(steps), outputs=tuple(answers))


@pytest.fixture(scope="module")
def traces(raw: Raw) -> dict[str, list[AgentTrace]]:
    found: dict[str, list[AgentTrace]] = {}
    for run in raw:
        found.setdefault(f"task {run['task_id']}", []).append(converted(run["traj"]))
    return found


@pytest.fixture(scope="module")
def coverage(traces: dict[str, list[AgentTrace]], tools: Raw) -> Coverage:
    assert FOLDER
    config = AgentConfig(
        prompt=(FOLDER / "airline_wiki.md").read_text(),
        tools=tuple(map(read_tool, tools)),
        model=ModelConfig(name="gpt-4o"),
    )
    return measure(traces, config, CoverageSettings(models=("gpt-4o", "claude-sonnet-4-5")))


def words(messages: Raw) -> tuple[str, ...]:
    """The path of a trajectory, spelled from the raw messages."""
    said: list[str] = []
    for message in messages:
        if message["role"] == "assistant":
            calls = [call["function"]["name"] for call in message.get("tool_calls") or ()]
            said += ["think", *(calls or ["say"])]
    return tuple(said)


def calls(raw: Raw) -> list[tuple[str, dict[str, Any]]]:
    functions = [c["function"] for run in raw for m in run["traj"] for c in m.get("tool_calls") or ()]
    return [(function["name"], json.loads(function["arguments"])) for function in functions]


def test_every_tool_was_called(coverage: Coverage, raw: Raw, tools: Raw) -> None:
    made = Counter(name for name, _ in calls(raw))
    assert made.total() == 1164
    assert (
        coverage.of(Dimension.TOOL).covered == len({t["function"]["name"] for t in tools} & set(made)) == 14
    )


def test_paths_and_their_estimate_are_those_of_a_plain_count(coverage: Coverage, raw: Raw) -> None:
    counts = Counter(words(run["traj"]) for run in raw)
    once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
    assert (len(counts), once, twice) == (173, 160, 9)
    row = coverage.of(Dimension.PATH)
    assert row.covered == 173
    assert row.total == pytest.approx(173 + 160**2 / (2 * 9))
    assert row.value == pytest.approx(0.10845, abs=1e-5)


def test_path_diversity_of_each_task(traces: dict[str, list[AgentTrace]], raw: Raw) -> None:
    plain: dict[str, set[tuple[str, ...]]] = {}
    for run in raw:
        plain.setdefault(f"task {run['task_id']}", set()).add(words(run["traj"]))
    diversity = {name: len({decision_path(t) for t in runs}) for name, runs in traces.items()}
    assert diversity == {name: len(paths) for name, paths in plain.items()}
    assert Counter(diversity.values()) == {4: 40, 3: 8, 2: 1, 1: 1}  # of 50 tasks with 4 runs each


def test_enumerations_and_lists_are_met_as_the_raw_arguments_say(coverage: Coverage, raw: Raw) -> None:
    made = calls(raw)
    cabins = {given["cabin"] for name, given in made if name == "update_reservation_flights"}
    covered = {item.name for item in coverage.covered if item.dimension is Dimension.BOUNDARY}
    prefix = "update_reservation_flights.cabin = "
    assert {n.removeprefix(prefix) for n in covered if n.startswith(prefix)} == {f'"{c}"' for c in cabins}
    sizes = {len(given["flights"]) for name, given in made if name == "book_reservation"}
    assert ("book_reservation.flights empty" in covered) == (0 in sizes)
    assert ("book_reservation.flights one item" in covered) == (1 in sizes)
    assert ("book_reservation.flights several items" in covered) == any(size > 1 for size in sizes)


def test_a_snapshot_of_the_model_answered_and_the_other_was_not_tried(coverage: Coverage) -> None:
    assert coverage.of(Dimension.MODEL).value == 0.5
    assert "model claude-sonnet-4-5" in map(str, coverage.uncovered)


def test_texts_without_bounds_are_left_out_and_said(coverage: Coverage) -> None:
    left = {each.what for each in coverage.left_out}
    assert "book_reservation.user_id" in left and "book_reservation.flights[].date" in left
