"""Edits and examples that operators of several classes build."""

from agentmut.config import AgentConfig
from agentmut.mutant import prompt_edit
from agentmut.protocols import Example

__all__ = ["prompt_edit", "prompt_example"]


def prompt_example(before: str, after: str) -> Example:
    """An example of a config with nothing but a prompt."""
    return Example(AgentConfig(prompt=before), AgentConfig(prompt=after))


def line_break(text: str) -> str:
    """The line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"
