"""Variations of a suite's inputs: recombined sentences, figures at their limits, relations."""

import random
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from agentmut._base import AgentmutError
from agentmut.insight.generate.user_wording import normalised, sentences
from agentmut.language import FactKind, StatedFact, facts
from agentmut.nouns import AgentConfig, AgentTrace, Scenario, Source
from agentmut.seams import Catalogue, Group, Relation

Turns = tuple[JsonValue, ...]
ISO_DATES = ("2024-02-29", "2025-12-31", "2026-01-01", "1999-12-31")
TIMES = ("00:00", "12:00", "23:59")


def substitutions(text: str) -> Iterator[str]:
    """Yield the text with one figure, identifier or date at a time replaced by one at a limit.

    >>> next(substitutions("Pay 20 euros."))
    'Pay 0 euros.'
    """
    for fact in facts(text):
        before = text[fact.value.start : fact.value.end]
        for value in _extremes(fact, before):
            if value != before:
                yield f"{text[: fact.value.start]}{value}{text[fact.value.end :]}"


def recombinations(texts: Sequence[str]) -> Iterator[str]:
    """Yield each other text with every new sentence of this text before it and after it."""
    parts = [sentences(text) for text in texts]
    for i, own in enumerate(parts):
        for j, others in enumerate(parts):
            if i == j:
                continue
            held = {normalised(sentence) for sentence in own}
            for sentence in others:
                if normalised(sentence) not in held:
                    yield " ".join([*own, sentence])
                    yield " ".join([sentence, *own])


def transformations(
    scenario: Scenario, config: AgentConfig, trace: AgentTrace, relations: Iterable[Relation], seed: int
) -> Iterator[tuple[Turns, str]]:
    """Yield the turns that registered relations derive from a scenario's turns, with a description of the change.

    Follow-ups that change the agent, or depend on a run, are none. A relation that cannot be asked is passed over:
    `agentmut relations` reports its error.
    """
    for relation in relations:
        rng = random.Random(f"{seed}/{relation.id}/{scenario.name}")
        try:
            lacking = relation.lack(scenario, config)
            follow_up = None if lacking else relation.follow_up(Source(scenario, config, trace, rng))
        except Exception:  # anybody's code
            continue
        for run in follow_up.runs if follow_up else ():
            if run.turns and not run.edits and run.turns != scenario.turns:
                yield run.turns, f"{relation.id}: {follow_up.description if follow_up else ''}"


def registered_relations() -> tuple[Relation, ...]:
    """Return the installed relations that need no argument, by name."""
    catalogue = Catalogue.from_group(Group.RELATIONS)
    return tuple(found for name in sorted(catalogue.names) if (found := _without_argument(catalogue, name)))


def _without_argument(catalogue: Catalogue, name: str) -> Relation | None:
    try:
        relation: Relation = catalogue.load(name)(None)
    except (ValueError, AgentmutError):
        return None
    return relation


def _extremes(fact: StatedFact, value: str) -> tuple[str, ...]:
    if fact.kind is FactKind.TIME:
        return TIMES
    if fact.kind is FactKind.IDENTIFIER:
        return _identifiers(value)
    if fact.kind is FactKind.DATE:
        return ISO_DATES if value.count("-") == 2 else _years_or_days(value)
    return _amounts(value)


def _years_or_days(value: str) -> tuple[str, ...]:
    if not value.isdigit():
        return ()
    return ("1900", str(int(value) - 1), str(int(value) + 1)) if len(value) == 4 else ("1", "28")


def _amounts(value: str) -> tuple[str, ...]:
    digits = value.replace(",", "")
    if not digits.isdigit():
        return ("0", "1") if digits.replace(".", "", 1).isdigit() else ()
    n = int(digits)
    return tuple(str(x) for x in (0, 1, n - 1, n + 1, 10 * n) if x >= 0)


def _identifiers(value: str) -> tuple[str, ...]:
    """Yield the neighbour of an identifier, and an unused identifier: all nines."""
    digits = [i for i, character in enumerate(value) if character.isdigit()]
    last = digits[-1]
    neighbour = f"{value[:last]}{(int(value[last]) + 1) % 10}{value[last + 1 :]}"
    return neighbour, "".join("9" if i in set(digits) else c for i, c in enumerate(value))
