"""The protocol of a reader for another tool's agent files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import Field

from agentmut._base import (
    Frozen,
    ProjectError,
    YamlSource,
    parse_json,
    read_text,
    read_yaml,
    without_comments,
    yaml_of,
)
from agentmut.nouns import ModelConfig, ToolSpec

_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class ConfigFile:
    """A user's file, read on first use."""

    path: Path

    @property
    def label(self) -> str:
        """Return the file's name in the form that errors show."""
        return self.path.name

    @property
    def suffix(self) -> str:
        """Return the file's suffix in lower case, with its dot."""
        return self.path.suffix.lower()

    @cached_property
    def text(self) -> str:
        """Return the text, with `\n` as line break. Raise `ProjectError` if it cannot be read."""
        return read_text(self.path, self.label)

    @cached_property
    def source(self) -> YamlSource:
        """Return the value of a YAML or JSON file with the lines of its keys; null for other files.

        Raises `ProjectError` with the place of an error of syntax. The lines of JSON are known where the file can be
        read as YAML too.
        """
        if self.suffix in _YAML:
            return read_yaml(self.path, self.label)
        if self.suffix != ".json":
            return YamlSource(self.label, None, {})
        plain = self.text
        try:
            value = parse_json(plain, self.label)
        except ProjectError:
            plain = without_comments(self.text)  # as editors let users write it
            if plain == self.text:
                raise
            value = parse_json(plain, self.label)
        try:
            lines = yaml_of(plain, self.label).lines
        except ProjectError:  # indented with tabs, say
            lines = {}
        return YamlSource(self.label, value, lines)

    @property
    def values(self) -> dict[str, Any]:
        """Return the mapping in a YAML or JSON file; empty for other files."""
        value = self.source.value
        return value if isinstance(value, dict) else {}


class WrittenText(Frozen):
    """A part of a prompt, with its place."""

    text: str
    line: int | None = None
    """The line on which it begins, counted from 1; None for text that stands in no file, such as a heading."""
    by_line: bool = True
    """Whether each line of the text is a line of the file, and not folded or escaped."""
    indent: int | None = None
    """How many columns stand before each line; None where that is not known."""
    file: str = ""
    """The file's path as the read file names it; empty for the read file itself."""


class FoundAgent(Frozen):
    """One agent, or one prompt, in a file."""

    name: str
    """What users call it: the key or the name in the file. Unique in the file."""
    prompt: tuple[WrittenText, ...] = ()
    """The parts of the prompt; joined as they are."""
    tools: tuple[ToolSpec, ...] = ()
    """Tools that the file describes to the model."""
    named: tuple[ToolSpec, ...] = ()
    """Tools that the file names without their parameters. A project takes these from the agent."""
    tool_lines: dict[str, int] = Field(default_factory=dict)
    """The line of each tool, by name, where it is known."""
    model: ModelConfig = ModelConfig()
    context: tuple[str, ...] = ()
    """Paths of text files that the agent is given as documents, relative to the file."""
    left_out: tuple[str, ...] = ()
    """The parts of the agent that the file names and the reader does not read, such as `the sub-agent x.yaml`."""


class ConfigReader(Protocol):
    """Reads one format of files that describe an agent. Built without arguments. Runs no code of the user."""

    name: ClassVar[str]
    """The format, in one word."""
    general: ClassVar[bool]
    """Whether the reader is only for files that no other reader recognises."""

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file has the format. Is called for files of all kinds."""

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the agents that the file describes.

        Raises `ProjectError` where it describes none, with what the user can do instead.
        """
