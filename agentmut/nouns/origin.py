"""A config and where its parts stand in the user's files: all that naming a mutant's place takes."""

from bisect import bisect_right

from pydantic import Field

from agentmut._base import Frozen, Position, position
from agentmut.nouns.config import AgentConfig


class Place(Frozen):
    """A file, and the line if it is known."""

    path: str
    line: int | None = None


class Cut(Frozen):
    """Something that stands in the prompt's file and is not part of the prompt."""

    at: int
    """The offset in the prompt where it was taken out."""
    text: str


class IgnoreComment(Frozen):
    """`<!-- agentmut: ignore: reason -->`, and the line of the prompt that it speaks of."""

    place: Place
    start: int
    """`start` to `end` are the line's characters in the prompt that the agent gets."""
    end: int
    operators: tuple[str, ...] = ()
    """Operators, classes or patterns like `prompt.*`; empty for all."""
    reason: str


class Sources(Frozen):
    """Where the parts were read, with paths as they are written, relative to the root."""

    prompt: str | None = None
    """The prompt's file; None when the prompt stands in the project file."""
    prompt_line: int | None = None
    """The line of the project file where a prompt written there as a block (`prompt: |`) begins."""
    prompt_cuts: tuple[Cut, ...] = ()
    ignores: tuple[IgnoreComment, ...] = ()
    """The comments in the prompt that tell to ignore mutants, in their order."""
    tools: str | None = None
    """The tools' file or `module:object`; None when the adapter reads them from the agent."""
    tool_places: dict[str, Place] = Field(default_factory=dict)
    """Where each tool is written, by name, as far as that can be told."""
    context: tuple[str, ...] = ()
    recorded: dict[str, str] = Field(default_factory=dict)
    """The file with a recorded request, or with the agent itself, by the names of the parts that were read from it,
    such as `model/seed`."""
    scenarios: dict[str, str] = Field(default_factory=dict)
    """`file:line` of each scenario, by name."""

    def prompt_position(self, prompt: str, offset: int) -> Position:
        """Return line and column of a character of the prompt in the user's file."""
        line, column = position(prompt, offset)
        start = offset - column + 1
        before = self.prompt_cuts[: bisect_right(self.prompt_cuts, offset, key=lambda cut: cut.at)]
        line += sum(cut.text.count("\n") for cut in before)
        column += sum(len(cut.text.rpartition("\n")[2]) for cut in before if cut.at >= start)
        return Position(line, column)


class Origin(Frozen):
    """What mutants are made from."""

    config: AgentConfig
    sources: Sources = Sources()
    file: str
    """The project file, or the file that holds the config."""
