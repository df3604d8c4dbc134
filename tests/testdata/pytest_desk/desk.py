"""A help desk without a model: it does what its prompt says."""

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
    """The agent."""
    return answer(config.prompt, question)
