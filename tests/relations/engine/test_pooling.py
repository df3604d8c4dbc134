"""A relation over all its scenarios: a fault that shows in few follow-ups of each is found by all of them together."""

from collections import Counter
from dataclasses import replace

import pytest

from agentmut.assessment.rules import SequentialComparison, Sprt
from agentmut.campaign.preparation.tables import Tables
from agentmut.judging.facts.comparison import Comparison
from agentmut.nouns.config import AgentConfig
from agentmut.relating.follow_ups import Agent
from agentmut.relating.lane import Lane, Subject
from agentmut.relating.material import Ran, SourceMaterial
from agentmut.relating.pooling import fixed_pairs, pooled, several_scenarios
from agentmut.stats.kill.rule import KillDesign
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.relation_report import Counts
from benchmarks.calibration.pooled import ANSWERS, CHOSEN, SCENARIO, pairs_of, report

TABLES = Tables(None)


def lane(held: str, identity: Counts | None = None, ended: bool = False) -> Lane:
    """A lane with pairs that hold (`1`) or do not (`0`)."""
    material = SourceMaterial(
        Comparison(()), tuple(Ran(i, ANSWERS["usual"], True, "") for i in range(60)), (), 60
    )
    subject = Subject(CHOSEN, SCENARIO, Agent(AgentConfig()), material)
    rule: SequentialComparison | Sprt = Sprt(SprtDesign(0.9, 0.2, 0.01, 0.1, 40), 40)
    if identity is not None:
        table = TABLES.get(identity.violations, identity.pairs, KillDesign(0.01, 0.1, 0.2, 40))
        rule = SequentialComparison(table)
    made = Lane(subject, pairs_of(material), Counter(), rule)
    return replace(made, held=[one == "1" for one in held], ended=ended)


OWN = Counts(violations=0, pairs=20)


def test_three_violations_on_each_of_five_scenarios_fail_together() -> None:
    lanes = [lane("011011011111111", OWN) for _ in range(5)]
    (one,) = pooled(lanes, [OWN] * 5, 0.05, 0.1).values()
    wanted = fixed_pairs(lanes[0])
    assert (one.counts.scenarios, one.counts.pairs) == (5, 5 * wanted)
    assert one.counts.violations == 15
    assert one.counts.identity == Counts(violations=0, pairs=100)
    assert one.judgement.verdict is Verdict.FAIL
    assert one.counts.p_value < 1e-4


def test_pairs_beyond_a_number_that_was_fixed_do_not_count() -> None:
    early = fixed_pairs(lane("", OWN))
    held = "1" * early + "0" * 8
    (one,) = pooled([lane(held, OWN)] * 2, [OWN] * 2, 0.05, 0.1).values()
    assert (one.counts.violations, one.judgement.verdict) == (0, Verdict.PASS)


def test_a_lane_that_ended_by_its_violations_does_not_count() -> None:
    """It has a FAIL of its own; its last pair is a violation since it ended there."""
    ended = lane("0000", OWN, ended=True)
    assert pooled([ended, lane("1" * 12, OWN)], [OWN] * 2, 0.05, 0.1) == {}


def test_a_predicate_is_held_to_the_tolerance_over_all_scenarios() -> None:
    bad, good = ([lane(held)] * 4 for held in ("01" * 20, "1" * 40))
    (failed,), (passed,) = (pooled(lanes, [None] * 4, 0.05, 0.1).values() for lanes in (bad, good))
    assert failed.judgement.verdict is Verdict.FAIL
    assert passed.judgement.verdict is Verdict.PASS
    assert failed.counts.identity is None


def test_one_scenario_is_nothing_to_pool() -> None:
    assert pooled([lane("1" * 12, OWN)], [OWN], 0.05, 0.1) == {}
    assert several_scenarios(["a", "b", "a", "a"]) == 1


@pytest.mark.parametrize(("odd", "least"), [(0.0, 9), (0.05, 7)])
def test_a_canned_reply_in_three_of_ten_follow_ups_is_found_within_sixty_pairs(
    odd: float, least: int
) -> None:
    """The section `pooled` of the calibration measures it at length."""
    found = [report(0.3, odd, i, TABLES) for i in range(10)]
    assert sum(failed for failed, _ in found) >= least
    assert max(pairs for _, pairs in found) <= 60


def test_correct_agents_are_seldom_flagged() -> None:
    assert sum(report(0.0, 0.1, 100 + i, TABLES)[0] for i in range(15)) <= 3
