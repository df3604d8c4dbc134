"""An OpenAI assistant as JSON, as its API gives and takes it."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentmut._base import KeyPath, YamlSource
from agentmut.nouns import ToolSpec
from agentmut.project.formats.settings import model_of
from agentmut.project.formats.tool_lists import is_of_service, services_in, tools_in
from agentmut.project.formats.yaml_texts import written_at
from agentmut.seams import ConfigFile, FoundAgent


class OpenAIAssistant:
    """An assistant, or a list of assistants: instructions, model and tools."""

    name: ClassVar[str] = "openai_assistant"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file is an object of the API, or has both instructions and a model."""
        return file.suffix == ".json" and any(True for _ in _assistants(file.values))

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return one agent for each assistant."""
        return tuple(_agent(file, key, one) for key, one in _assistants(file.values))


def _assistants(values: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    if _is_assistant(values):
        yield (), values
    data = values.get("data") if values.get("object") == "list" else None
    for index, one in enumerate(data if isinstance(data, list) else ()):
        if isinstance(one, dict) and _is_assistant(one):
            yield ("data", index), one


def _is_assistant(values: Mapping[str, Any]) -> bool:
    return values.get("object") == "assistant" or {"instructions", "model"} <= values.keys()


def _agent(file: ConfigFile, key: KeyPath, values: Mapping[str, Any]) -> FoundAgent:
    tools = tools_in(values.get("tools"), file.path.parent, f"{file.label}: tools")
    return FoundAgent(
        name=str(values.get("name") or values.get("id") or file.path.stem),
        prompt=written_at(file.source, (*key, "instructions")),
        tools=tools,
        tool_lines=_lines(file.source, (*key, "tools"), values.get("tools"), tools),
        model=model_of(values.get("model"), _settings(values), file.label),
        left_out=services_in(values.get("tools")),
    )


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    automatic = values.get("response_format") == "auto"
    return {key: value for key, value in values.items() if not (automatic and key == "response_format")}


def _lines(source: YamlSource, key: KeyPath, written: Any, tools: tuple[ToolSpec, ...]) -> dict[str, int]:
    items = written if isinstance(written, list) else []
    places = [index for index, tool in enumerate(items) if not is_of_service(tool)]
    if not source.lines:
        return {}
    return {tool.name: source.line((*key, index)) for tool, index in zip(tools, places, strict=True)}
