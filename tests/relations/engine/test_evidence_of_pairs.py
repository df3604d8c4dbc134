"""Which follow-up runs are evidence, and of what."""

import sys
import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.assessment.rules import SequentialComparison, Sprt
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import TrialResult
from agentmut.judging.building import build_all
from agentmut.judging.facts.comparison import Comparison, comparison_for
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.relation import SAME_AGAIN, Expectation, Pair
from agentmut.nouns.scenario import EvaluatorSpec
from agentmut.nouns.trace import AgentTrace, Outcome
from agentmut.project.guidance import RelationSettings
from agentmut.project.schema import BudgetSettings
from agentmut.relating.follow_ups import Agent, PlannedPair, TrialRef, _mutant
from agentmut.relating.lane import UNCALIBRATED, Lane, Subject
from agentmut.relating.material import Ran, SourceMaterial, material_of
from agentmut.relating.repeats import from_sources
from agentmut.relating.state import Relating, RelationsPlan
from agentmut.relating.summary import _without_pairs, judgement_of
from agentmut.relations.oracle.no_change import NoChange
from agentmut.seams.relation_catalogue import ChosenRelation
from agentmut.stats.kill.rule import KillDesign
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.relation_report import Finding
from agentmut.trial.suite_config import SuiteConfig
from agentmut.trial.witness.witness import Detector
from tests.campaign.test_new_order_arrives import CONFIG, RETURNS, SHIPPING, reversed_part, sent
from tests.relations.engine.test_level_of_relations import ANSWERS, SCENARIO, Told, answered


class Predicate(Told):
    """One without an identity."""

    expectation = Expectation.PREDICATE


def judged(*results: TrialResult, kind: type[Told] = Told) -> Lane:
    """A lane that has consumed these follow-up runs, one a pair."""
    runs = tuple(Ran(i, ANSWERS["usual"], True, "") for i in range(len(results)))
    chosen = ChosenRelation("oracle.told", None, kind(lambda one, other: True))
    material = SourceMaterial(Comparison(()), runs, (), len(results))
    refs = [TrialRef("", "s", len(results) + i) for i in range(len(results))]
    planned = [PlannedPair(run, SAME_AGAIN, (ref,)) for run, ref in zip(runs, refs, strict=True)]
    rule = Sprt(SprtDesign(0.9, 0.1, 0.05, 0.1, 50), 50)
    lane = Lane(Subject(chosen, SCENARIO, Agent(AgentConfig()), material), planned, Counter(), rule)
    while lane.wants_another:
        lane.begin()
        lane.consume(dict(zip(refs, results, strict=True)))
    return lane


def ended(ending: Ending, outcome: Outcome) -> TrialResult:
    return answered("usual")._replace(ending=ending, outcome=outcome, reason="it broke", trace=AgentTrace())


def test_a_timeout_or_an_exception_after_the_change_is_a_violation() -> None:
    lane = judged(
        answered("usual"), ended(Ending.TIMEOUT, Outcome.TIMEOUT), ended(Ending.RAISED, Outcome.FAIL)
    )
    assert lane.held == [True, False, False]
    assert lane.example and lane.example.check.reason.endswith("none after it: timeout: it broke")


def test_a_failure_after_the_change_says_nothing_of_a_relation_without_an_identity() -> None:
    lane = judged(answered("usual"), ended(Ending.RAISED, Outcome.FAIL), kind=Predicate)
    assert lane.held == [True] and lane.failed == 1
    (reason,) = lane.no_evidence
    assert reason.startswith(
        "the agent failed after the change, and this relation does not judge failures: raised"
    )


def test_a_pass_takes_enough_runs_of_the_unchanged_agent(decision_tables: Path) -> None:
    lane = judged(*[answered("usual")] * 30)
    tables = Tables(decision_tables)
    found = []
    for controls in (5, 6):
        table = tables.get(0, controls, KillDesign(0.05, 0.1, 0.3, 30))
        lane.rule = SequentialComparison(table)
        judgement = judgement_of(lane)
        found.append(judgement and judgement.verdict)
    assert found == [Verdict.INCONCLUSIVE, Verdict.PASS]


def test_stored_runs_of_the_same_request_are_follow_ups_that_change_nothing() -> None:
    runs = tuple(Ran(i, ANSWERS["usual"], True, "") for i in range(20, 29))
    lane = judged(*[answered("usual")] * 9)
    material = lane.subject.material._replace(runs=runs)
    planned = [PlannedPair(run, SAME_AGAIN, (TrialRef("", "s", 30),)) for run in material.sources]
    lane.subject, lane.planned = lane.subject._replace(material=material), planned
    split = from_sources(lane)
    control = {run.repeat for first, others in split.subject.material.controls() for run in (first, *others)}
    own = [(pair.source.repeat, pair.trials[0].repeat) for pair in split.planned]
    assert control == {20, 21, 26, 27} and own == [(22, 23), (24, 25)]
    changed = lane.planned[0]._replace(trials=(TrialRef("", "s~0", 0),))
    lane.planned = (changed,)
    assert from_sources(lane) is lane


def test_of_a_mutant_all_stored_runs_make_pairs_and_no_control() -> None:
    lane = judged(*[answered("usual")] * 8)
    lane.subject = lane.subject._replace(agent=Agent(AgentConfig(), _mutant("m", ())))
    planned = [
        PlannedPair(run, SAME_AGAIN, (TrialRef("m", "s", 9),)) for run in lane.subject.material.sources
    ]
    lane.planned = planned
    pairs = [(pair.source.repeat, *pair.trials) for pair in from_sources(lane).planned]
    assert pairs == [(n, TrialRef("m", "s", n + 1)) for n in (0, 2, 4, 6)]


