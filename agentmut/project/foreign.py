"""Read an agent from a file of another tool, by the reader that recognises it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import ProjectError, nearest
from agentmut.nouns import AgentConfig, Place, PromptPart, Sources, ToolSpec
from agentmut.project.ignore_comments import ReadPrompt, read_comments
from agentmut.project.parts import read_documents
from agentmut.seams import ConfigFile, ConfigReader, FoundAgent, Group, load, load_all, names

_PART = "#"


class ForeignConfig(NamedTuple):
    """What a file of another tool says of one agent."""

    name: str
    """The agent's name in the file."""
    reader: str
    config: AgentConfig
    """With the tools that the file describes."""
    sources: Sources
    named: tuple[ToolSpec, ...]
    """Tools that the file names without their parameters."""
    left_out: tuple[str, ...] = ()
    """The parts of the agent that the file names and nobody has read."""

    @property
    def with_named(self) -> AgentConfig:
        """Return the config with all tools that the file describes or names."""
        described = set(self.config.tool_names)
        named = (tool for tool in self.named if tool.name not in described)
        return self.config.model_copy(update={"tools": (*self.config.tools, *named)})


def split_part(path: Path) -> tuple[Path, str]:
    """Return the file and the agent of `FILE#AGENT`. A file with such a name is a file.

    >>> split_part(Path("agents.yaml#writer"))[1]
    'writer'
    """
    if path.is_file() or _PART not in path.name:
        return path, ""
    file, _, part = path.name.rpartition(_PART)
    return path.with_name(file), part


def reader_of(file: ConfigFile) -> str:
    """Return the name of the reader for a file; empty where no reader recognises it. Raises `ProjectError` for two."""
    readers = {name: kind() for name, kind in load_all(Group.CONFIG_READERS).items()}
    found = [name for name, reader in readers.items() if not reader.general and reader.recognises(file)]
    found = found or [name for name, reader in readers.items() if reader.general and reader.recognises(file)]
    if len(found) > 1:
        raise ProjectError(
            f"{file.label}: the readers {' and '.join(sorted(found))} both recognise it. Uninstall one of them."
        )
    return found[0] if found else ""


def read_foreign(path: Path, part: str, operators: Sequence[str], label: str = "") -> ForeignConfig | None:
    """Return the agent that a file describes; None where no reader recognises the file.

    `part` names the agent of a file with several. `operators` are those that a comment in the prompt may name. Places
    have `label`, the file's name if none is given. Raises `ProjectError`.
    """
    file = ConfigFile(path)
    reader = reader_of(file)
    if not reader:
        return None
    chosen = _chosen(_agents(reader, file), part, file.label)
    return _foreign(chosen, reader, path.parent, label or file.label, operators)


def is_foreign(path: Path) -> bool:
    """Return whether some reader recognises a file."""
    return bool(reader_of(ConfigFile(path)))


def known_formats() -> tuple[str, ...]:
    """Return the names of all readers, sorted."""
    return names(Group.CONFIG_READERS)


def _agents(reader: str, file: ConfigFile) -> tuple[FoundAgent, ...]:
    kind: type[ConfigReader] = load(Group.CONFIG_READERS, reader)
    return kind().read(file)


def _chosen(agents: Sequence[FoundAgent], part: str, label: str) -> FoundAgent:
    known = [agent.name for agent in agents]
    if part:
        found = next((agent for agent in agents if agent.name == part), None)
        if found is None:
            raise ProjectError(f"{label} has no agent {part!r}. {nearest(part, known)}")
        return found
    if len(agents) > 1:
        raise ProjectError(
            f"{label} describes {len(agents)} agents: {', '.join(known)}. Name one, as in {label}{_PART}{known[0]}."
        )
    return agents[0]


def _foreign(
    found: FoundAgent, reader: str, folder: Path, label: str, operators: Sequence[str]
) -> ForeignConfig:
    prompt = _prompt(found, label, operators)
    config = AgentConfig(
        prompt=prompt.text,
        tools=found.tools,
        model=found.model,
        context=tuple(read_documents(found.context, folder)),
    )
    sources = Sources(
        prompt_cuts=prompt.cuts,
        prompt_parts=tuple(_parts(found)),
        ignores=prompt.ignores,
        tool_places={name: Place(path=label, line=line) for name, line in found.tool_lines.items()},
        context=found.context,
    )
    return ForeignConfig(found.name, reader, config, sources, found.named, found.left_out)


def _prompt(found: FoundAgent, label: str, operators: Sequence[str]) -> ReadPrompt:
    written = "".join(part.text for part in found.prompt)
    first = next((part.line for part in found.prompt if part.line), 1)
    return read_comments(written, label, operators, first)


def _parts(found: FoundAgent) -> list[PromptPart]:
    at, parts = 0, []
    for written in found.prompt:
        place = {name: getattr(written, name) for name in ("line", "by_line", "indent", "file")}
        parts.append(PromptPart(at=at, **place))
        at += len(written.text)
    return parts
