"""CrewAI's `agents.yaml` and `tasks.yaml`."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentmut._base import YamlSource
from agentmut.nouns import ToolSpec
from agentmut.project.formats.settings import model_of
from agentmut.project.formats.yaml_texts import heading, written_at
from agentmut.seams import ConfigFile, FoundAgent, WrittenText


class CrewAIAgents:
    """`agents.yaml`: goals and backstories, laid out as the CrewAI adapter has them. Roles are no part of a prompt."""

    name: ClassVar[str] = "crewai_agents"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether every entry has a goal and a backstory; entries that others merge are none."""
        return _every_entry_has(file, "goal", "backstory")

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return one agent for each entry."""
        return tuple(_agent(file.source, name, entry) for name, entry in _entries(file).items())


class CrewAITasks:
    """`tasks.yaml`: what is to be done, and what is expected of it, by the agent that does it."""

    name: ClassVar[str] = "crewai_tasks"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether every entry has a description and an expected output."""
        return _every_entry_has(file, "description", "expected_output")

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the tasks of each agent as its prompt; tasks without an agent are those of `crew`."""
        entries = _entries(file)
        owners = dict.fromkeys(_owner(entry) for entry in entries.values())
        return tuple(
            FoundAgent(
                name=owner, prompt=tuple(_tasks(file.source, entries, owner)), named=_tools(entries, owner)
            )
            for owner in owners
        )


def _every_entry_has(file: ConfigFile, *keys: str) -> bool:
    entries = list(_entries(file).values())
    return bool(entries) and all(isinstance(one, dict) and all(key in one for key in keys) for one in entries)


def _entries(file: ConfigFile) -> Mapping[str, Any]:
    """Return the entries without those that only hold what others merge: `x-defaults: &defaults`, `.base: &base`."""
    return {name: entry for name, entry in file.values.items() if not str(name).startswith((".", "x-"))}


def _agent(source: YamlSource, name: str, entry: Mapping[str, Any]) -> FoundAgent:
    prompt = (
        *written_at(source, (name, "backstory")),
        heading("Goal"),
        *written_at(source, (name, "goal")),
    )
    llm = entry.get("llm")
    written = llm if isinstance(llm, dict) else {"model": llm}
    model = model_of(written.get("model"), {**entry, **written}, source.problem((name,), "llm"))
    return FoundAgent(name=name, prompt=prompt, named=_named(entry), model=model)


def _named(entry: Mapping[str, Any]) -> tuple[ToolSpec, ...]:
    tools = entry.get("tools")
    return tuple(ToolSpec(name=str(tool)) for tool in dict.fromkeys(tools)) if isinstance(tools, list) else ()


def _owner(entry: Mapping[str, Any]) -> str:
    return str(entry.get("agent") or "crew")


def _tasks(source: YamlSource, entries: Mapping[str, Any], owner: str) -> Iterator[WrittenText]:
    first = True
    for name in (name for name, entry in entries.items() if _owner(entry) == owner):
        yield heading(f"Task: {name}", first=first)
        yield from written_at(source, (name, "description"))
        yield heading(f"Expected output: {name}")
        yield from written_at(source, (name, "expected_output"))
        first = False


def _tools(entries: Mapping[str, Any], owner: str) -> tuple[ToolSpec, ...]:
    mine = (entry for entry in entries.values() if _owner(entry) == owner)
    return tuple({tool.name: tool for entry in mine for tool in _named(entry)}.values())
