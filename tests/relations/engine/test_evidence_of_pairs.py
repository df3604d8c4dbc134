"""Which follow-up runs are evidence, and of what."""

from collections import Counter

from agentmut.config import AgentConfig
from agentmut.engine.assessment.rules import Sprt
from agentmut.engine.relating.follow_ups import Agent, Planned, TrialRef
from agentmut.engine.relating.lane import Lane, Subject
from agentmut.engine.relating.material import Material, Ran, material_of
from agentmut.engine.trials import TrialResult
from agentmut.execution import Ending, Execution
from agentmut.facts.comparison import Comparison
from agentmut.files.guidance import RelationSettings
from agentmut.relation import SAME_AGAIN
from agentmut.relation_catalogue import ChosenRelation
from agentmut.stats.sprt import SprtDesign
from agentmut.trace import AgentTrace, Outcome
from tests.relations.engine.test_level_of_relations import ANSWERS, SCENARIO, Told, answered


def judged(*results: TrialResult) -> Lane:
    """A lane that has consumed these follow-up runs, one a pair."""
    runs = tuple(Ran(i, ANSWERS["usual"], True, "") for i in range(len(results)))
    chosen = ChosenRelation("oracle.told", None, Told(lambda one, other: True))
    material = Material(Comparison(()), runs, (), len(results))
    refs = [TrialRef("", "s", len(results) + i) for i in range(len(results))]
    planned = [Planned(run, SAME_AGAIN, (ref,)) for run, ref in zip(runs, refs, strict=True)]
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


def test_trouble_with_the_machinery_is_no_evidence() -> None:
    lane = judged(
        ended(Ending.INFRASTRUCTURE, Outcome.INFRASTRUCTURE),
        ended(Ending.REFUSED, Outcome.PRE_VALIDATION),
        answered("usual"),
    )
    assert lane.held == [True]
    assert lane.no_evidence == {"infrastructure: it broke": 1, "refused: it broke": 1}


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
