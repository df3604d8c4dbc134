"""A correct agent is flagged at most alpha of the time, although its runs are in both kinds of pairs."""

import random
from collections import Counter
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import ClassVar

import pytest

from agentmut.assessment.rules import SequentialComparison
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import TrialResult
from agentmut.judging.facts.comparison import Comparison
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.relation import SAME_AGAIN, Expectation, Family, FollowUp, Pair, Source
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace, Check, Outcome
from agentmut.relating.follow_ups import Agent, PlannedPair, TrialRef, controls_first
from agentmut.relating.lane import Lane, Subject
from agentmut.relating.material import Ran, SourceMaterial
from agentmut.seams.relation_catalogue import ChosenRelation
from agentmut.stats.kill.rule import KillDesign
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.relation_report import Counts

ALPHA, REPETITIONS, SOURCES = 0.05, 300, 40
HELD, VIOLATED = (Check(evaluator="oracle.told", passed=passed, reason="") for passed in (True, False))
SCENARIO = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))
ANSWERS = {name: AgentTrace(outputs=(name,)) for name in ("usual", "other", "odd", "failed")}
Judge = Callable[[str, str], bool]


class Told:
    """A relation that a function of both answers decides."""

    id: ClassVar[str] = "oracle.told"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.ORACLE
    expectation: ClassVar[Expectation] = Expectation.INVARIANT
    why: ClassVar[str] = "it is told"

    def __init__(self, holds: Judge) -> None:
        self._holds = holds

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        return ""

    def follow_up(self, source: Source) -> FollowUp:
        return SAME_AGAIN

    def holds(self, pair: Pair) -> Check:
        return HELD if all(self._holds(pair.source.text, trace.text) for trace in pair.traces) else VIOLATED

    def examples(self) -> tuple[()]:
        return ()


def answered(text: str) -> TrialResult:
    return TrialResult(
        outcome=Outcome.PASS, ending=Ending.ANSWERED, reason="", checks=(), witness=None, footprint=Footprint(),
        tools=Counter(), tokens=0, usd=0.0, unpriced=frozenset(), seconds=0.0, abandoned=False, trace=ANSWERS[text],
    )  # fmt: skip


RESULTS = {text: answered(text) for text in ANSWERS}
RESULTS["failed"] = RESULTS["failed"]._replace(ending=Ending.RAISED, outcome=Outcome.FAIL)


def verdict(
    judge: Judge, rng: random.Random, rates: tuple[float, ...], again: int, tables: Tables
) -> Verdict:
    """One report on one relation: the same agent gives the source runs and the follow-up runs."""
    runs = tuple(
        Ran(i, ANSWERS[text], text != "failed", "raised")
        for i, text in enumerate(rng.choices(list(ANSWERS), rates, k=SOURCES))
    )
    subject = Subject(
        ChosenRelation("oracle.told", None, Told(judge)),
        SCENARIO,
        Agent(AgentConfig()),
        SourceMaterial(Comparison(()), runs, (), SOURCES),
    )
    planned = pairs_of(subject.material, again)
    identity = subject.identity(again)
    table = tables.get(identity.violations, identity.pairs, KillDesign(ALPHA, 0.1, 0.2, SOURCES))
    lane = Lane(subject, planned, Counter(), SequentialComparison(table))
    refs = [ref for pair in planned for ref in pair.trials]
    told = rng.choices(list(ANSWERS), rates, k=len(refs))
    found = {ref: RESULTS[text] for ref, text in zip(refs, told, strict=True)}
    while lane.wants_another:
        lane.begin()
        lane.consume(found)
    assert lane.rule is not None
    return lane.rule.judgement(lane.held).verdict


def pairs_of(material: SourceMaterial, again: int) -> tuple[PlannedPair, ...]:
    """A pair for each source, whose follow-up has so many runs."""
    follow_up = FollowUp(runs=SAME_AGAIN.runs * again, description="so many runs")
    planned = [
        PlannedPair(run, follow_up, tuple(TrialRef("", "s", SOURCES + again * i + j) for j in range(again)))
        for i, run in enumerate(material.sources)
    ]
    return controls_first(planned, material)


@pytest.mark.parametrize(
    ("judge", "rates", "again"),
    [
        (lambda one, other: one == other, (0.8, 0.15, 0.05), 1),
        (lambda one, other: not (one == "usual" and other == "odd"), (0.7, 0.1, 0.2), 1),
        (lambda one, other: other != "odd", (0.8, 0.1, 0.1), 1),
        (lambda one, other: True, (0.9, 0.0, 0.0, 0.1), 4),
        (lambda one, other: one == other, (0.9, 0.05, 0.0, 0.05), 2),
    ],
    ids=[
        "both sides alike", "the sides told apart", "the follow-up alone",
        "four runs, each may fail", "two runs, each may fail or differ",
    ],
)  # fmt: skip
def test_an_unchanged_agent_fails_at_most_alpha_of_the_time(
    judge: Judge, rates: tuple[float, ...], again: int, decision_tables: Path
) -> None:
    rng, tables = random.Random(6), Tables(decision_tables)
    rates = (*rates, *[0.0] * (len(ANSWERS) - len(rates)))
    fails = sum(verdict(judge, rng, rates, again, tables) is Verdict.FAIL for _ in range(REPETITIONS))
    assert fails / REPETITIONS <= ALPHA + 2.6 * sqrt(ALPHA * (1 - ALPHA) / REPETITIONS)


def test_a_pair_whose_source_has_no_answer_is_no_control() -> None:
    """Two of four runs failed: one pair starts from a failure and is left out, one ends in it and is violated."""
    runs = (
        Ran(0, ANSWERS["usual"], True, ""),
        Ran(1, AgentTrace(), False, "raised: oops"),
        Ran(2, AgentTrace(), False, "raised: oops"),
        Ran(3, ANSWERS["usual"], True, ""),
    )
    material = SourceMaterial(Comparison(()), runs, (), 4)
    chosen = ChosenRelation("oracle.told", None, Told(lambda one, other: True))
    subject = Subject(chosen, SCENARIO, Agent(AgentConfig()), material)
    assert subject.identity() == Counts(violations=1, pairs=1)


def test_the_control_of_a_follow_up_of_several_runs_has_as_many() -> None:
    """Groups of three: the second has a run that differs, and the eighth run is left over."""
    told = ["usual", "usual", "usual", "usual", "other", "usual", "other", "usual"]
    runs = tuple(Ran(i, ANSWERS[text], True, "") for i, text in enumerate(told))
    material = SourceMaterial(Comparison(()), runs, (), 8)
    chosen = ChosenRelation("oracle.told", None, Told(lambda one, other: one == other))
    subject = Subject(chosen, SCENARIO, Agent(AgentConfig()), material)
    assert subject.identity(2) == Counts(violations=1, pairs=2)
    first = [planned.source.repeat for planned in pairs_of(material, 2)]
    assert first == [0, 6, 3, 2, 4, 1, 5, 7]  # the sources of the groups come first
