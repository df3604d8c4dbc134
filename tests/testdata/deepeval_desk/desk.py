"""A help desk without a model: it does what its prompt says."""

import random
from typing import Any


def answer(prompt: str, question: str) -> str:
    """The answer to a question."""
    said = ["Hello." if "Greet" in prompt else "", f"You asked: {question}"]
    if "refund" in question:
        said.append("A refund takes 5 days." if "5 days" in prompt else "A refund takes a while.")
    if "delivery" in question and "Never promise" not in prompt:
        said.append("It arrives tomorrow.")
    return " ".join(said)


def run(config: Any, question: str) -> str:
    """The agent, which is sometimes a little short."""
    if "crash" in question:
        raise ValueError("the agent cannot do that")
    full = answer(config.prompt, question)
    return full if random.random() < 0.95 else full.upper()
