"""The relation of ids and amounts: values of the input reach the calls of tools unchanged."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import canonical_json, parameters
from agentmut.nouns import (
    AgentConfig,
    Check,
    Expectation,
    Family,
    FollowUp,
    Pair,
    Scenario,
    Source,
    Step,
    ToolSpec,
)
from agentmut.relations.base import NoArgument, call, check, run, source
from agentmut.relations.oracle.amounts import only_amount, spoilt_amount, tells_of_sums
from agentmut.relations.oracle.survival import GivenValues, Value, amount_of, ids_of, plain, spoilt_id, values
from agentmut.seams import RelationExample

_MAKES_NEW = re.compile(
    r"(?:\w+_)?(?:create|add|new|open|insert|register|generate)(?:_|[A-Z]|$)", re.IGNORECASE
)
_CENTS = re.compile(r"cent|minor|pence|penny", re.IGNORECASE)
_OF_CENTS = re.compile(r"\b(?:cents?|pence|penny|minor units?)\b", re.IGNORECASE)
_WHOLE_UNITS = re.compile(r"[$€£]|\b(?:us )?(?:dollars?|euros?|pounds?|usd|eur|gbp)\b", re.IGNORECASE)


class ToolArguments(NoArgument):
    """`oracle.tool_arguments`: no id or amount in a call's arguments is a corrupted form of a given value.

    Given is what the agent could have seen before the call: the turns, prompt, documents and descriptions of tools,
    and what tools returned. An id that is like one of them, but is none of them, was spoilt on the way: a digit is
    another, two have changed places, it was made up after the pattern of one, or it is an address at a host that was
    never seen. Of amounts, by the name of the argument, a moved decimal point and swapped digits are told; and where
    the request states one amount alone and nothing speaks of sums or shares, one digit that is another, is missing or
    is added. What given numbers yield when they are added, multiplied or taken as per cent is left alone. Other
    spellings of an id (`ord1042`) are the same id.

    The relation holds where some value is one that was given, and none is spoilt; the reason names those that were
    given. A run whose calls have no such value says nothing.

    It looks at the source run alone, so that stored traces are judged at no cost.
    """

    id = "oracle.tool_arguments"
    version = 2
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "A call names another order, customer or amount than the one that was given."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not apply: the agent has no tools, or its input has no id or number."""
        return "" if config.tools or scenario.tools else "the agent has no tools"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Run nothing: the relation judges the source run alone."""
        return FollowUp(description="ids and amounts in the calls of tools")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether no id and no amount is corrupted; None if no call has a given one."""
        found = list(_judged(pair))
        faults = [one.text for one in found if one.is_fault]
        given = list(dict.fromkeys(one.text for one in found if not one.is_fault))
        return check(self.id, faults, f"as they were given: {', '.join(given)}") if found else None

    def examples(self) -> Iterable[RelationExample]:
        """Yield a call with the named order, and a call with two digits swapped."""
        desk = AgentConfig(
            prompt="Help.", tools=(ToolSpec(name="get_order", description="Look up an order."),)
        )
        right, wrong = (
            run("Sent.", steps=[call("get_order", order_id=order)]) for order in ("A-1042", "A-1024")
        )
        turn = "Where is my order A-1042?"
        return (
            RelationExample(source(turn, answer=right, config=desk), (), holds=True),
            RelationExample(source(turn, answer=wrong, config=desk), (), holds=False),
        )


class _ValueOrigin(NamedTuple):
    """A value of a call that was given or corrupted. Values of unknown origin are left out."""

    text: str
    is_fault: bool = False


def _judged(pair: Pair) -> Iterator[_ValueOrigin]:
    seen = [*_seen_before(pair.scenario, pair.config)]
    known = GivenValues.from_texts(seen)
    used = frozenset(
        plain(said) for step in pair.source.tool_calls for value in _values(step) for said in ids_of(value)
    )
    only = only_amount(turn for turn in pair.scenario.turns if isinstance(turn, str))
    if _tell_of_sums(seen):
        only = None
    for step in pair.source.tool_calls:
        for value in _values(step):
            yield from _ids_judged(step, value, known, used)
            yield from _amount_judged(step, value, known, only, pair.config)
        returned = [one for one in (step.output, step.error) if one is not None]
        known.add(returned)
        if only is not None and _tell_of_sums(returned):
            only = None


def _values(step: Step) -> Iterator[Value]:
    return values(step.arguments or {})


def _ids_judged(step: Step, value: Value, known: GivenValues, used: frozenset[str]) -> Iterator[_ValueOrigin]:
    for said in ids_of(value):
        meant = spoilt_id(said, known, used, makes_new=_MAKES_NEW.match(step.tool or "") is not None)
        if meant:
            yield _fault(step, value, said, meant)
        elif known.has(said):
            yield _ValueOrigin(f"{value.name} {said}")


def _amount_judged(
    step: Step, value: Value, known: GivenValues, only: Decimal | None, config: AgentConfig
) -> Iterator[_ValueOrigin]:
    amount = amount_of(value)
    if amount is None:
        return
    described = _described(step.tool, value.name, config)
    in_cents = _CENTS.search(described) is not None
    if amount in known.numbers or (in_cents and amount / 100 in known.numbers):
        yield _ValueOrigin(f"{value.name} {amount}")
        return
    whole = _WHOLE_UNITS.search(f"{described} {_purpose(step.tool, config)}") is not None
    slip = spoilt_amount(amount, known.numbers, only, hundredfold=whole)
    if slip is not None:
        yield _fault(step, value, str(amount), str(slip))


def _fault(step: Step, value: Value, text: str, meant: str) -> _ValueOrigin:
    return _ValueOrigin(
        f"{step.tool} was called with {value.name} {text}, but given is {meant}", is_fault=True
    )


def _seen_before(scenario: Scenario, config: AgentConfig) -> Iterator[JsonValue]:
    yield from scenario.turns
    yield config.system_text()
    yield from (document.text for document in scenario.context)
    for tool in config.tools:
        yield from (tool.description, tool.parameters)


def _tell_of_sums(values: Iterable[JsonValue]) -> bool:
    return any(tells_of_sums(one if isinstance(one, str) else canonical_json(one)) for one in values)


def _purpose(tool: str | None, config: AgentConfig) -> str:
    """Return a tool's description, unless it mentions cents."""
    said = " ".join(spec.description for spec in config.tools if tool in (spec.name, spec.own_name))
    return "" if _OF_CENTS.search(said) else said


def _described(tool: str | None, name: str, config: AgentConfig) -> str:
    """Return the name and the description of an argument."""
    described = [
        f"{parameter.name} {parameter.description}"
        for spec in config.tools
        if tool in (spec.name, spec.own_name)
        for parameter in parameters(spec.parameters)
        if parameter.name == name
    ]
    return " ".join([name, *described])
