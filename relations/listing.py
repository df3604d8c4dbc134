"""Requests for a list: their usual beginnings, and the things that a run names."""

import re

from agentmut.language import identifiers
from agentmut.nouns import AgentConfig, AgentTrace, Scenario
from agentmut.relations.turns import Turn, turns_of

_LISTS = re.compile(r"\s*(?:please )?(?:which|what|list|show|find|name|give|tell)\b", re.I)
_CHOSEN = re.compile(
    r"\b(?:first|top|best|worst|cheapest|latest|newest|oldest|next|last|most|fewest|some|any|examples?|instance"
    r"|pages?|limit|random|recommend\w*|suggest\w*|one of|how many|how much|total|sum)\b",
    re.I,
)
_DENIED = re.compile(r"\b(?:not|no|none|without|except|excluded|excluding|left out)\b|n['’]t\b", re.I)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
CHOICE = "the agent or the user speaks of a choice, so that another thing may move up"


def list_request(scenario: Scenario, config: AgentConfig) -> Turn | None:
    """Return the only turn if it asks for a list; else None."""
    turns = turns_of(scenario, config) if len(scenario.turns) == 1 else ()
    return turns[0] if turns and _LISTS.match(turns[0].text) else None


def speaks_of_choice(*texts: str) -> bool:
    """Return whether a text names a choice, such as the first three: a thing that falls out lets another move up."""
    return any(_CHOSEN.search(text) for text in texts)


def things_of(text: str) -> frozenset[str]:
    """Return the identifiers that a text names."""
    return frozenset(found.value for found in identifiers(text))


def things_named(trace: AgentTrace) -> frozenset[str]:
    """Return the identifiers in the answers of a run."""
    return things_of(_answers(trace))


def things_affirmed(trace: AgentTrace) -> frozenset[str]:
    """Return the identifiers in sentences without a denial, so that excluded things do not count."""
    sentences = (one for one in _SENTENCE.split(_answers(trace)) if not _DENIED.search(one))
    return things_of("\n".join(sentences))


def _answers(trace: AgentTrace) -> str:
    return "\n".join(map(str, trace.outputs))
