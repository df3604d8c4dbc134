"""Prompts in templates: Jinja and Prompty."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentmut.nouns import ModelConfig
from agentmut.project.formats.front_matter import split_front_matter
from agentmut.project.formats.settings import model_of
from agentmut.project.formats.tool_lists import FILE, tools_in
from agentmut.seams import ConfigFile, FoundAgent, WrittenText

_MESSAGE = re.compile(
    r"(?:\{%-?\s*(?:chat|message)\s+role\s*=\s*[\"'](?:system|developer)[\"'][^%]*%\}"
    r"|<message\s+role=[\"'](?:system|developer)[\"'][^<>]*>)\n?"
    r"(?P<text>.*?)(?:\{%-?\s*end(?:chat|message)\b|</message>)",
    re.DOTALL,
)
_ROLE = re.compile(
    r"^[ \t]*+(?:#[ \t]*+)?(?P<role>system|developer|user|assistant|tool|function)(?:\[[^\]\n]*\])?[ \t]*:[ \t]*\n",
    re.MULTILINE | re.IGNORECASE,
)
_INCLUDE = re.compile(r"\{%-?\s*(?:include|extends|import|from)\s+(?P<name>\"[^\"]+\"|'[^']+'|[\w.]+)")
_FILE_VALUE = re.compile(r"\$\{file:(?P<path>[^}]+)\}")
_ENV_VALUE = re.compile(r"\$\{env:\w+:(?P<default>[^}]+)\}")
_KINDS = {"float": "number"}
"""Kinds of values that JSON Schema calls otherwise."""


class Jinja:
    """A prompt as a Jinja template: the system message of those that have messages, else the whole text."""

    name: ClassVar[str] = "jinja"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file has the suffix of a Jinja template."""
        return file.suffix in (".jinja", ".jinja2", ".j2")

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the one prompt, with placeholders and statements as they stand."""
        found = split_front_matter(file.text)
        message = _MESSAGE.search(found.body)
        start, end = message.span("text") if message else (0, len(found.body))
        prompt = _cut(found.body, start, end, found.line)
        return (FoundAgent(name=_stem(file), prompt=(prompt,), left_out=tuple(_included(file.text))),)


def _included(text: str) -> Iterator[str]:
    """Yield the templates that a template includes, extends or imports.

    >>> list(_included('{% extends "base.j2" %}{%- include name -%}'))
    ['the template base.j2', 'the template name']
    """
    for name in dict.fromkeys(match["name"].strip("\"'") for match in _INCLUDE.finditer(text)):
        yield f"the template {name}"


class Prompty:
    """A `.prompty` file: the model in front matter, and messages under `system:`, `user:` and so on."""

    name: ClassVar[str] = "prompty"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file has the suffix of Prompty."""
        return file.suffix == ".prompty"

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the one prompt: the system message, or the whole text where it has no roles."""
        found = split_front_matter(file.text)
        start, end = _system(found.body)
        settings = _settings(found.data)
        return (
            FoundAgent(
                name=str(found.data.get("name") or file.path.stem),
                prompt=(_cut(found.body, start, end, found.line),),
                tools=tools_in(_named_file(settings.get("tools")), file.path.parent, file.label),
                model=_model(found.data, settings, file.label),
            ),
        )


def _stem(file: ConfigFile) -> str:
    return file.path.name.partition(".")[0]


def _cut(text: str, start: int, end: int, first_line: int) -> WrittenText:
    """Return a part of a text that begins on `first_line`, without blank lines around it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip("\n"))
    return WrittenText(text=part.strip("\n"), line=first_line + text.count("\n", 0, start), indent=0)


def _system(body: str) -> tuple[int, int]:
    roles = list(_ROLE.finditer(body))
    ends = [*(role.start() for role in roles[1:]), len(body)]
    for role, end in zip(roles, ends, strict=False):  # a text without roles has one end
        if role["role"].lower() in ("system", "developer"):
            return role.end(), end
    return 0, len(body)


def _settings(data: Mapping[str, Any]) -> dict[str, Any]:
    model = data.get("model")
    of_model = model if isinstance(model, dict) else {}
    given = of_model.get("parameters") or of_model.get("options") or {}
    tools = data.get("tools")
    own = {"tools": [_tool(one) for one in tools if _is_function(one)]} if isinstance(tools, list) else {}
    return {**own, **(given if isinstance(given, dict) else {})}


def _is_function(tool: Any) -> bool:
    """Return whether a tool is no service: the second version of Prompty says so by `kind`."""
    return isinstance(tool, dict) and tool.get("kind", "function") == "function"


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tool with parameters that are a list, as the second version has them, as a JSON Schema."""
    listed = tool.get("parameters")
    if isinstance(listed, dict) and isinstance(listed.get("properties"), list):
        listed = listed["properties"]
    if not isinstance(listed, list):
        return dict(tool)
    named = {str(one["name"]): one for one in listed if isinstance(one, dict) and one.get("name")}
    schema = {
        "type": "object",
        "properties": {name: _property(one) for name, one in named.items()},
        "required": [name for name, one in named.items() if one.get("required") is True],
    }
    return {**tool, "parameters": schema}


def _property(parameter: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(parameter.get("kind") or parameter.get("type") or "string")
    values = parameter.get("enumValues") or parameter.get("enum")
    return {
        "type": _KINDS.get(kind, kind),
        **({"description": parameter["description"]} if "description" in parameter else {}),
        **({"enum": values} if isinstance(values, list) else {}),
    }


def _named_file(value: Any) -> Any:
    """Return the address of the file that `${file:tools.json}` names; any other value as it is."""
    found = _FILE_VALUE.fullmatch(value.strip()) if isinstance(value, str) else None
    return f"{FILE}{found['path']}" if found else value


def _default(value: Any) -> Any:
    """Return the default of a variable, such as gpt-4o of `${env:MODEL:gpt-4o}`; any other value as it is."""
    found = _ENV_VALUE.fullmatch(value.strip()) if isinstance(value, str) else None
    return found["default"] if found else value


def _model(data: Mapping[str, Any], settings: Mapping[str, Any], where: str) -> ModelConfig:
    model = data.get("model")
    if not isinstance(model, dict):
        return model_of(model, settings, where)
    configured = model.get("configuration") or {}
    places = (configured, "azure_deployment"), (configured, "name"), (configured, "model"), (model, "id")
    name = next((at[key] for at, key in places if isinstance(at, dict) and at.get(key)), None)
    return model_of(_default(name), settings, where)
