"""tau-bench's files: read whole, read around what is broken, and as a suite with the published reliability."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.insight import CoverageRequest, project_coverage
from agentmut.nouns.foreign import BrokenRecord, ForeignTrial
from agentmut.nouns.trace import Action, AgentTrace
from agentmut.report import render_coverage
from agentmut.seams.protocols.trace_format import TraceFile
from agentmut.testing import check_trace_format
from agentmut.trace_formats.tau_bench import TauBench
from agentmut.usecases import check_relations, check_suite, measure, opened, trend

SHARED = (parent / "shared" / "data" / "tau-bench" for parent in Path(__file__).parents)
TAU = next((folder for folder in SHARED if folder.is_dir()), Path("nowhere"))
RUNS = "gpt-4o-airline.json"
recorded = pytest.mark.skipif(not TAU.is_dir(), reason="the trajectories are not on this machine")


def call(tool: str, id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def run(task: int, reward: float, *messages: dict[str, Any]) -> dict[str, Any]:
    traj = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Where is W1?"},
        *messages,
    ]
    return {"task_id": task, "reward": reward, "info": {"source": "user"}, "traj": traj, "trial": 0}


ANSWERED = (
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("track", order="W1"), call("track", order="W2")],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "shipped"},
    {"role": "tool", "tool_call_id": "c1", "content": "lost"},
    {"role": "assistant", "content": "W1 is on its way."},
)


def read(path: Path) -> list[ForeignTrial | BrokenRecord]:
    return list(TauBench().read([TraceFile(path, path.name)]))


def trial(path: Path) -> ForeignTrial:
    (found,) = read(path)
    assert isinstance(found, ForeignTrial)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([run(0, 1.0, *ANSWERED)]))
    return path


def test_a_trial_has_its_steps_its_prompt_and_its_score(file: Path) -> None:
    found = trial(file)
    assert (found.scenario, found.turns, found.config.prompt) == ("task_0", ("Where is W1?",), "Be kind.")
    assert found.scores["reward"].value is True
    assert found.fields == {"task_id": 0, "reward": 1.0, "info": {"source": "user"}, "trial": 0}
    assert [step.action for step in found.trace.steps] == [
        Action.REASON, Action.CALL_TOOL, Action.CALL_TOOL, Action.REASON, Action.RESPOND,
    ]  # fmt: skip
    assert found.trace.outputs == ("W1 is on its way.",)


def test_results_belong_to_calls_by_their_order_where_ids_come_twice(file: Path) -> None:
    calls = trial(file).trace.tool_calls
    assert [(one.arguments, one.output) for one in calls] == [
        ({"order": "W1"}, "shipped"), ({"order": "W2"}, "lost"),
    ]  # fmt: skip


def test_results_belong_to_calls_by_their_ids_where_these_differ(tmp_path: Path) -> None:
    asked = {
        "role": "assistant",
        "content": "",
        "tool_calls": [call("track", "a", n=1), call("track", "b", n=2)],
    }
    results = [{"role": "tool", "tool_call_id": one, "content": f"of {one}"} for one in "ba"]
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([run(0, 0.0, asked, *results)]))
    assert [one.output for one in trial(path).trace.tool_calls] == ["of a", "of b"]


def test_the_format_is_sound(file: Path) -> None:
    check_trace_format(TauBench, file)


def test_what_is_broken_is_told_with_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    good = json.dumps(run(1, 1.0, *ANSWERED))
    path.write_text(f'[\n  {good},\n  {{"task_id": oops}},\n  {{"task_id": 3, "reward": 1}},\n  {good}\n]\n')
    found = read(path)
    assert [type(one) for one in found] == [ForeignTrial, BrokenRecord, BrokenRecord, ForeignTrial]
    assert str(found[1]).startswith("runs.json:3: it is not JSON: ")
    assert str(found[2]) == "runs.json:4: it has no 'traj'"


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    good = json.dumps(run(1, 1.0, *ANSWERED))
    path.write_text(f"{good}\n{good[:50]}\n\n{good}\n")
    found = read(path)
    assert [str(one.place) for one in found] == ["runs.jsonl:1", "runs.jsonl:2", "runs.jsonl:4"]
    assert [type(one) for one in found] == [ForeignTrial, BrokenRecord, ForeignTrial]


def test_a_message_of_nobody_breaks_its_record(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([run(0, 1.0, {"role": "narrator", "content": "x"})]))
    (found,) = read(path)
    assert isinstance(found, BrokenRecord)
    assert "narrator" in found.reason


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (RUNS, "airline_tools.json"):
        shutil.copy(TAU / name, tmp_path / name)
    config = "{tools: airline_tools.json, model: {name: gpt-4o}}"
    (tmp_path / "agentmut.yaml").write_text(
        f"version: 1\nagent: {{config: {config}}}\nsuite: {{traces: {RUNS}}}\n"
    )
    return tmp_path


@recorded
def test_recorded_runs_have_the_published_reliability(project: Path) -> None:
    """pass^1 to pass^4 of gpt-4o on the airline tasks: .420, .273, .220, .200."""
    report = check_suite(project)
    assert report.reliability is not None
    assert [round(one.pass_hat.estimate or 0, 3) for one in report.reliability.chances] == [
        0.42,
        0.273,
        0.22,
        0.2,
    ]
    rate = report.reliability.pass_rate  # over tasks, and not as if 200 runs were independent
    assert (round(rate.low, 3), round(rate.high, 3)) == (0.315, 0.525)
    assert {row.trials for row in report.scenarios} == {4}
    assert (len(report.scenarios), report.cost.foreign, report.cost.usd) == (50, 200, 0.0)
    assert report.reliability.p95 is None  # tau-bench writes down no times
    assert "agentmut ran none of them" in report.notes[0]


def trial_of(project: Path, scenario: str, number: int) -> AgentTrace:
    found = [
        one for one in read(project / RUNS) if isinstance(one, ForeignTrial) and one.scenario == scenario
    ]
    return found[number].trace


@recorded
def test_recorded_runs_feed_coverage_trend_and_relations_that_run_nothing(project: Path) -> None:
    check_suite(project)
    with opened(project) as (session, store):
        coverage = project_coverage(session, store, CoverageRequest(None, (), False))
    tools = next(row for row in coverage.dimensions if row.dimension.value == "tool")
    assert (tools.covered, tools.total) == (14, 14)
    assert (coverage.origins.runs, coverage.origins.foreign_share) == (200, 1.0)
    assert "Recorded by other tools: 200 of 200 runs (100 %)" in " ".join(render_coverage(coverage).split())
    assert [(row.kind, row.origins.foreign_share) for row in trend(project).rows] == [("test", 1.0)]
    report = check_relations(project, relations=["oracle.tool_arguments"], stored=True)
    assert (report.cost.origins.runs, report.cost.origins.foreign_share) == (200, 1.0)
    judged = [row for row in report.rows if row.pairs]
    assert len(judged) > 25
    # in trials 1 and 3 of task 20, gpt-4o pays with credit_card_5634230, and the tools have named a gift card
    assert {row.scenario: row.violations for row in judged if row.violations} == {"task_20": 2}
    assert trial_of(project, "task_20", 1).tool_calls[2].arguments == {
        "reservation_id": "1N99U6", "cabin": "economy", "payment_id": "credit_card_5634230",
        "flights": [
            {"flight_number": "HAT266", "date": "2024-05-19"}, {"flight_number": "HAT112", "date": "2024-05-27"},
        ],
    }  # fmt: skip


@recorded
def test_nothing_new_can_be_run(project: Path) -> None:
    with pytest.raises(UsageError, match="a campaign of mutants takes new runs of the agent"):
        measure(project)
    with pytest.raises(UsageError, match="without --stored takes new runs"):
        check_relations(project)
