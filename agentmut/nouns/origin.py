"""A config and the places of its parts in the user's files, which together name a mutant's place."""

from bisect import bisect_right

from pydantic import Field

from agentmut._base import Frozen, Position, position
from agentmut.nouns.config import AgentConfig


class Place(Frozen):
    """A file, and the line if it is known."""

    path: str
    line: int | None = None


class CutComment(Frozen):
    """A part of the prompt's file that is not part of the prompt."""

    at: int
    """The offset in the prompt where it was taken out."""
    text: str


class IgnoreComment(Frozen):
    """An `<!-- agentmut: ignore: reason -->` comment, and the line that it refers to."""

    place: Place
    start: int
    """`start` to `end` are the line's characters in the text that the agent gets."""
    end: int
    document: str = ""
    """The file of the workspace in which the line stands; empty for a line of the prompt."""
    operators: tuple[str, ...] = ()
    """Operators, classes or patterns like `prompt.*`; empty for all."""
    reason: str


class PromptPart(Frozen):
    """A part of a prompt that is put together of several texts, and where that part is written."""

    at: int
    """The offset at which the part begins, in the prompt with its comments to agentmut."""
    line: int | None
    """The line of the file on which the part begins; None for text that stands in no file."""
    by_line: bool = True
    """Whether each line of the part is a line of the file."""
    indent: int | None = None
    """How many columns stand before each line; None where that is not known."""
    file: str = ""
    """The file, where it is not the one that describes the agent."""


class Sources(Frozen):
    """The files that the parts were read from, with paths as written, relative to the root."""

    prompt: str | None = None
    """The prompt's file; None when the prompt stands in the project file."""
    prompt_line: int | None = None
    """The line of the project file where a prompt written there as a block (`prompt: |`) begins."""
    prompt_cuts: tuple[CutComment, ...] = ()
    prompt_parts: tuple[PromptPart, ...] = ()
    """Where the parts of a prompt stand that another tool's file describes; empty for all other prompts."""
    ignores: tuple[IgnoreComment, ...] = ()
    """The comments in the prompt and in files of the workspace that tell to ignore mutants, in their order."""
    tools: str | None = None
    """The tools' file or `module:object`; None when the adapter reads them from the agent."""
    tool_places: dict[str, Place] = Field(default_factory=dict)
    """Where each tool is written, by name, as far as that can be told."""
    tools_without_schema: tuple[str, ...] = ()
    """Names of tools that are written without their parameters, so that a model takes them for tools without any."""
    context: tuple[str, ...] = ()
    context_cuts: dict[str, tuple[CutComment, ...]] = Field(default_factory=dict)
    """What was cut out of files of the workspace, by name: comments to agentmut."""
    recorded: dict[str, str] = Field(default_factory=dict)
    """The file with a recorded request, or with the agent itself, by the names of the parts that were read from it,
    such as `model/seed`."""
    scenarios: dict[str, str] = Field(default_factory=dict)
    """`file:line` of each scenario, by name."""
    evaluators: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """`file:line` of each evaluator of a scenario, by the scenario's name."""

    def evaluators_of(self, scenario: str, count: int) -> tuple[str, ...]:
        """Return `file:line` of a scenario's `count` evaluators; the scenario's own place if they have no line."""
        own = self.scenarios.get(scenario)
        return self.evaluators.get(scenario) or ((own,) * count if own else ())

    def prompt_position(self, prompt: str, offset: int) -> Position:
        """Return line and column of a character of the prompt in the user's file."""
        return _position(prompt, offset, self.prompt_cuts)

    def document_position(self, name: str, text: str, offset: int) -> Position:
        """Return line and column of a character of a document in the user's file."""
        return _position(text, offset, self.context_cuts.get(name, ()))

    def part_place(self, prompt: str, offset: int) -> tuple[PromptPart, int | None, int | None]:
        """Return the part of the prompt that contains a character, with line and column in its file if known.

        Needs `prompt_parts`.
        """
        written = _written(prompt, self.prompt_cuts)
        cut = bisect_right(self.prompt_cuts, offset, key=lambda one: one.at)
        offset += sum(len(one.text) for one in self.prompt_cuts[:cut])
        part = self.prompt_parts[max(0, bisect_right(self.prompt_parts, offset, key=lambda one: one.at) - 1)]
        if part.line is None or not part.by_line:
            return part, part.line, None
        line, column = position(written[part.at :], offset - part.at)
        return part, part.line + line - 1, None if part.indent is None else part.indent + column


def _position(text: str, offset: int, cuts: tuple[CutComment, ...]) -> Position:
    """Return line and column of a character in the file that the text was read from."""
    line, column = position(text, offset)
    start = offset - column + 1
    before = cuts[: bisect_right(cuts, offset, key=lambda cut: cut.at)]
    line += sum(cut.text.count("\n") for cut in before)
    column += sum(len(cut.text.rpartition("\n")[2]) for cut in before if cut.at >= start)
    return Position(line, column)


def _written(prompt: str, cuts: tuple[CutComment, ...]) -> str:
    """Return the prompt as written, with the parts that were cut out of it."""
    pieces: list[str] = []
    done = 0
    for cut in cuts:
        pieces += prompt[done : cut.at], cut.text
        done = cut.at
    return "".join((*pieces, prompt[done:]))


class Origin(Frozen):
    """The source that mutants are made from."""

    config: AgentConfig
    sources: Sources = Sources()
    file: str
    """The project file, or the file that holds the config."""
    left_out: tuple[str, ...] = ()
    """The parts of the agent that another tool's file names and that are not in the config, in words."""
