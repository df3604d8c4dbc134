"""What operators of several classes need to build their mutants and examples."""

from agentmut.nouns import AgentConfig
from agentmut.seams import Example


def prompt_example(before: str, after: str) -> Example:
    """Return an example of a config with nothing but a prompt."""
    return Example(AgentConfig(prompt=before), AgentConfig(prompt=after))


def line_break(text: str) -> str:
    """Return the line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"
