"""The relation of a request sent twice, as an impatient user or a client that lost the answer sends it."""

from collections.abc import Iterable

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.nouns import (
    Action,
    AgentConfig,
    Check,
    Expectation,
    Family,
    FollowUp,
    FollowUpRun,
    Pair,
    Scenario,
    Source,
    Step,
    ToolSpec,
)
from agentmut.relations.base import call, check, run, source
from agentmut.relations.side_effects import changing_tools, done_more_often, doubled
from agentmut.seams import RelationExample


class Retry:
    """`composition.retry`: the last request sent a second time does nothing a second time.

    In the run in which the user repeats the last request, no call that changes something is made again: the same
    tool with the same arguments, or in the later turn with the same ids and numbers; where an agent does not tell in
    which turn it calls, no such call more than the source run has. Calls that failed may be repeated.
    Tools that change something are told by the verb of their name; `{tools: [NAME, ...]}` names them. A run without
    such a call says nothing.
    """

    id = "composition.retry"
    version = 2
    family = Family.COMPOSITION
    expectation = Expectation.PREDICATE
    why = "A request that is sent twice is carried out twice: two refunds, two bookings."

    def __init__(self, argument: JsonValue = None) -> None:
        self.tools: frozenset[str] = frozenset()
        if argument is not None:
            given = arguments.mapping(argument, ("tools",))
            self.tools = frozenset(arguments.texts(given["tools"], "names of tools that change something"))

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not apply: no tool changes anything, by the tools' names."""
        if self.tools:
            unknown = sorted(self.tools - {tool.own_name for tool in config.tools} - {*config.tool_names})
            return f"the agent has no tool {', '.join(unknown)}" if unknown else ""
        if not config.tools:
            return "the agent has no tools"
        if not changing_tools(config):
            return "no tool's name says that it changes something; name them: {tools: [...]}"
        return ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the same turns with the last one repeated, if the run did something that could be doubled."""
        tools, turns = self._tools(source.config), source.scenario.turns
        if not any(step.tool in tools for step in source.trace.tool_calls):
            return None
        return FollowUp(
            runs=(FollowUpRun(turns=(*turns, turns[-1])),), description="the last request sent twice"
        )

    def holds(self, pair: Pair) -> Check | None:
        """Return whether no action was done twice; None if no action was done."""
        tools = self._tools(pair.config)
        if not any(step.tool in tools for step in pair.trace.tool_calls):
            return None
        faults = [
            f"{step.tool} was called again with {_arguments_text(step.arguments)}"
            for step in _twice(pair, tools)
        ]
        return check(self.id, faults, "nothing was done twice")

    def examples(self) -> Iterable[RelationExample]:
        """Yield a refund that is given once, and a refund that is given twice."""
        asked = source("Refund A-1042.", answer=run("Done.", steps=[_REFUND]), config=_DESK)
        return (
            RelationExample(asked, (run("Done.", "It was refunded.", steps=[_REFUND]),), holds=True),
            RelationExample(asked, (run("Done.", "Done.", steps=[_REFUND, _AGAIN]),), holds=False),
        )

    def _tools(self, config: AgentConfig) -> frozenset[str]:
        if not self.tools:
            return changing_tools(config)
        # Steps have the agent's own names; the model may know the tool by another.
        return self.tools | {tool.own_name for tool in config.tools if tool.name in self.tools}


def _twice(pair: Pair, tools: frozenset[str]) -> tuple[Step, ...]:
    """Return the repeated calls; if no call has its turn, the calls beyond those of the source run."""
    calls = pair.trace.tool_calls
    again = doubled(calls, tools)
    asked = [step.turn for step in pair.trace.steps if step.action is Action.REASON]
    turns_are_known = not asked or any(asked)
    return again if again or turns_are_known else done_more_often(pair.source.tool_calls, calls, tools)


def _arguments_text(arguments: dict[str, JsonValue] | None) -> str:
    return ", ".join(f"{name}={value!r:.60}" for name, value in (arguments or {}).items()) or "no arguments"


_DESK = AgentConfig(prompt="Help.", tools=(ToolSpec(name="issue_refund", description="Refund an order."),))
_REFUND = call("issue_refund", order_id="A-1042", reason="broken")
_AGAIN = call("issue_refund", turn=1, order_id="A-1042", reason="it is broken")
