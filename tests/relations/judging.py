"""Judging a pair of runs by a relation."""

from typing import Any

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.relation import SAME_AGAIN, FollowUp, Pair
from agentmut.nouns.trace import AgentTrace, Check


def judged(relation: Any, start: Any, *traces: AgentTrace, again: bool = False) -> bool | None:
    follow_up = SAME_AGAIN if again else relation.follow_up(start)
    comparison = comparison_for(start.scenario)
    assert isinstance(follow_up, FollowUp)
    found = relation.holds(Pair(start.scenario, start.config, start.trace, follow_up, traces, comparison))
    assert found is None or isinstance(found, Check)
    return found.passed if found else None
