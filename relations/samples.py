"""Pairs of runs for the examples of relations."""

from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from agentmut.config import AgentConfig
from agentmut.protocols import RelationExample
from agentmut.relation import Source
from agentmut.scenario import EvaluatorSpec, Scenario
from agentmut.trace import Action, AgentTrace, Step


def answer(text: str, *calls: tuple[str, dict[str, JsonValue]]) -> AgentTrace:
    """A run for an example: some tool calls, and one answer."""
    steps = [Step(action=Action.CALL_TOOL, tool=name, arguments=given) for name, given in calls]
    respond = Step(action=Action.RESPOND, output=text)
    return AgentTrace(steps=(*steps, respond), outputs=(text,))


def example(
    asked: str | Sequence[str],
    before: AgentTrace,
    after: AgentTrace | Sequence[AgentTrace],
    holds: bool,
    config: AgentConfig | None = None,
    evaluators: tuple[EvaluatorSpec, ...] = (EvaluatorSpec(name="regex", argument="."),),
) -> RelationExample:
    """A pair for documentation and tests, from a scenario that asks this."""
    turns = (asked,) if isinstance(asked, str) else tuple(asked)
    scenario = Scenario(name="example", turns=turns, evaluators=evaluators)
    source = Source(scenario, config or AgentConfig(prompt="Help the customer."), before, Random(1))
    return RelationExample(source, (after,) if isinstance(after, AgentTrace) else tuple(after), holds)
