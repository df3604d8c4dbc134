"""Tool schemas of every dialect, read into one `ToolSpec`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import Field, JsonValue, TypeAdapter
from pydantic.errors import PydanticUserError

from agentmut._base import Frozen, UsageError
from agentmut.nouns.faults import ToolFault

EMPTY_SCHEMA: Mapping[str, JsonValue] = {"type": "object", "properties": {}}


class ToolSpec(Frozen):
    """A tool as the model gets it: name, description and a JSON Schema of its parameters."""

    name: str
    description: str = ""
    parameters: dict[str, JsonValue] = Field(default_factory=lambda: dict(EMPTY_SCHEMA))
    implemented_by: str | None = None
    """The agent's own tool that carries out calls, where the model is told of it under another name."""
    fault: ToolFault | None = None
    """What goes wrong with its calls. The model is not told."""

    @property
    def own_name(self) -> str:
        """Return the name that the agent itself has for the tool."""
        return self.implemented_by or self.name

    def to_openai(self) -> dict[str, JsonValue]:
        """Return the tool as an entry of a Chat Completions request's `tools`."""
        function: dict[str, JsonValue] = self.model_dump(include={"name", "description", "parameters"})
        return {"type": "function", "function": function}


def read_tool(tool: Any) -> ToolSpec:
    """Return the spec of one tool: OpenAI, Anthropic, MCP or plain mapping, LangChain tool, pydantic model or function.

    Raises `UsageError` naming the value when it is none of these. Whether its schema is a good one is for
    `agentmut.project.tool_checks` to say.
    """
    if isinstance(tool, ToolSpec):
        return tool
    if isinstance(tool, Mapping):
        return _from_mapping(tool)
    if hasattr(tool, "tool_call_schema") and hasattr(tool, "name"):  # LangChain, without importing it
        return _from_langchain(tool)
    if inspect.isclass(tool) and hasattr(tool, "model_json_schema"):
        return _from_model(tool)
    if hasattr(tool, "inputSchema") and hasattr(tool, "name"):  # MCP's Tool, without importing it
        return _from_mapping(
            {key: getattr(tool, key, None) for key in ("name", "description", "inputSchema")}
        )
    if callable(tool):
        return _from_function(tool)
    raise UsageError(
        f"cannot read a tool from {tool!r}: expected a mapping with a name, a function, "
        "a pydantic model or a LangChain tool"
    )


_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")


def lacks_schema(tool: Any) -> bool:
    """Return whether a tool is written as a mapping without parameters.

    >>> lacks_schema({"name": "refund"}), lacks_schema({"name": "now", "parameters": {}})
    (True, False)
    """
    if not isinstance(tool, Mapping):
        return False
    body = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
    return "name" in body and all(body.get(key) is None for key in _SCHEMA_KEYS)


def _from_mapping(tool: Mapping[str, Any]) -> ToolSpec:
    body = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
    name = body.get("name")
    if name is None and isinstance(body.get("properties"), Mapping):  # a JSON Schema that carries its name
        return _from_titled_schema(body)
    if not isinstance(name, str) or not name:
        raise UsageError(
            f"a tool has no name: {dict(tool)!r}. Expected name, description, parameters "
            "(or input_schema / inputSchema); tools that a service brings along cannot be mutated"
        )
    schema = next((body[key] for key in _SCHEMA_KEYS if body.get(key) is not None), EMPTY_SCHEMA)
    if not isinstance(schema, Mapping):
        raise UsageError(f"the parameters of the tool {name!r} are no JSON Schema: {schema!r:.80}")
    parameters = dict(schema) or dict(EMPTY_SCHEMA)
    return ToolSpec(name=name, description=body.get("description") or "", parameters=parameters)


def _from_titled_schema(schema: Mapping[str, Any]) -> ToolSpec:
    title = schema.get("title")
    if not isinstance(title, str) or not title:
        raise UsageError(f"a tool has no name: {dict(schema)!r}. A JSON Schema is named by its `title`")
    return ToolSpec(name=title, description=schema.get("description") or "", parameters=_unnamed(schema))


def _from_model(model: Any) -> ToolSpec:
    described = "" if model.__doc__ is None else inspect.getdoc(model) or ""
    return ToolSpec(
        name=model.__name__, description=described, parameters=_unnamed(model.model_json_schema())
    )


def _unnamed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without its description of the tool itself."""
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _from_langchain(tool: Any) -> ToolSpec:
    schema = tool.tool_call_schema
    parameters = schema if isinstance(schema, Mapping) else schema.model_json_schema()
    return ToolSpec(name=tool.name, description=tool.description or "", parameters=_unnamed(parameters))


def _from_function(function: Callable[..., Any]) -> ToolSpec:
    """Return names, types and defaults of the parameters; `self`, `*` and `**` are left out."""
    name = getattr(function, "__name__", type(function).__name__)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(cast(Any, _keywords_only(function)))
        schema = adapter.json_schema()
    except (NameError, TypeError, ValueError, PydanticUserError) as error:
        raise UsageError(f"cannot read a tool from the function {name}: {error}") from error
    described = {k: v for k, v in schema.items() if k != "additionalProperties"}
    return ToolSpec(name=name, description=inspect.getdoc(function) or "", parameters=described)


def _keywords_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the same named parameters, so that pydantic describes all of them in one object."""
    given = inspect.signature(function, eval_str=True).parameters.values()
    named = [
        parameter.replace(kind=parameter.KEYWORD_ONLY)
        for parameter in given
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.name != "self"
    ]

    def shell(**arguments: Any) -> None:
        return None

    typed = {p.name: p.annotation for p in named if p.annotation is not p.empty}
    shell.__dict__["__signature__"] = inspect.Signature(named)
    shell.__annotations__ = typed
    return shell
