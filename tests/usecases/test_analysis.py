"""Imported runs are analyzed alone: their figures, and what the project's evaluators, contracts and relations say."""

import json
import weakref
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.insight import Dimension
from agentmut.nouns.foreign import Origins
from agentmut.project import load_project
from agentmut.report import render_analysis
from agentmut.store import ImportQuery, imported
from agentmut.usecases import (
    Analysis,
    AnalysisWish,
    ImportWish,
    analyze,
    check_relations,
    check_suite,
    import_traces,
    watch_imports,
)

SHARED = (parent / "shared" / "data" / "tau-bench" for parent in Path(__file__).parents)
TAU = next((folder for folder in SHARED if folder.is_dir()), Path("nowhere"))
CHEAP = ("composition.ask_again",)
"""A relation that takes further runs, so that none is judged here."""


def run(
    task: int, reward: float | None, answer: str = "Hello!", tool: str = "", trial: int = 0
) -> dict[str, Any]:
    called = [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": tool, "arguments": '{"order": "W1024"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]  # fmt: skip
    said = [{"role": "user", "content": "Cancel order W1042"}, *(called if tool else [])]
    answered = {"role": "assistant", "content": answer}
    return {"task_id": task, "reward": reward, "info": {}, "traj": [*said, answered], "trial": trial}


def analyzed(folder: Path, *runs: dict[str, Any], outcome: str | None = None, **wish: Any) -> Analysis:
    (folder / "runs.json").write_text(json.dumps(runs))
    import_traces(["runs.json"], folder, ImportWish(outcome=outcome))
    return analyze(folder, AnalysisWish(**{"relations": CHEAP} | wish))


def test_no_agent_and_no_project_are_needed(tmp_path: Path) -> None:
    found = analyzed(tmp_path, run(0, 1.0), run(0, 0.0, trial=1), run(1, 1.0, tool="cancel"))
    assert found.reliability is not None
    assert found.reliability.pass_rate.estimate == 0.75  # the mean of 1/2 and 1
    assert found.evidence.origins == Origins(runs=3, foreign=3)
    assert found.outcomes == {"fail": 1, "pass": 2}
    assert found.coverage.of(Dimension.PATH).covered == 2
    page = render_analysis(found)
    assert "All of this evidence is foreign: it was imported (tau_bench)" in page
    assert page.endswith("This analysis cost $0.\n")


def test_intervals_of_scenarios_hold_together(tmp_path: Path) -> None:
    runs = [run(task, 1.0, trial=k) for task in range(2) for k in range(5)]
    rows = analyzed(tmp_path, *runs).scenarios
    # Clopper-Pearson for 5 of 5 at 97.5 %: 0.0125 ** (1/5)
    assert [row.interval.low for row in rows if row.interval] == pytest.approx([0.0125**0.2] * 2, abs=1e-6)


def test_a_contract_judges_every_run_besides_its_recorded_outcome(tmp_path: Path) -> None:
    contract = {"name": "calm", "postconditions": [{"id": "kind", "check": "'Hello' in text"}]}
    (tmp_path / "calm.yaml").write_text(json.dumps(contract))
    runs = run(0, 1.0), run(0, 1.0, answer="Go away", trial=1), run(0, 0.0, trial=2)
    found = analyzed(tmp_path, *runs, contracts=(str(tmp_path / "calm.yaml"),))
    assert found.outcomes == {"fail": 2, "pass": 1}
    (row,) = found.evaluators
    assert (row.passes, row.runs, row.first.startswith("runs.json:")) == (2, 3, True)
    (clause,) = found.contracts[0].clauses
    assert (clause.clause, clause.trials) == ("kind", 1)


def test_the_evaluators_of_the_projects_scenario_judge_runs_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    scenario = {"name": "task_0", "input": "Cancel order W1042", "evaluators": [{"contains": "Hello"}]}
    (tmp_path / "scenarios" / "one.yaml").write_text(json.dumps([scenario]))
    project = {"version": 1, "agent": {"adapter": "python", "run": "agent:run"}}
    (tmp_path / "agentmut.yaml").write_text(json.dumps(project))
    runs = run(0, 1.0, answer="Go away"), run(1, 1.0, answer="Go away")
    found = analyzed(tmp_path, *runs, outcome="evaluators")
    assert {row.scenario: (row.passes, row.runs, row.unjudged) for row in found.scenarios} == {
        "task_0": (0, 1, 0), "task_1": (0, 0, 1),
    }  # fmt: skip


def test_runs_that_nothing_judges_still_cover(tmp_path: Path) -> None:
    found = analyzed(tmp_path, run(0, 1.0), outcome="evaluators")
    assert (found.reliability, found.outcomes) == (None, {"unjudged": 1})
    assert found.coverage.traces == 1
    assert "Nothing judges these runs" in render_analysis(found)


def test_a_relation_that_judges_a_run_alone_names_the_run_that_violates_it(tmp_path: Path) -> None:
    found = analyzed(tmp_path, run(0, 1.0, tool="cancel"), relations=("oracle.tool_arguments", *CHEAP))
    rows = {row.relation: row for row in found.relations}
    assert (rows["oracle.tool_arguments"].violations, rows["oracle.tool_arguments"].runs) == (1, 1)
    assert rows["oracle.tool_arguments"].first[0].startswith("runs.json:1: ")
    assert rows[CHEAP[0]].takes_runs


def test_groups_have_wider_intervals_since_they_are_read_together(tmp_path: Path) -> None:
    runs = [run(task, float(k > task), trial=k) for task in range(4) for k in range(4)]
    groups = analyzed(tmp_path, *runs, by="trial").groups
    assert [(row.value, row.runs, row.scenarios) for row in groups] == [(str(k), 4, 4) for k in range(4)]
    assert {row.pass_rate.level for row in groups} == {1 - 0.05 / 4}
    assert all("jointly for 4 by Bonferroni" in row.pass_rate.method for row in groups)


def test_what_users_said_becomes_scenarios_without_secrets(tmp_path: Path) -> None:
    key = "sk-proj-" + "a1B2c3D4e5F6" * 4
    runs = [run(0, 1.0, tool="cancel", trial=k) for k in range(3)] + [run(0, 0.0, trial=3), run(1, 1.0)]
    runs[-1]["traj"][0]["content"] = f"My key is {key}"
    path = tmp_path / "scenarios" / "recorded.yaml"
    assert analyzed(tmp_path, *runs, scenarios_file=str(path)).scenarios_written == 2
    assert key not in path.read_text()
    project = {"version": 1, "agent": {"adapter": "python", "run": "agent:run"}}
    (tmp_path / "agentmut.yaml").write_text(json.dumps(project))
    first, second = load_project(tmp_path).scenarios
    assert (first.name, first.turns) == ("task_0", ("Cancel order W1042",))
    assert [(one.name, one.argument) for one in first.evaluators] == [("tool_called", "cancel")]
    assert (second.turns, second.evaluators[0].name) == (("My key is [redacted]",), "regex")
    with pytest.raises(UsageError, match="is there already"):
        analyze(tmp_path, AnalysisWish(relations=CHEAP, scenarios_file=str(path)))


def test_a_query_that_finds_nothing_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no imported run"):
        analyze(tmp_path)
    analyzed(tmp_path, run(0, 1.0))
    with pytest.raises(UsageError, match="holds 1, of the versions "):
        analyze(tmp_path, AnalysisWish(ImportQuery(versions=("nine",))))


@pytest.mark.skipif(not TAU.is_dir(), reason="the trajectories are not on this machine")
def test_tau_bench_has_its_published_figures_after_an_import(tmp_path: Path) -> None:
    import_traces([str(TAU / "gpt-4o-airline.json")], tmp_path)
    found = analyze(tmp_path, AnalysisWish(relations=CHEAP)).reliability
    assert found is not None
    shown = {each.k: round(each.pass_hat.estimate or 0, 3) for each in found.chances}
    assert shown == {1: 0.42, 2: 0.273, 3: 0.22, 4: 0.2}
    assert (round(found.pass_rate.low, 3), round(found.pass_rate.high, 3)) == (0.315, 0.525)
    assert found.design_effect == pytest.approx(2.23, abs=0.005)


def test_of_many_runs_a_page_is_in_memory_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both `analyze` and `watch` keep figures of the runs, and no run."""
    many = [run(n % 3, float(n % 2), trial=n) for n in range(420)]
    (tmp_path / "runs.json").write_text(json.dumps(many))
    import_traces(["runs.json"], tmp_path)
    live: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
    most = 0

    def counted(row: Any) -> Any:
        nonlocal most
        found = made(row)
        live[found.number] = found.trial
        most = max(most, len(live))
        return found

    made = imported._import
    monkeypatch.setattr(imported, "_import", counted)
    assert analyze(tmp_path, AnalysisWish(relations=CHEAP)).evidence.imported == 420
    assert watch_imports(tmp_path).watched == 370
    assert 100 <= most <= 201  # the page that is read next, beside the one that was read before


def test_a_relation_judges_the_same_runs_in_analyze_and_in_stored_relations(tmp_path: Path) -> None:
    """Records that describe no tools: the tools are those that were called, and no run is set aside."""
    runs = [run(0, 1.0, tool="cancel", trial=n) for n in range(4)] + [run(1, 1.0)]
    found = analyzed(tmp_path, *runs, relations=("oracle.tool_arguments",))
    (tmp_path / "agentmut.yaml").write_text("version: 1\nsuite: {traces: runs.json}\n")
    check_suite(tmp_path)
    report = check_relations(tmp_path, relations=["oracle.tool_arguments"], stored=True)
    counts = [(row.violations, row.pairs) for row in report.rows]
    assert counts == [(4, 4), (0, 0)]  # the order is W1042, and each call has W1024
    (row,) = found.relations
    assert (row.violations, row.runs) == (4, 4)
