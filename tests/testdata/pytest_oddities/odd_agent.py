from typing import Any


def run(config: Any, question: str) -> str:
    """The agent."""
    if question == "crash":
        raise ValueError("the agent cannot do that")
    return f"{config.prompt} {question}"
