"""Follow-up runs with other turns are trials of further scenarios, whose names are free."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentmut.nouns import EvaluatorSpec, Scenario
from agentmut.relating.follow_ups import SIGN, FollowUps
from tests.counted_calls import counted


def scenario(name: str) -> Scenario:
    """A scenario with one turn."""
    return Scenario(name=name, turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="hi"),))


def follow_ups(scenarios: list[Scenario]) -> FollowUps:
    """Follow-ups of a project with these scenarios, which nothing is run for."""
    return FollowUps(cast(Any, SimpleNamespace(project=SimpleNamespace(scenarios=tuple(scenarios)))))


def test_equal_turns_share_a_scenario_and_other_turns_have_one_each() -> None:
    own = scenario("greeting")
    further = follow_ups([own])
    names = [further._scenario(own, turns, "") for turns in (("HI",), ("HI",), ("hi!",), ("hi",), None)]
    assert names[0] == names[1] != names[2]
    assert names[3] == names[4] == "greeting"
    assert list(further.scenarios) == [names[0], names[2]]


def test_a_name_of_the_project_is_not_free() -> None:
    own = scenario("greeting")
    wanted = follow_ups([own])._scenario(own, ("HI",), "")
    assert wanted.startswith(f"greeting{SIGN}")
    taken = scenario(wanted)
    assert follow_ups([own, taken])._scenario(own, ("HI",), "") == wanted + SIGN


def test_a_free_name_takes_as_long_however_many_scenarios_there_are() -> None:
    def calls(size: int) -> int:
        scenarios = [scenario(f"s{i}") for i in range(size)]
        with counted() as count:
            further = follow_ups(scenarios)
            for one in scenarios:
                further._scenario(one, ("HI",), "")
        assert len(further.scenarios) == size
        return count.calls

    assert calls(200) / calls(50) == pytest.approx(4, rel=0.1)
