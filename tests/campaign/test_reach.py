"""Which scenarios reach a mutated part, from baselines written by hand."""

from collections import Counter

import pytest

from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.reach import ReachingScenarios, reached
from agentmut.campaign.trials import TrialResult
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach, Status
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Outcome
from agentmut.trial.suite_config import SuiteConfig
from agentmut.trial.witness.witness import Detector

CONFIG = AgentConfig(tools=(ToolSpec(name="look_up"), ToolSpec(name="pay")), orchestration={"max_steps": 5})
FAULT = Edit(pointer="/tools/0/fault", before=None, after={"kind": "stale"})
FLOW = Edit(pointer="/orchestration/max_steps", before=5, after=1)
TALK = Edit(pointer="/history", before="kept", after="dropped")


def a_mutant(reach: Reach, edit: Edit, subject: str = "") -> Mutant:
    return Mutant(
        id="m", operator="tool.x", version=1, operator_class=OperatorClass.TOOL, intent=Intent.DEGRADE,
        reach=reach, subject=subject, description="", edits=(edit,),
    )  # fmt: skip


def trial(calls: str = "", nodes: tuple[str, ...] = (), outcome: Outcome = Outcome.PASS) -> TrialResult:
    return TrialResult(
        outcome=outcome, ending=Ending.ANSWERED, reason="", checks=(), witness=None,
        footprint=Footprint(reads=("prompt",), nodes=nodes), tools=Counter(calls.split()), tokens=0, usd=None,
        unpriced=frozenset(), seconds=0.1, abandoned=False,
    )  # fmt: skip


def reach_of(
    mutant: Mutant, baselines: dict[str, list[TrialResult]], turns: int = 1, workers: int = 0
) -> ReachingScenarios:
    """With scenarios of one turn, but the last, which has `turns`."""
    last = list(baselines)[-1]
    scenarios = {
        name: Scenario(
            name=name, turns=("Hi",) * (turns if name == last else 1), evaluators=(EvaluatorSpec(name="x"),)
        )
        for name in baselines
    }
    recorded = {name: ScenarioBaseline(wanted=len(trials)) for name, trials in baselines.items()}
    for name, trials in baselines.items():
        for number, result in enumerate(trials):
            recorded[name].record(result, number)
    config = CONFIG
    suite = SuiteConfig(config, scenarios.values(), workers=workers)
    return reached(mutant, Detector(mutant, suite.full), suite, recorded, scenarios)


def test_a_tool_is_repeated_where_some_run_calls_it_twice() -> None:
    mutant = a_mutant(Reach.REPEATED, FAULT, "look_up")
    found = reach_of(
        mutant,
        {
            "never": [trial("pay pay")] * 4,
            "once": [trial("look_up")] * 4,
            "half": [trial("look_up pay look_up"), trial("look_up")] * 2,
            "always": [trial("look_up look_up look_up")] * 4,
        },
    )
    assert found.scenarios == {"half": 0.5, "always": 1.0}


def test_a_tool_that_is_called_once_at_most_has_no_repetition_to_be_stale() -> None:
    found = reach_of(a_mutant(Reach.REPEATED, FAULT, "look_up"), {"s": [trial("look_up pay")] * 3})
    assert tuple(found)[:3] == (
        {},
        Status.NO_COVERAGE,
        "no scenario makes the agent call look_up more than once",
    )


def test_one_call_is_enough_where_any_result_goes_wrong() -> None:
    found = reach_of(a_mutant(Reach.CALLED, FAULT, "look_up"), {"a": [trial("look_up"), trial("pay")]})
    assert found.scenarios == {"a": 0.5}


def test_trials_that_are_no_evidence_say_nothing_of_what_is_reached() -> None:
    trouble = trial("look_up look_up", ("n",), Outcome.INFRASTRUCTURE)
    for mutant in (a_mutant(Reach.REPEATED, FAULT, "look_up"), a_mutant(Reach.RAN, FLOW, "n")):
        assert reach_of(mutant, {"s": [trial("look_up", ("other",)), trouble]}).scenarios == {}


@pytest.mark.parametrize(
    ("subject", "scenarios"), [("review", {"b": 0.5}), ("", {"a": 1.0, "b": 1.0}), ("nowhere", {})]
)
def test_a_node_is_reached_by_the_share_of_runs_that_enter_it(
    subject: str, scenarios: dict[str, float]
) -> None:
    plan, both = trial(nodes=("plan",)), trial(nodes=("plan", "review"))
    found = reach_of(a_mutant(Reach.RAN, FLOW, subject), {"a": [plan, plan], "b": [plan, both]})
    assert found.scenarios == scenarios


def test_a_node_that_nothing_enters_is_not_covered() -> None:
    found = reach_of(a_mutant(Reach.RAN, FLOW, "review"), {"a": [trial(nodes=("plan",))]})
    assert tuple(found)[:3] == ({}, Status.NO_COVERAGE, "no scenario makes the agent enter review")


def test_a_lost_history_shows_in_scenarios_with_several_turns() -> None:
    mutant = a_mutant(Reach.CONVERSED, TALK)
    assert reach_of(mutant, {"short": [trial()], "long": [trial()]}, turns=3).scenarios == {"long": 1.0}


SILENT = trial()._replace(footprint=Footprint())


@pytest.mark.parametrize(
    ("trials", "workers", "tried"),
    [
        ([trial(), *[SILENT] * 7], 1, {"b"}),
        ([*[trial()] * 6, *[SILENT] * 2], 6, {"b"}),  # each worker asked once
        ([*[trial()] * 6, *[SILENT] * 2], 1, {"a", "b"}),
        ([*[trial()] * 7, SILENT], 8, {"a", "b"}),  # may be chance
        ([trial(), *[SILENT] * 7], 0, {"a", "b"}),  # nothing is held from run to run
    ],
)
def test_a_test_that_holds_its_answer_reaches_no_mutant(
    trials: list[TrialResult], workers: int, tried: set[str]
) -> None:
    mutant = a_mutant(Reach.SENT, Edit(pointer="/prompt", before="", after="x"))
    found = reach_of(mutant, {"a": trials, "b": [trial()] * 8}, workers=workers)
    assert set(found.scenarios) == tried


def test_a_mutant_that_only_such_tests_could_show_is_not_covered_and_it_says_why() -> None:
    mutant = a_mutant(Reach.SENT, Edit(pointer="/prompt", before="", after="x"))
    found = reach_of(mutant, {"a": [trial(), *[SILENT] * 7]}, workers=1)
    assert (found.scenarios, found.otherwise) == ({}, Status.NO_COVERAGE)
    assert found.reason.endswith("a took an answer that a session fixture or a cache holds")


def test_a_document_that_is_added_behind_the_last_one_is_not_looked_for_among_them() -> None:
    """The config has no document, and files of a workspace are documents: the place 0 is one behind the last."""
    added = Edit(pointer="/context/0", before=None, after={"name": "old", "text": "Old rules."})
    found = reach_of(a_mutant(Reach.CARRIED, added), {"a": [trial()]})
    assert not found.scenarios
