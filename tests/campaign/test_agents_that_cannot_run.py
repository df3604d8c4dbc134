"""An agent that cannot run is an error with its cause and no verdict, and its runs are not reused."""

from collections.abc import Callable
from typing import Any

import pytest

from agentmut._base.errors import BudgetError, RunError
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.project import Project
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import VerdictReport
from agentmut.usecases.campaigns import measure
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline
from tests.campaign.assessed import FLAWLESS, executed, row, verdicts

pytestmark = pytest.mark.whole


@pytest.mark.parametrize("verb", [check_suite, lambda project: save_baseline(project, trials=10), measure])
def test_an_agent_that_cannot_run_is_an_error_that_names_the_cause(projects: Any, verb: Any) -> None:
    keyless = (
        "\nimport os\nasync def run(config, input, inner=run):"
        "\n    os.environ['SHOP_KEY']\n    return await inner(config, input)\n"
    )
    with pytest.raises(
        RunError, match=r"^the agent cannot run: KeyError: 'SHOP_KEY' \(.*\)\. Each of \d+ trials raised"
    ):
        verb(projects.write(("alpha", "beta"), extra=keyless))


def test_a_key_that_was_missing_makes_the_next_run_another_one(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = "\nimport os\nasync def run(config, input, inner=run):\n    os.environ['SHOP_KEY']\n"
    keyless += "    return await inner(config, input)\n"
    project = projects.write(("alpha", "beta"), extra=FLAWLESS + keyless)
    with pytest.raises(RunError, match="these runs are not reused"):
        check_suite(project)
    monkeypatch.setenv("SHOP_KEY", "1")
    healed = check_suite(project)
    assert (healed.verdict, healed.cost.reused) == (Verdict.PASS, 0)


def test_runs_without_a_key_are_not_reused_where_a_budget_ended_them_early(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = "\nimport os\nasync def run(config, input, inner=run):\n    os.environ['SHOP_KEY']\n"
    keyless += "    return await inner(config, input)\n"
    project = projects.write(("alpha",), extra=FLAWLESS + keyless, budget={"trials": 2})
    assert check_suite(project).status == "budget"
    monkeypatch.setenv("SHOP_KEY", "1")
    assert check_suite(project).cost.reused == 0


KEYED = """
import os
async def run(config, input, inner=run):
    os.environ['SHOP_KEY']
    return await inner(config, input)
"""


def by_test(project: Project, trials: int) -> VerdictReport:
    return check_suite(project, method="fixed", trials=trials)


def by_saving(project: Project, trials: int) -> Any:
    return save_baseline(project, trials=trials)


def by_comparison(project: Project, trials: int) -> VerdictReport:
    return compare_with_baseline(project, method="fixed", trials=trials)


@pytest.mark.parametrize("verb", [by_test, by_saving, by_comparison])
def test_a_key_that_has_gone_since_is_told_though_stored_trials_ran(
    projects: Any, monkeypatch: pytest.MonkeyPatch, verb: Callable[[Project, int], Any]
) -> None:
    monkeypatch.setenv("SHOP_KEY", "1")
    project = projects.write(("alpha", "beta"), extra=FLAWLESS + KEYED)
    save_baseline(project, trials=10)
    verb(project, 10)
    before = executed(projects)
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(
        RunError, match=r"KeyError: 'SHOP_KEY' \(.*\)\. Each of \d\d new .* a key or a server"
    ):
        verb(project, 30)
    assert executed(projects) > before
    monkeypatch.setenv("SHOP_KEY", "1")
    healed = verb(project, 30)
    rows = healed.scenarios.values() if verb is by_saving else healed.scenarios
    assert [(row.passes, row.trials) for row in rows] == [(30, 30)] * 2


def test_a_campaign_tells_a_key_that_has_gone_since_and_forgets_its_trials(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "1")
    project = projects.write(("alpha", "beta"), idle=0, extra=FLAWLESS + KEYED)
    by_test(project, 10)
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(RunError, match=r"^the agent cannot run: KeyError.*Stored trials of this agent ran"):
        measure(project)
    monkeypatch.setenv("SHOP_KEY", "1")
    assert by_test(project, 40).cost.reused == 20


def test_a_campaign_on_a_stored_baseline_goes_on_once_the_key_is_back(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "1")
    project = projects.write(("alpha", "beta"), idle=0, extra=FLAWLESS + KEYED)
    by_test(project, 40)
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(RunError, match=r"control failed.*KeyError: 'SHOP_KEY'"):
        measure(project)
    monkeypatch.setenv("SHOP_KEY", "1")
    assert measure(project).status == "finished"


def test_what_stored_trials_raised_as_well_is_a_failure_of_the_agent(projects: Any) -> None:
    """One that raises now and then before it does anything, among the last trials as among the first."""
    flaky = "\nCALLS = []\nasync def run(config, input, inner=run):\n    CALLS.append(input)\n"
    flaky += (
        "    if len(CALLS) in (4, 13):\n        raise KeyError('x')\n    return await inner(config, input)\n"
    )
    project = projects.write(("alpha",), extra=FLAWLESS + flaky)
    by_test(project, 12)
    assert row(by_test(project, 13), "alpha").passes == 11
    assert by_test(project, 13).cost.reused == 13


def test_a_new_scenario_that_the_agent_raises_in_fails_beside_stored_ones(projects: Any) -> None:
    broken = (
        "\nasync def run(config, input, inner=run):\n    if 'beta' in input:\n        raise KeyError('x')\n"
    )
    words = ("alpha", "beta")
    project = projects.write(words, extra=FLAWLESS + broken + "    return await inner(config, input)\n")
    check_suite(project, scenarios=["alpha"])
    assert verdicts(check_suite(project)) == {"alpha": "PASS", "beta": "FAIL"}


def test_a_budget_that_comes_before_it_can_be_told_says_what_is_not_reused(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limited(trials: int) -> Project:
        project: Project = projects.write(("alpha",), extra=FLAWLESS + KEYED, budget={"trials": trials})
        return project

    monkeypatch.setenv("SHOP_KEY", "1")
    kept = check_suite(limited(5))
    monkeypatch.delenv("SHOP_KEY")
    lost = check_suite(limited(3))
    with pytest.raises(BudgetError, match="raised before they did anything are not reused"):
        save_baseline(limited(2))
    monkeypatch.setenv("SHOP_KEY", "1")
    assert (kept.status, lost.status, check_suite(limited(40)).cost.reused) == ("budget", "budget", 5)
    said = [" ".join(render_verdicts(report).split()) for report in (kept, lost)]
    assert "again: finished trials are reused)" in said[0]
    assert "again: runs that raised before they did anything are not reused)" in said[1]


def test_an_agent_that_raises_in_one_scenario_only_fails_there(projects: Any) -> None:
    broken = (
        "\nasync def run(config, input, inner=run):\n    if 'beta' in input:\n        raise KeyError('x')\n"
    )
    report = check_suite(
        projects.write(("alpha", "beta"), extra=FLAWLESS + broken + "    return await inner(config, input)\n")
    )
    assert verdicts(report) == {"alpha": "PASS", "beta": "FAIL"}


def test_a_run_has_begun_once_a_model_answered_a_tool_was_called_or_a_request_was_read() -> None:
    raised = Execution(ending=Ending.RAISED, reason="KeyError: 'x'")
    refused, answered, called = (
        AgentTrace(steps=(step,))
        for step in (
            Step(action=Action.REASON, error="no key"),
            Step(action=Action.REASON),
            Step(action=Action.CALL_TOOL, error="broken"),
        )
    )
    assert raised.never_began == raised.model_copy(update={"trace": refused}).never_began == "KeyError"
    for begun in (
        {"trace": answered},
        {"trace": called},
        {"footprint": Footprint(requests=(RequestShape(text="hello"),))},
        {"footprint": Footprint(lost=True)},
        {"ending": Ending.TIMEOUT},
    ):
        assert raised.model_copy(update=begun).never_began == ""
