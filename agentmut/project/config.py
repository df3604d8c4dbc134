"""Read a config and the files it names; it has one form in `agentmut.yaml` and in a separate file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agentmut._base import (
    KeyPath,
    ProjectError,
    UsageError,
    YamlSource,
    joined,
    make_importable,
    parse_json,
    read_text,
    read_yaml,
    validated,
)
from agentmut.nouns import AgentConfig, CutComment, Document, Flow, IgnoreComment, Origin, Sources
from agentmut.project.agent_section import ConfigSection
from agentmut.project.foreign import known_formats, read_foreign, split_part
from agentmut.project.ignore_comments import ReadPrompt, read_comments
from agentmut.project.parts import (
    ReadTools,
    read_documents,
    read_prompt,
    read_tools,
    read_workspace,
    tools_of,
)
from agentmut.project.recorded_request import read_request_file
from agentmut.project.request_places import prompt_places, tool_places
from agentmut.project.tool_places import in_yaml, json_lines
from agentmut.seams import Group, names

Checked = Callable[[KeyPath, Callable[[], Any]], Any]
"""Calls a reader for the part at a key; gives None, and notes the problem, when it raises."""


class LocatedConfig(NamedTuple):
    """A config and the places where its parts were read."""

    config: AgentConfig
    sources: Sources


class _Prompt(NamedTuple):
    read: ReadPrompt
    path: str | None


def read_config_file(path: Path) -> Origin:
    """Read a file that describes an agent. Raise `ProjectError`.

    That is a file of another tool, as `FILE#AGENT` where it describes several agents, or a file with the keys of
    `agent.config`, in YAML or (as `.json`) in JSON. Paths in it are relative to its folder, and `module:object` is
    looked for there first.
    """
    path, part = split_part(path.resolve())
    if not path.is_file():
        raise ProjectError(
            f"there is no file {path}. Name a YAML or JSON file with prompt, tools and model, or a file of another "
            f"tool; the formats are {', '.join(known_formats())}."
        )
    if foreign := read_foreign(path, part, names(Group.OPERATORS)):
        return Origin(
            config=foreign.with_named, sources=foreign.sources, file=path.name, left_out=foreign.left_out
        )
    if part:
        raise ProjectError(
            f"{path.name} describes one agent, so there is no {part!r} in it. Leave #{part} out."
        )
    return _own_format(path)


def _own_format(path: Path) -> Origin:
    source = _source(path)
    if isinstance(source.value, dict) and "agent" in source.value:
        raise ProjectError(
            f"{path.name} is a project file: pass it as --project. --config takes prompt, tools, "
            "model, context and orchestration as top-level keys."
        )
    if isinstance(source.value, dict) and "messages" in source.value:
        raise ProjectError(
            f"{path.name} looks like a recorded request (it has `messages`): pass it as --request."
        )
    make_importable(path.parent)
    problems: list[str] = []
    found = read_parts(
        source,
        (),
        validated(source, ConfigSection),
        path.parent,
        collecting(source, problems),
        names(Group.OPERATORS),
    )
    if problems:
        raise ProjectError(joined(problems))
    return Origin(config=found.config, sources=found.sources, file=path.name)


def collecting(source: YamlSource, problems: list[str]) -> Checked:
    """Return a `Checked` that adds faults to `problems`, with the line of the key."""

    def checked(key: KeyPath, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except UsageError as error:
            problems.append(source.problem(key, str(error)))
            return None

    return checked


def read_parts(
    source: YamlSource,
    key: KeyPath,
    written: ConfigSection,
    root: Path,
    checked: Checked,
    operators: Sequence[str],
    awaited: Path | None = None,
) -> LocatedConfig:
    """Return the config at `key` of a file, with everything it names.

    `operators` are those that a comment in the prompt or in a file of the workspace may name. `awaited` is a recorded
    request that the caller is about to write: while this file is missing, its parts are empty.
    """
    at_prompt, at_tools = (*key, "prompt"), (*key, "tools")
    prompt = checked(at_prompt, lambda: _prompt(source, at_prompt, written.prompt, root, operators))
    prompt = prompt or _Prompt(ReadPrompt(""), None)
    given = written.files
    context = checked((*key, "context"), lambda: tuple(read_documents(given.documents, root))) or ()
    at_files = (*key, "context", "workspace")
    files = checked(at_files, lambda: _workspace(given.workspace, root, operators)) or _Workspace()
    tools = checked(at_tools, lambda: _tools(source, at_tools, written, root)) or ReadTools()
    checked((*key, "orchestration"), lambda: Flow.from_orchestration(written.orchestration))
    config = AgentConfig(
        prompt=prompt.read.text,
        tools=tools.tools,
        model=written.model,
        context=(*context, *files.documents),
        orchestration=written.orchestration,
        workspace=tuple(file.name for file in files.documents),
    )
    block = None if prompt.path else source.blocks.get(at_prompt)
    sources = _sources(source, written, prompt, block, tools)
    ignores = (*sources.ignores, *files.ignores)
    sources = sources.model_copy(update={"ignores": ignores, "context_cuts": files.cuts})
    located = LocatedConfig(config, sources)
    if not written.request:
        return located
    return _with_request(located, key, written, root, checked, awaited)


def _with_request(
    located: LocatedConfig,
    key: KeyPath,
    written: ConfigSection,
    root: Path,
    checked: Checked,
    awaited: Path | None,
) -> LocatedConfig:
    """Return the config with what the section does not state taken from the recorded request that it names."""
    request = root / (written.request or "")
    recorded = (
        None
        if _is_awaited(request, awaited)
        else checked((*key, "request"), lambda: read_request_file(request, "the request"))
    )
    config = _completed(located.config, written, recorded.config) if recorded else located.config
    read: dict[str, Any] = {"recorded": dict.fromkeys(_unwritten(written), written.request)}
    if recorded and not written.prompt:
        read["prompt_parts"] = prompt_places(config, request, root)
    if recorded and not written.tools:
        read["tool_places"] = tool_places(config, request, root)
    return LocatedConfig(config, located.sources.model_copy(update=read))


def _is_awaited(request: Path, awaited: Path | None) -> bool:
    return awaited is not None and not request.exists() and request.resolve() == awaited.resolve()


def _unwritten(written: ConfigSection) -> list[str]:
    """Return what to take from a recorded request: parts by name, model settings one by one."""
    parts = [part for part in ("prompt", "tools") if not getattr(written, part)]
    settings = type(written.model).model_fields.keys() - written.model.model_fields_set
    return [*parts, *(f"model/{name}" for name in sorted(settings))]


def _completed(config: AgentConfig, written: ConfigSection, recorded: AgentConfig) -> AgentConfig:
    """Return the config, completed from a recorded request where nothing is written."""
    unset = {part: getattr(recorded, part) for part in _unwritten(written) if part in ("prompt", "tools")}
    named = {name: getattr(written.model, name) for name in written.model.model_fields_set}
    return config.model_copy(update={**unset, "model": recorded.model.model_copy(update=named)})


def _sources(
    source: YamlSource, written: ConfigSection, prompt: _Prompt, block: int | None, tools: ReadTools
) -> Sources:
    """Return where the parts stand; `block` is the line of a prompt written in the file itself."""
    here = source.label if written.tools else None
    return Sources(
        prompt=prompt.path,
        prompt_line=block,
        prompt_cuts=prompt.read.cuts,
        ignores=prompt.read.ignores,
        tools=written.tools if isinstance(written.tools, str) else here,
        tool_places=tools.places,
        tools_without_schema=tools.without_schema,
        context=written.files.documents,
    )


def _source(path: Path) -> YamlSource:
    if path.suffix != ".json":
        return read_yaml(path, path.name)
    text = read_text(path, path.name)
    value = parse_json(text, path.name)
    return YamlSource(path.name, value, json_lines(text))


def _prompt(source: YamlSource, key: KeyPath, value: str, root: Path, operators: Sequence[str]) -> _Prompt:
    text, path = read_prompt(value, root)
    first_line = 1 if path else source.blocks.get(key, source.line(key))
    return _Prompt(read_comments(text, path or source.label, operators, first_line), path)


class _Workspace(NamedTuple):
    """Files of a workspace without their comments to agentmut, and what these comments ask."""

    documents: tuple[Document, ...] = ()
    cuts: Mapping[str, tuple[CutComment, ...]] = MappingProxyType({})
    ignores: tuple[IgnoreComment, ...] = ()


def _workspace(patterns: Iterable[str], root: Path, operators: Sequence[str]) -> _Workspace:
    written = tuple(read_workspace(patterns, root))
    read = {one.name: read_comments(one.text, one.name, operators) for one in written}
    return _Workspace(
        tuple(one.model_copy(update={"text": read[one.name].text}) for one in written),
        {name: found.cuts for name, found in read.items() if found.cuts},
        tuple(c.model_copy(update={"document": name}) for name, found in read.items() for c in found.ignores),
    )


def _tools(source: YamlSource, key: KeyPath, written: ConfigSection, root: Path) -> ReadTools:
    if isinstance(written.tools, str):
        return read_tools(written.tools, root) if written.tools else ReadTools()
    places = in_yaml(source, key) if source.lines else None
    return tools_of(written.tools or (), "the list", places)
