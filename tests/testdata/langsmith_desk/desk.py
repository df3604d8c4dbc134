"""A help desk without a model: it does what its prompt says."""

from typing import Any


def run(config: Any, question: str) -> str:
    """The answer to a question."""
    greeting = "Hello." if "Greet" in config.prompt else "Yes?"
    return f"{greeting} {'We will see.' if 'Never promise' in config.prompt else 'It arrives tomorrow.'}"
