"""What all relations of order and wording have in common."""

import random

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.relation import SAME_AGAIN, Expectation, Pair
from agentmut.nouns.trace import AgentTrace
from agentmut.seams.plugins import load, names

ALL = [name for name in names("relations") if name.startswith(("permutation.", "perturbation."))]


def test_all_of_them_are_there() -> None:
    assert len(ALL) == 22


@pytest.mark.parametrize("name", ALL)
def test_examples_are_judged_as_they_say(name: str) -> None:
    relation = load("relations", name)(None)
    seen = set()
    for source, traces, holds in relation.examples():
        assert relation.lack(source.scenario, source.config) == ""
        follow = relation.follow_up(source._replace(rng=random.Random(1)))
        assert len(follow.runs) == len(traces)
        assert follow.description
        comparison = comparison_for(source.scenario)
        pair = Pair(source.scenario, source.config, source.trace, follow, tuple(traces), comparison)
        check = relation.holds(pair)
        assert check.passed is holds, check.reason
        assert check.evaluator == name
        seen.add(holds)
    assert seen == {True, False}


@pytest.mark.parametrize("name", ALL)
def test_invariants_judge_a_run_that_is_repeated_in_the_same_way(name: str) -> None:
    relation = load("relations", name)(None)
    if relation.expectation is not Expectation.INVARIANT:
        return
    source = next(iter(relation.examples())).source
    for other, same in (
        (source.trace, True),
        (AgentTrace(outputs=("It costs 77 euros, on 1 May 2031.",)), False),
    ):
        pair = Pair(
            source.scenario,
            source.config,
            source.trace,
            SAME_AGAIN,
            (other,),
            comparison_for(source.scenario),
        )
        assert relation.holds(pair).passed is same
