"""One relation over five scenarios: false alarms of correct agents, and how often a partial fault is found."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

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
from agentmut.relating.pooling import fixed_pairs, pooled
from agentmut.seams.relation_catalogue import ChosenRelation
from agentmut.stats.kill.rule import KillDesign, level_for
from agentmut.stats.tests.multiplicity import adjust
from agentmut.store.documents.relation_report import Counts
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SEED, SCENARIOS, SOURCES, ALPHA = 3, 5, 60, 0.05
HELD, VIOLATED = (Check(evaluator="oracle.odd", passed=passed, reason="") for passed in (True, False))
SCENARIO = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))
ANSWERS = {name: AgentTrace(outputs=(name,)) for name in ("usual", "odd")}
RESULTS = {
    name: TrialResult(
        outcome=Outcome.PASS, ending=Ending.ANSWERED, reason="", checks=(), witness=None, footprint=Footprint(),
        tools=Counter(), tokens=0, usd=0.0, unpriced=frozenset(), seconds=0.0, abandoned=False, trace=trace,
    )
    for name, trace in ANSWERS.items()
}  # fmt: skip


class Odd:
    """A relation that is violated where one answer of a pair is odd."""

    id: ClassVar[str] = "oracle.odd"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.ORACLE
    expectation: ClassVar[Expectation] = Expectation.INVARIANT
    why: ClassVar[str] = "an answer is odd"

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return nothing: it fits everywhere."""
        return ""

    def follow_up(self, source: Source) -> FollowUp:
        """Return the same request again."""
        return SAME_AGAIN

    def holds(self, pair: Pair) -> Check:
        """Return whether no answer of the pair is odd."""
        return VIOLATED if "odd" in (pair.source.text, pair.trace.text) else HELD

    def examples(self) -> tuple[()]:
        """Return none."""
        return ()


CHOSEN = ChosenRelation("oracle.odd", None, Odd())


def pairs_of(material: SourceMaterial) -> tuple[PlannedPair, ...]:
    """Return a pair for each source run."""
    planned = [
        PlannedPair(run, SAME_AGAIN, (TrialRef("", "s", SOURCES + i),))
        for i, run in enumerate(material.sources)
    ]
    return controls_first(planned, material)


def report(fault: float, odd: float, repeat: int, tables: Tables, alone: bool = False) -> tuple[bool, int]:
    """Return whether a report calls FAIL, and the pairs that the pooled test looked at.

    On each scenario the agent's own answers are odd with chance `odd`; a follow-up's is canned, and so odd, with chance
    `fault` besides. Of each scenario count the pairs that the pooled test looks at. `alone`: the verdicts of the
    scenarios on these pairs, without the pooled test.
    """
    rng = random.Random(f"{SEED} {repeat}")
    tests = SCENARIOS + (not alone)
    made = [_lane(rng, fault, odd, level_for(tests, ALPHA), tables) for _ in range(SCENARIOS)]
    lanes, identity = [lane for lane, _ in made], [counts for _, counts in made]
    judged = [
        lane.rule.judgement(lane.held[: fixed_pairs(lane)]) for lane in lanes if lane.rule and lane.held
    ]
    together = {} if alone else pooled(lanes, identity, ALPHA, 0.1)
    judged += [one.judgement for one in together.values()]
    failed = min(adjust([one.p_fail for one in judged], ALPHA).p_values) <= ALPHA if judged else False
    return failed, sum(one.counts.pairs for one in together.values())


def _lane(rng: random.Random, fault: float, odd: float, level: float, tables: Tables) -> tuple[Lane, Counts]:
    def answer(canned: float) -> str:
        return "odd" if rng.random() < odd or rng.random() < canned else "usual"

    runs = tuple(Ran(i, ANSWERS[answer(0.0)], True, "") for i in range(SOURCES))
    material = SourceMaterial(Comparison(()), runs, (), SOURCES)
    subject = Subject(CHOSEN, SCENARIO, Agent(AgentConfig()), material)
    planned, identity = pairs_of(material), subject.identity(1)
    table = tables.get(identity.violations, identity.pairs, KillDesign(level, 0.1, 0.2, SOURCES))
    lane = Lane(subject, planned, Counter(), SequentialComparison(table))
    found = {ref: RESULTS[answer(fault)] for pair in planned for ref in pair.trials}
    while lane.wants_another:
        lane.begin()
        lane.consume(found)
    return lane, identity


def section(*, thorough: bool) -> Section:
    """Return false alarms, and power with and without the pooled test."""
    reports = 400 if thorough else 40
    how = (
        f"Simulated (seed {SEED}): {reports} reports of one relation on {SCENARIOS} scenarios, {SOURCES} source runs "
        "each, by the rules of `agentmut relations`: the verdicts of the scenarios, the test of all together, and "
        f"Holm's correction over them at {ALPHA}. Each scenario gives the pairs after which it could pass."
    )
    return Section("Relations over scenarios", how, tuple(_figures(reports)))


def _figures(reports: int) -> Iterator[Figure]:
    tables = Tables(None)
    for odd in (0.0, 0.05, 0.2):
        rate, error = simulated_rate(report(0.0, odd, i, tables)[0] for i in range(reports))
        what = f"false alarms, the agent's own answers are odd in {odd:.0%}".replace("%", " %")
        yield Figure(what, rate, "at most .05", high=0.05, error=error)
    for odd, least in ((0.0, 0.9), (0.05, 0.9)):
        found = [report(0.3, odd, i, tables) for i in range(reports)]
        rate, error = simulated_rate(failed for failed, _ in found)
        what = f"found: a canned reply in 30 % of follow-ups, own answers odd in {100 * odd:g} %"
        yield Figure(what, rate, f"at least {least:g}", low=least, error=error)
        yield Figure(
            "  most pairs that the test of all looked at", max(n for _, n in found), "at most 60", high=60
        )
        alone, error = simulated_rate(report(0.3, odd, i, tables, alone=True)[0] for i in range(reports))
        yield Figure("  by the verdicts of the scenarios alone", alone, "", error=error)
