"""`agentmut init --from FILE`: a project for an agent in another tool's file."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentmut._base import UsageError
from agentmut.nouns import AgentConfig, Document, Origin, ToolSpec
from agentmut.project import read_config_file
from agentmut.usecases.starting import SCENARIOS_HEAD, SETTINGS, write_project
from agentmut.usecases.starting_from_graphs import files_for_graph
from agentmut.usecases.starting_from_servers import files_for_server

DEFAULT_MODEL = "gpt-5.2"
PROMPT, TOOLS = "prompts/system.md", "tools.yaml"
_PROJECT = """\
# What agentmut breaks, which tests it measures, and with how much evidence.
#   agentmut mutants                       what would be broken (--diff: how)
#   agentmut simulate --alias {alias} -- agentmut run    try it offline, against a simulated model
#   agentmut run                           with the model named below
version: 1

agent:
  adapter: {adapter}   # asks the model itself; where your agent has code of its own, name its adapter
  config:                               # taken from {file}
{config}
"""


class StartedFrom(NamedTuple):
    """A new project."""

    files: tuple[Path, ...]
    model: str
    """The name of the model that its agent asks; empty where the agent's own code names it."""
    extra: str = ""
    """The extra of agentmut that its adapter needs; empty where the agent's own code says what it needs."""


def write_from(target: Path, source: Path, force: bool = False) -> StartedFrom:
    """Write a project with the prompt, tools and model of a file, or of `FILE#AGENT` if it has several agents.

    Of `langgraph.json` it is a project of the graph itself, which knows its model; of a list of MCP servers, one of a
    server, which asks no model.

    Nothing is written where a file exists, unless `force`. Raises `UsageError`, also where the file describes neither a
    prompt nor tools.
    """
    if graph := files_for_graph(target, source):
        return StartedFrom(write_project(target, graph, force), "")
    if server := files_for_server(target, source):
        return StartedFrom(write_project(target, server, force), "", "mcp")
    origin = read_config_file(source)
    config = origin.config
    if not (config.prompt.strip() or config.tools):
        raise UsageError(f"{source} describes neither a prompt nor tools, so there is nothing to begin with.")
    places = {name: name if force else _free(target, name) for name in (PROMPT, TOOLS)}
    files = {
        "agentmut.yaml": _project(origin, source.name, places),
        "scenarios/first.yaml": _scenarios(config),
    }
    if config.prompt.strip():
        files[places[PROMPT]] = config.prompt if config.prompt.endswith("\n") else f"{config.prompt}\n"
    if config.tools:
        files[places[TOOLS]] = _dumped([_tool(tool) for tool in config.tools])
    documents = {place: document.text for place, document in _documents(config).items()}
    files |= {place: text for place, text in documents.items() if not _is_there(target / place, text)}
    return StartedFrom(write_project(target, files, force), model_named(config), _adapter_for(config))


def _free(target: Path, name: str) -> str:
    """Return the name, or another one where the user has a file of this name and no project yet."""
    there = (target / name).exists() and not (target / "agentmut.yaml").exists()
    return str(Path(name).with_name(f"agentmut-{Path(name).name}")) if there else name


def _is_there(path: Path, text: str) -> bool:
    """Return whether a file has this text already, as a document that the agent's own file names."""
    return path.is_file() and path.read_text("utf-8", errors="replace") == text


def _project(origin: Origin, file: str, places: Mapping[str, str]) -> str:
    config = origin.config
    model = config.model.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    model |= {"name": model_named(config)}
    adapter = _adapter_for(config)
    values: dict[str, Any] = {"prompt": places[PROMPT]} if config.prompt.strip() else {}
    values |= {"tools": places[TOOLS]} if config.tools else {}
    values |= {"context": list(_documents(config))} if config.context else {}
    values["model"] = model
    unread = [f"# not taken: {' '.join(one.split())}" for one in origin.left_out]
    written = "".join(f"    {line}\n" for line in (*unread, *_dumped(values).splitlines()))
    alias = shlex.quote(f"{model['name']}=sim-large")
    begun = _PROJECT.format(adapter=adapter, alias=alias, file=" ".join(file.split()), config=written)
    return begun + SETTINGS


def _adapter_for(config: AgentConfig) -> str:
    """Return the adapter that asks a model of this name; its extra has the same name."""
    return "anthropic" if "claude" in model_named(config).lower() else "openai"


def model_named(config: AgentConfig) -> str:
    """Return the name of the model that a project for this agent asks."""
    return str(config.model.name or DEFAULT_MODEL)


def _documents(config: AgentConfig) -> dict[str, Document]:
    """Return the agent's documents by their place, such as files that its prompt imports."""
    names = Counter(Path(document.name).name for document in config.context)
    return {
        f"docs/{i}-{name}" if names[name] > 1 else f"docs/{name}": document
        for i, document in enumerate(config.context, 1)
        for name in [Path(document.name).name]
    }


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters or {"type": "object"},
    }


def _scenarios(config: AgentConfig) -> str:
    return SCENARIOS_HEAD + _dumped([dict(_scenario(config))])


def _scenario(config: AgentConfig) -> Iterator[tuple[str, Any]]:
    """Yield a first scenario that any agent can answer, with a double for each tool."""
    yield "name", "first"
    yield "input", "Hello, what can you do for me?"
    yield "evaluators", [{"regex": r"\w"}]
    if config.tools:
        yield "tools", {tool.name: {"returns": {"ok": True}} for tool in config.tools}


def _dumped(value: Any) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110)
    return text
