"""Edits and examples that operators of several classes build."""

from agentmut.config import AgentConfig
from agentmut.mutant import Edit
from agentmut.protocols import Example


def prompt_edit(prompt: str, start: int, end: int, after: str) -> Edit:
    """Put `after` in the place of the characters `start` to `end` of the prompt."""
    return Edit(pointer="/prompt", before=prompt[start:end], after=after, span=(start, end))


def prompt_example(before: str, after: str) -> Example:
    """An example of a config with nothing but a prompt."""
    return Example(AgentConfig(prompt=before), AgentConfig(prompt=after))


def line_break(text: str) -> str:
    """The line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"
