"""An agent of Google's Agent Development Kit as YAML (`root_agent.yaml`)."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, ClassVar

from agentmut._base import ProjectError
from agentmut.nouns import ToolSpec
from agentmut.project.formats.settings import model_of
from agentmut.project.formats.yaml_texts import written_at
from agentmut.seams import ConfigFile, FoundAgent, WrittenText


class AdkAgent:
    """One agent: instruction, model and the names of its tools. Sub-agents are files of their own."""

    name: ClassVar[str] = "adk"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file names an agent's class, or has a name and an instruction."""
        values = file.values
        return "agent_class" in values or {"name", "instruction"} <= values.keys()

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the one agent. Raises `ProjectError` for one that asks no model, such as a sequence."""
        values = file.values
        prompt = tuple(_prompt(file))
        if not prompt:
            raise ProjectError(
                f"{file.label} has no instruction{_sub_agents(values)}. Name the file of an agent that has one."
            )
        settings = values.get("generate_content_config")
        model = model_of(
            values.get("model"), settings if isinstance(settings, dict) else {}, f"{file.label}: model"
        )
        names = dict.fromkeys(_tool_names(values.get("tools")))
        return (
            FoundAgent(
                name=str(values.get("name") or file.path.stem),
                prompt=prompt,
                named=tuple(ToolSpec(name=name) for name in names),
                model=model,
                left_out=tuple(_left_out(values)),
            ),
        )


def _prompt(file: ConfigFile) -> Iterator[WrittenText]:
    """Yield the instruction, after the one that holds for all agents of the tree."""
    shared = written_at(file.source, ("global_instruction",))
    own = written_at(file.source, ("instruction",))
    yield from shared
    if shared and own:
        yield WrittenText(text="\n\n")
    yield from own


def _sub_agents(values: dict[str, Any]) -> str:
    paths = [str(one["config_path"]) for one in _mappings(values.get("sub_agents")) if "config_path" in one]
    return f", but the sub-agents {', '.join(paths)}" if paths else ""


def _left_out(values: dict[str, Any]) -> Iterator[str]:
    for one in _mappings(values.get("sub_agents")):
        yield f"the sub-agent {one.get('config_path') or one.get('code') or one.get('name')}"
    for tool in _mappings(values.get("tools")):
        name = str(tool.get("name") or "")
        if name.lower().endswith("toolset"):
            yield f"the tools of {name.rpartition('.')[2]}, which tells them when it runs"


def _tool_names(tools: Any) -> Iterator[str]:
    """Yield the names that the model is told: of functions, the last word of their paths, and of agents.

    A set of tools, such as those of an MCP server, tells its names when it runs.
    """
    for tool in _mappings(tools):
        name = str(tool.get("name") or "").rpartition(".")[2]
        args = tool["args"] if isinstance(tool.get("args"), dict) else {}
        agent = args["agent"] if isinstance(args.get("agent"), dict) else {}
        if agent.get("config_path"):
            yield PurePath(str(agent["config_path"])).stem
        elif isinstance(args.get("func"), str):
            yield args["func"].rpartition(".")[2]
        elif name and not name.lower().endswith("toolset"):
            yield name


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
