"""`relation`: makes a plugin from a function that returns the follow-up of a source run."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    Check,
    EvaluatorSpec,
    Expectation,
    Family,
    FollowUp,
    Pair,
    Scenario,
    Source,
    Step,
)
from agentmut.seams.protocols.relation import Relation, RelationExample

Following = Callable[[Source], FollowUp | None]
Holding = Callable[[Pair], bool | Check | None]
Lacking = Callable[[Scenario, AgentConfig], str]


def relation(
    relation_id: str,
    *,
    why: str,
    examples: Iterable[RelationExample],
    expectation: Expectation = Expectation.INVARIANT,
    holds: Holding | None = None,
    lack: Lacking | None = None,
    version: int = 1,
) -> Callable[[Following], type[Relation]]:
    """Turn a pure function source -> follow-up into a relation, ready for `relations.own` or an entry point.

    `relation_id` is `family.name`, and `why` one line on what a violation means. The function gives the follow-up, or
    None where a run gives it nothing to speak about. An invariant holds where the follow-up shows the same facts as the
    source run, unless `holds` says otherwise; any other expectation needs `holds`: whether a pair stands in the
    relation, as true, false or a `Check` with a reason, or None where it says nothing. `lack` says in a phrase why a
    scenario does not fit, empty where it does (`plain_text` for one that changes text).
    `agentmut.testing.check_relation` checks the examples and more. Raises `ValueError` for an id without a known
    family, and where `holds` is missing.
    """
    attributes: dict[str, Any] = {
        "id": relation_id,
        "version": version,
        "family": _family_of(relation_id),
        "expectation": expectation,
        "why": why,
    }
    if holds is None and expectation is not Expectation.INVARIANT:
        raise ValueError(
            f"{relation_id}: only an invariant can be judged by comparison; give `holds`, a function of the pair"
        )
    parts = _RelationParts(relation_id, tuple(examples), holds, lack)

    def define(follow: Following) -> type[Relation]:
        origin = {"__module__": follow.__module__, "__doc__": follow.__doc__}
        made: type[Any] = type(follow.__name__, (_base_of(follow, parts),), attributes | origin)
        return made

    return define


class _RelationParts(NamedTuple):
    """What the decorator was given for the methods of its relation."""

    id: str
    examples: tuple[RelationExample, ...]
    holds: Holding | None
    lack: Lacking | None


def _base_of(follow: Following, parts: _RelationParts) -> type[Any]:
    """Return a class with the methods of a relation whose follow-ups `follow` makes."""

    class OfFunction:
        def __init__(self, argument: JsonValue = None) -> None:
            if argument is not None:
                raise ValueError(f"takes no argument, got {argument!r}")

        def lack(self, scenario: Scenario, config: AgentConfig) -> str:
            """Return the decorator's `lack` for this scenario."""
            return parts.lack(scenario, config) if parts.lack else ""

        def follow_up(self, source: Source) -> FollowUp | None:
            """Return the result of the decorated function."""
            return follow(source)

        def holds(self, pair: Pair) -> Check | None:
            """Return the decorator's `holds`, or else whether the runs show the same facts."""
            if parts.holds is None:
                return same_facts(parts.id, pair)
            return _check(parts.id, parts.holds(pair))

        def examples(self) -> Iterable[RelationExample]:
            """Return the examples that the relation was defined with."""
            return parts.examples

    return OfFunction


def plain_text(scenario: Scenario, config: AgentConfig) -> str:
    """Return why a scenario does not fit relations that change the user's words: its turns must be text."""
    is_text = all(isinstance(turn, str) and turn.strip() for turn in scenario.turns)
    return "" if is_text else "its turns are no plain text"


def same_facts(relation_id: str, pair: Pair) -> Check:
    """Return whether each follow-up run shows the facts of the source run: how invariants are judged.

    `expected["same"]` of the follow-up, a mapping, says which values of the source stand for which of the follow-up.
    """
    said = pair.follow_up.expected.get("same")
    same = {str(value): str(other) for value, other in said.items()} if isinstance(said, dict) else {}
    differences = [
        difference
        for trace in pair.traces
        for difference in pair.comparison.differences(pair.scenario, pair.source, trace, same)
    ]
    found = "; ".join(dict.fromkeys(differences)) or "the runs show the same facts"
    reason = f"{pair.follow_up.description}: {found}"
    return Check(evaluator=relation_id, passed=not differences, reason=reason)


def answer(text: str, *calls: tuple[str, dict[str, JsonValue]]) -> AgentTrace:
    """Return a run for an example: some tool calls, and one answer."""
    steps = [Step(action=Action.CALL_TOOL, tool=name, arguments=given) for name, given in calls]
    respond = Step(action=Action.RESPOND, output=text)
    return AgentTrace(steps=(*steps, respond), outputs=(text,))


def example(
    asked: str | Sequence[str],
    before: AgentTrace | str,
    after: AgentTrace | str | Sequence[AgentTrace],
    holds: bool,
    config: AgentConfig | None = None,
    evaluators: tuple[EvaluatorSpec, ...] = (EvaluatorSpec(name="regex", argument="."),),
) -> RelationExample:
    """Return a pair for documentation and tests: what was asked, the source run, and the follow-up runs or run.

    A run may be given by its answer alone. `holds` says whether the relation holds of the pair.
    """
    turns = (asked,) if isinstance(asked, str) else tuple(asked)
    scenario = Scenario(name="example", turns=turns, evaluators=evaluators)
    source = Source(scenario, config or AgentConfig(prompt="Help the customer."), _run(before), Random(1))
    return RelationExample(source, tuple(map(_run, _several(after))), holds)


def _several(runs: AgentTrace | str | Sequence[AgentTrace]) -> Sequence[AgentTrace | str]:
    return [runs] if isinstance(runs, AgentTrace | str) else runs


def _run(run: AgentTrace | str) -> AgentTrace:
    return answer(run) if isinstance(run, str) else run


def _check(relation_id: str, verdict: bool | Check | None) -> Check | None:
    if isinstance(verdict, bool):
        return Check(
            evaluator=relation_id, passed=verdict, reason="it holds" if verdict else "it does not hold"
        )
    return verdict


def _family_of(relation_id: str) -> Family:
    name, _, rest = relation_id.partition(".")
    found = next((family for family in Family if family.value == name), None)
    if found is None or not rest or "." in rest:
        raise ValueError(
            f"{relation_id!r} is no id of a relation: it is family.name, and the family is one of "
            f"{', '.join(Family)}. Families of your own are not possible: take the nearest"
        )
    return found
