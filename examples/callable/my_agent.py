"""The smallest agent that can be measured: no model, three rules of a prompt, and now and then a slip."""

import random
import re
from collections.abc import Callable

from agentmut import AgentConfig

SLIP = 0.03  # chance of overlooking a rule


def add_up(message: str) -> str:
    return f"The sum is {sum(map(int, re.findall(r'[0-9]+', message)))}."


RULES: dict[str, Callable[[str], str]] = {
    "greet": lambda message: "Hello!",
    "add up": add_up,
    "thank": lambda message: "Thank you for asking.",
}


async def run(config: AgentConfig, input: str) -> str:
    """Do what the prompt says, as far as it is understood."""
    asked = (act for words, act in RULES.items() if words in config.prompt.lower())
    return " ".join(act(input) for act in asked if random.random() >= SLIP)