def test_a_pair_that_too_few_known_runs_leave_open_says_so_and_has_a_source() -> None:
    lane = waiting()
    relation: Any = NoChange()
    chosen = ChosenRelation("oracle.no_change", None, relation)
    unknown = lane.subject.material._replace(comparison=comparison_for(SCENARIO))
    lane = from_sources(replace(lane, subject=lane.subject._replace(chosen=chosen, material=unknown)))
    carried_out(work(lane))
    assert lane.held == [] and list(lane.silent) == [UNCALIBRATED]
    assert _without_pairs(lane) == (Finding.NOT_APPLICABLE, UNCALIBRATED)


def test_what_an_agent_picks_for_other_turns_shows_no_new_order() -> None:
    detector = Detector(reversed_part("context"), CONFIG).informed([sent(RETURNS)])
    picked = answered("usual")._replace(witness=detector.witness(sent(SHIPPING)), footprint=sent(SHIPPING))
    assert picked.witness is not None
    kept = {}
    for scenario in ("s", "s~other"):
        relating = work()
        relating.detectors, relating.reworded = {"m": detector}, frozenset({"s~other"})
        kept[scenario] = relating._seen_again(TrialRef("m", scenario, 0), picked).witness
    assert kept == {"s": picked.witness, "s~other": None}


@pytest.mark.parametrize(
    ("holds", "said"),
    [
        (lambda pair: sys.exit(0), r"holds called sys\.exit\(0\)"),
        (lambda pair: "yes", r"holds returned 'yes' \(str\); expected a Check"),
        (lambda pair: 1 / 0, "holds raised ZeroDivisionError"),
        (lambda pair: build_all((EvaluatorSpec(name="contians"),)), "holds: .*contians"),
    ],
)
def test_a_judgement_that_is_none_is_an_error_that_names_the_relation(holds: Any, said: str) -> None:
    subject = judged(answered("usual")).subject
    subject.chosen.relation.holds = holds  # type: ignore[method-assign]
    with pytest.raises(RunError, match=f"relation oracle.told on scenario s, run 0: {said}"):
        subject.judged(subject.material.runs[0], SAME_AGAIN, (ANSWERS["usual"],))


def test_trouble_with_the_machinery_is_no_evidence() -> None:
    lane = judged(
        ended(Ending.INFRASTRUCTURE, Outcome.INFRASTRUCTURE),
        ended(Ending.REFUSED, Outcome.PRE_VALIDATION),
        answered("usual"),
    )
    assert lane.held == [True]
    assert lane.no_evidence == {"infrastructure: it broke": 1, "refused: it broke": 1}


def work(*lanes: Lane) -> Relating:
    """The lanes as work, without what their trials are run with."""
    given: dict[str, Any] = {"budget": BudgetSettings(usd=1)}
    plan = RelationsPlan.model_construct(**given)
    return Relating(plan, SuiteConfig(AgentConfig(), (SCENARIO,)), {}, (), {}, lanes)


def carried_out(relating: Relating) -> list[weakref.ref[AgentTrace]]:
    """What each trial did, one trial after the other."""
    traces = []
    while launch := relating.launch():
        trace = AgentTrace(outputs=("usual",))
        traces.append(weakref.ref(trace))
        relating.record(launch, answered("usual")._replace(trace=trace))
        del trace
    return traces


def waiting(holds: Any = lambda one, other: True, pairs: int = 4) -> Lane:
    """A lane before its first pair; all such lanes ask for the same trials."""
    lane = judged(*[answered("usual")] * pairs)
    chosen = ChosenRelation("oracle.told", None, Told(holds))
    return replace(
        lane, subject=lane.subject._replace(chosen=chosen), launched=0, consumed=0, held=[], ended=False
    )


def test_a_trace_is_kept_no_longer_than_a_lane_will_look_at_it() -> None:
    relating = work(waiting(pairs=4), waiting(pairs=4))
    traces = carried_out(relating)
    assert relating.decided and relating.pairs == 8 and len(traces) == 4
    assert not any(trace() for trace in traces)


def test_an_error_of_a_relation_ends_the_check_whatever_its_kind() -> None:
    def holds(pair: Pair) -> Any:
        return build_all((EvaluatorSpec(name="contians"),))

    lane = waiting()
    lane.subject.chosen.relation.holds = holds  # type: ignore[method-assign]
    relating = work(lane)
    carried_out(relating)
    assert "relation oracle.told on scenario s" in relating.problem and not relating.refused
    assert relating.decided


def test_a_missing_price_refuses_a_budget_in_money_but_hides_no_earlier_problem() -> None:
    relating, other = work(waiting()), work(waiting())
    other.problem = "an earlier one"
    for one in (relating, other):
        one.note(answered("usual")._replace(unpriced=frozenset({"house-model"})), one.plan.budget)
    assert "budget.usd needs a price for model house-model" in relating.problem and relating.refused
    assert (other.problem, other.refused) == ("an earlier one", False)


def test_a_third_of_the_source_runs_fits_the_comparison_and_makes_no_pair() -> None:
    executions = [(i, Execution(ending=Ending.ANSWERED, trace=ANSWERS["usual"])) for i in range(30)]
    executions[20] = (20, Execution(ending=Ending.INFRASTRUCTURE))
    material = material_of(SCENARIO, executions, RelationSettings())
    assert {run.repeat for run in material.runs} == set(range(9, 30)) - {20}  # a third of 29 runs is 9
    pairs = [(first.repeat, *(run.repeat for run in others)) for first, others in material.controls()]
    assert pairs[0] == (9, 10) and len(pairs) == 10
    assert len({repeat for pair in pairs for repeat in pair}) == 20
    assert [run.repeat for run in material.sources][:3] == [9, 11, 13]
    assert material.first_free == 30
