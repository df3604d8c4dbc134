"""Runs with thousands of facts are compared in time that is linear in their number."""

from typing import cast

import pytest

from agentmut.judging.facts.comparison import Comparison, comparison_for
from agentmut.language import stability
from agentmut.nouns import AgentTrace, EvaluatorSpec, Extractor, Fact, Scenario
from agentmut.relations.base import run, source
from tests.counted_calls import counted

SCENARIO = source("Where are my orders?").scenario
SHAPES = {
    "json": "/order/{} = {}",
    "ids": "W{1}{0:05}",
    "numbers": "{1}{0:05} EUR",
    "dates": "{0:04}-03-0{1}",
}


class Written:
    """Facts that are the answers of a run, so that no text is read."""

    def __init__(self, kind: str) -> None:
        self.name = kind

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the answers as facts."""
        return frozenset([Fact(self.name, str(said)) for said in trace.outputs])


def answer(kind: str, size: int, said: str) -> AgentTrace:
    """A run with so many facts of a kind."""
    return run(*[SHAPES[kind].format(1000 + i, said) for i in range(size)])


def comparison(kind: str, sources: list[AgentTrace]) -> Comparison:
    """Compare by these facts; where there are sources, by what they have in common."""
    reader = Written(kind)
    runs = [reader.facts(SCENARIO, one) for one in sources]
    readers = (cast(Extractor, reader),)
    return Comparison(readers, stability(runs, [kind]) if runs else None, readers)


@pytest.mark.parametrize("same", [{}, {"01000 EUR": "02000 EUR"}], ids=["same notation", "another notation"])
@pytest.mark.parametrize("sources", [0, 5])
@pytest.mark.parametrize("kind", SHAPES)
def test_the_difference_of_many_facts(kind: str, sources: int, same: dict[str, str]) -> None:
    def calls(size: int) -> int:
        left, right = answer(kind, size, "1"), answer(kind, size, "2")
        with counted() as count:
            assert comparison(kind, [left] * sources).differences(SCENARIO, left, right, same)
        return count.calls

    assert calls(400) / calls(100) == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize("kind", SHAPES)
def test_contradictions_of_many_facts(kind: str) -> None:
    def calls(size: int) -> int:
        left, right = answer(kind, size, "1"), answer(kind, size, "2")
        with counted() as count:
            assert comparison(kind, [left] * 5).contradictions(SCENARIO, left, right)
        return count.calls

    assert calls(400) / calls(100) == pytest.approx(4, rel=0.15)


def test_pairs_of_facts_that_a_source_shows_both_are_of_two_things() -> None:
    both, one, other = (run(f"You have {days}.") for days in ("30 days or 14 days", "30 days", "14 days"))
    apart = comparison_for(SCENARIO, [one] * 5)
    together = comparison_for(SCENARIO, [one] * 4 + [both])
    assert apart.contradictions(SCENARIO, one, other)
    assert together.contradictions(SCENARIO, one, other) == ()
    usual = together.usual
    assert usual is not None
    assert not usual.are_together(
        frozenset({Fact("numbers", "30 day")}), frozenset({Fact("numbers", "15 day")})
    )


def test_a_number_in_another_notation_may_be_rounded_by_a_hundredth() -> None:
    comparison = comparison_for(SCENARIO, (), [EvaluatorSpec(name="numbers")])

    def differs(said: str) -> bool:
        left, right = run("It weighs 100 kg."), run(f"It weighs {said}.")
        return bool(comparison.differences(SCENARIO, left, right, {"100 kg": "220 lb"}))

    found = [differs(said) for said in ("217.7 lb", "217.8 lb", "222.2 lb", "222.3 lb", "220 km")]
    assert found == [True, False, False, True, True]
