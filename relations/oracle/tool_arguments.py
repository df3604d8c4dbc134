"""Ids and amounts of the input survive into the calls of tools."""

from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from agentmut.config import AgentConfig
from agentmut.protocols import RelationExample
from agentmut.relation import Expectation, Family, FollowUp, Pair, Source
from agentmut.relations.base import NoArgument, call, check, run, source
from agentmut.relations.oracle.survival import Given, amount_of, ids_of, spoilt_amount, spoilt_id, values
from agentmut.scenario import Scenario
from agentmut.schemas import parameters
from agentmut.tools import ToolSpec
from agentmut.trace import Check, Step


class ToolArguments(NoArgument):
    """`oracle.tool_arguments`: an id or an amount in a call's arguments is not a spoilt one of those given.

    Given is what the agent could have seen before the call: the turns, prompt, documents and descriptions of tools,
    and what tools returned. An id that is like one of them, but is none of them, was spoilt on the way: a digit is
    another, two have changed places, or it was made up after the pattern of one. Of amounts, by the name of the
    argument, only a moved decimal point and swapped digits are told, as others may have been worked out. Other
    spellings of an id (`ord1042`) are the same id. A run whose calls have neither says nothing.

    It looks at the source run alone, so that stored traces are judged at no cost.
    """

    id = "oracle.tool_arguments"
    version = 1
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "A call names another order, customer or amount than the one that was given."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """That there is no tool to be called, or that nothing given has an id or a number."""
        return "" if config.tools or scenario.tools else "the agent has no tools"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Nothing is run."""
        return FollowUp(description="ids and amounts in the calls of tools")

    def holds(self, pair: Pair) -> Check | None:
        """Whether no id and no amount is spoilt; None where no call has one, or none was given."""
        found = list(_judged(pair))
        if not found:
            return None
        return check(
            self.id, [fault for fault in found if fault], "ids and amounts are those that were given"
        )

    def examples(self) -> Iterable[RelationExample]:
        """The order that was named, and one with two digits swapped."""
        desk = AgentConfig(
            prompt="Help.", tools=(ToolSpec(name="get_order", description="Look up an order."),)
        )
        right, wrong = (
            run("Sent.", steps=[call("get_order", order_id=order)]) for order in ("A-1042", "A-1024")
        )
        turn = "Where is my order A-1042?"
        return (
            RelationExample(source(turn, said=right, config=desk), (), holds=True),
            RelationExample(source(turn, said=wrong, config=desk), (), holds=False),
        )


def _judged(pair: Pair) -> Iterator[str]:
    """A fault, or nothing, for each id and amount of the calls that something given can be compared with."""
    seen = list(_seen_before(pair.scenario, pair.config))
    known = Given.of(seen)
    for step in pair.source.tool_calls:
        yield from _faults(step, known, pair.config)
        returned = [one for one in (step.output, step.error) if one is not None]
        if returned:
            seen += returned
            known = Given.of(seen)


def _faults(step: Step, given: Given, config: AgentConfig) -> Iterator[str]:
    for value in values(step.arguments or {}):
        for said in ids_of(value) if given.ids else ():
            meant = spoilt_id(said, given)
            yield f"{step.tool} was called with {value.name} {said}, but given is {meant}" if meant else ""
        amount = amount_of(value) if given.numbers else None
        if amount is not None:
            slip = spoilt_amount(amount, given, _counts_cents(step.tool, value.name, config))
            yield (
                f"{step.tool} was called with {value.name} {amount}, but given is {slip}"
                if slip is not None
                else ""
            )


def _seen_before(scenario: Scenario, config: AgentConfig) -> Iterator[JsonValue]:
    yield from scenario.turns
    yield config.system_text()
    yield from (document.text for document in scenario.context)
    for tool in config.tools:
        yield from (tool.description, tool.parameters)


def _counts_cents(tool: str | None, name: str, config: AgentConfig) -> bool:
    """Whether an argument is in the hundredth part of a currency, by its name or description."""
    described = [
        f"{parameter.name} {parameter.description}"
        for spec in config.tools
        if tool in (spec.name, spec.own_name)
        for parameter in parameters(spec.parameters)
        if parameter.name == name
    ]
    said = " ".join([name, *described]).lower()
    return any(word in said for word in ("cent", "minor", "pence", "penny"))
