"""Answers and calls in the form of a schema: filled with known values, and complete without them."""

import json
from collections.abc import Mapping
from typing import Any

from agentmut.simulator.mind.arguments import Slot, fill, is_plain_text, known_values
from agentmut.simulator.mind.fitting import Hint, fitted
from agentmut.simulator.mind.language import topics
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.schema_nodes import Schema, properties, resolved
from agentmut.simulator.mind.toolbox import Offer, offer_of

_ANSWERING = topics("final answer response result output")
_HALF = 0.5
"""Share of the words of a yes-or-no question's name that the user has to use for a yes."""


def json_answer(mind: Mind, schema: Any, answer: str) -> Any:
    """Return an answer that keeps a schema; the first text that nothing else is known of is the answer itself."""
    asked = offer_of("answer", "", json.dumps(schema))
    told = _parsed(answer)
    given = told if isinstance(told, dict) else dict.fromkeys(properties(resolved(schema, schema)))
    return fitted(schema, given or None, _hint(mind, asked, answer))


def complete_arguments(
    mind: Mind, offer: Offer, arguments: Mapping[str, Any], answer: str = ""
) -> dict[str, Any]:
    """Return the arguments of a call in the form of the tool's schema; found values stay."""
    whole = fitted(offer.parameters, dict(arguments), _hint(mind, offer, answer))
    return whole if isinstance(whole, dict) else dict(arguments)


def demanded_arguments(mind: Mind, offer: Offer, answer: str) -> dict[str, Any]:
    """Return the arguments of a call that only the request's tool choice asks for.

    A tool that takes the answer gets it as its first text; any other gets what the user has said.
    """
    last = mind.situation.messages[-1] if mind.situation.messages else ""
    found = (
        {} if takes_answer(offer) else fill(offer, last, mind.situation, mind.dice, mind.profile).arguments
    )
    return complete_arguments(mind, offer, found, answer)


def takes_answer(offer: Offer) -> bool:
    """Return whether a tool is one that frameworks add to receive a structured answer."""
    return bool(offer.name_topics & _ANSWERING)


def _hint(mind: Mind, asked: Offer, answer: str) -> Hint:
    """Return a function that finds a value by its name: a fact, the user's words, and once the answer."""
    untold = [answer] if answer else []

    def found(name: str, node: Schema) -> Any:
        about = topics(name.replace("_", " "))
        facts = (fact.value for fact in mind.situation.facts if about and about <= fact.topics)
        if (fact := next(facts, None)) is not None:
            return fact
        slot = Slot(
            name, node, topics(f"{name.replace('_', ' ')} {node.get('description', '')}"), asked, True
        )
        if node.get("type") == "boolean":
            return _is_about(mind, name)
        if is_plain_text(slot):
            return untold.pop() if untold else None
        if node.get("type") == "object" or properties(node):
            return None  # its values are asked for one by one
        return next(known_values(slot, mind.situation), None)

    return found


def _is_about(mind: Mind, name: str) -> bool:
    """Return whether the user's last words are about what a yes-or-no question is named after."""
    about = topics(name.replace("_", " "))
    asked = topics(mind.situation.messages[-1]) if mind.situation.messages else frozenset()
    return bool(about) and len(about & asked) >= _HALF * len(about)


def _parsed(answer: str) -> Any:
    try:
        return json.loads(answer) if answer.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
