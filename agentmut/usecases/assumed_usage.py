"""The tokens that one run of an agent is taken to use where no stored run tells."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.nouns import AgentConfig, Scenario, Usage

CHARACTERS = 4
"""Characters of a token."""
ANSWER, CALL = 100, 50
"""Tokens of a model's answer to the user, and of its call of a tool."""
WORDS_IN_TOKENS = 4 / 3
"""Tokens of an English word."""
USED = 1 / 2
"""The part of the allowed words that an answer has, where the prompt limits them."""
LIMIT = re.compile(
    r"\b(?:under|below|within|at most|up to|no more than|not more than|fewer than|less than|maximum of|max\.?) "
    r"(\d{1,4}) words\b|\b(\d{1,4}) words (?:at most|or less|or fewer|maximum)\b",
    re.IGNORECASE,
)


class ModelCalls(NamedTuple):
    """The model calls of a run: those that answer, one for each turn, and those that call a tool."""

    answers: float
    calls: float


def model_calls(config: AgentConfig, scenarios: Sequence[Scenario]) -> ModelCalls:
    """Return a run's model calls: an answer for each turn, and as many calls of tools where the agent has tools."""
    turns = sum(len(scenario.turns) for scenario in scenarios) / len(scenarios)
    return ModelCalls(turns, turns if config.tools else 0.0)


def answer_tokens(prompt: str) -> int:
    """Return the tokens of an answer: 100, or half of what the prompt's lowest limit on words allows if less.

    >>> [answer_tokens(prompt) for prompt in ("Keep answers under 60 words.", "Be kind.", "120 words at most.")]
    [40, 100, 80]
    """
    limits = [int(before or after) for before, after in LIMIT.findall(prompt)]
    allowed = [round(USED * WORDS_IN_TOKENS * words) for words in limits if words]
    return min([ANSWER, *allowed])


def assumed_usage(config: AgentConfig, scenarios: Sequence[Scenario]) -> Usage:
    """Return the tokens of one run, estimated from the agent's texts: each model call reads them all."""
    tools = "".join(canonical_json(tool.model_dump(mode="json")) for tool in config.tools)
    asked = [len("".join(map(_text, each.turns))) for each in scenarios]
    system = config.system_text()
    characters = len(system) + len(tools) + sum(asked) / len(asked)
    answers, calls = model_calls(config, scenarios)
    return Usage(
        input_tokens=round((answers + calls) * characters / CHARACTERS),
        output_tokens=round(answers * answer_tokens(system) + calls * CALL),
    )


def _text(turn: JsonValue) -> str:
    return turn if isinstance(turn, str) else canonical_json(turn)
