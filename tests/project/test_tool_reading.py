"""Tools as they come: every dialect read into one form, and what is wrong with them said at once."""

import json
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from langchain_core.tools import StructuredTool, tool
from pydantic import BaseModel, Field

from agentmut._base.errors import ProjectError, UsageError
from agentmut.nouns.tools import ToolSpec, read_tool
from agentmut.project.parts import read_tools
from agentmut.project.tool_checks import check_tool, check_tools

SCHEMA = {
    "type": "object",
    "properties": {"order": {"type": "string", "description": "Its number."}},
    "required": ["order"],
}
FIND = ToolSpec(name="find", description="Find an order.", parameters=SCHEMA)


@dataclass
class McpTool:
    """As in the MCP SDK: attributes, with more of them than are needed."""

    name: str
    description: str | None
    inputSchema: dict[str, Any]  # noqa: N815
    outputSchema: None = None  # noqa: N815
    annotations: None = None


@pytest.mark.parametrize(
    "given",
    [
        {
            "type": "function",
            "function": {
                "name": "find",
                "description": "Find an order.",
                "parameters": SCHEMA,
                "strict": True,
            },
        },
        {
            "type": "function",
            "name": "find",
            "description": "Find an order.",
            "parameters": SCHEMA,
            "strict": None,
        },
        {"name": "find", "description": "Find an order.", "input_schema": SCHEMA, "cache_control": {}},
        {"name": "find", "title": "Find", "description": "Find an order.", "inputSchema": SCHEMA},
        McpTool("find", "Find an order.", SCHEMA),
        {"title": "find", "description": "Find an order.", **SCHEMA},
        FIND,
    ],
    ids=["chat", "responses", "anthropic", "mcp json", "mcp object", "json schema", "ours"],
)
def test_each_dialect_of_a_tool_is_read_alike(given: Any) -> None:
    assert check_tool(read_tool(given)) == FIND


@pytest.mark.parametrize(
    "given", [{"name": "ping"}, {"name": "ping", "parameters": None}, {"name": "ping", "parameters": {}}]
)
def test_a_tool_without_parameters_takes_none(given: Any) -> None:
    assert read_tool(given) == ToolSpec(name="ping", parameters={"type": "object", "properties": {}})


class Reason(Enum):
    DAMAGED = "damaged"
    LATE = "late"


class Refund(BaseModel):
    """Refund an order."""

    order: str = Field(min_length=4, description="Its number.", pattern="^A-")
    amount: float = Field(default=1.0, ge=0, le=500)
    reason: Reason


def refund(
    order: Annotated[str, Field(min_length=4, description="Its number.", pattern="^A-")],
    reason: Reason,
    amount: Annotated[float, Field(ge=0, le=500)] = 1.0,
) -> str:
    """Refund an order."""
    return order


def optional(
    speed: Literal["slow", "fast"],
    wait: int | None = None,
    *args: Any,
    tags: list[str] | None = None,
    **more: Any,
) -> None:
    """Wait."""


REFUND = {
    "order": {"type": "string", "minLength": 4, "description": "Its number.", "pattern": "^A-"},
    "amount": {"type": "number", "minimum": 0, "maximum": 500, "default": 1.0},
    "reason": {"$ref": "#/$defs/Reason"},
}


@pytest.mark.parametrize("given", [Refund, refund, tool(refund), StructuredTool.from_function(refund)])
def test_constraints_of_models_and_functions_are_read(given: Any) -> None:
    found = check_tool(read_tool(given))
    assert (found.name.lower(), found.description) == ("refund", "Refund an order.")
    assert sorted(found.parameters["required"]) == ["order", "reason"]  # type: ignore[arg-type, type-var]
    assert untitled(found.parameters["properties"]) == REFUND
    assert untitled(found.parameters["$defs"])["Reason"]["enum"] == ["damaged", "late"]


def untitled(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: untitled(item) for key, item in value.items() if key != "title"}


def test_choices_and_defaults_of_a_function_are_read_and_variadic_parameters_left_out() -> None:
    properties = untitled(read_tool(optional).parameters)
    assert properties["properties"] == {
        "speed": {"type": "string", "enum": ["slow", "fast"]},
        "wait": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "tags": {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            "default": None,
        },
    }
    assert properties["required"] == ["speed"]


def test_a_model_without_a_docstring_is_not_described_by_its_base() -> None:
    class Ping(BaseModel):
        host: str

    found = read_tool(Ping)
    assert (found.name, found.description, "title" in found.parameters) == ("Ping", "", False)


def of(**properties: Any) -> Any:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        (
            of(a={"type": "strng"}),
            r"/properties/a/type: 'strng' is no type of JSON Schema. Did you mean 'string'",
        ),
        (
            {**of(order={}), "required": ["odrer"]},
            r"/required/0: 'odrer' is required, but is no property. Did you mean 'order'\?",
        ),
        (of(a={**of(), "required": ["b"]}), "/properties/a/required/0: 'b' is required"),
        ({"type": "object", "properties": ["a"]}, r"/properties: \['a'\] is not of type 'object'"),
        ({"type": "object", "required": "a"}, "/required: 'a' is not of type 'array'"),
        (of(a={"minimum": "1"}), "/properties/a/minimum: '1' is not of type 'number'"),
        (of(a={"exclusiveMinimum": True}), "/properties/a/exclusiveMinimum: True is not of type 'number'"),
        (of(a={"$ref": "#/$defs/B"}), r"/properties/a/\$ref: #/\$defs/B leads nowhere"),
        ({"type": "string"}, "/type: 'string'; a tool takes an object"),
        ({"order": {"type": "string"}}, ": no JSON Schema keyword here, only order. Put parameters under"),
    ],
)
def test_a_schema_that_is_none_is_refused_with_place_and_remedy(schema: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=rf"the tool 'find': parameters{complaint}"):
        check_tool(ToolSpec(name="find", parameters=schema))


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {**of(a={}), "required": ["b"], "patternProperties": {"^b$": {}}},
        {**of(a={}, b={}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            **of(a={"minimum": 1, "exclusiveMinimum": True}),
        },
        of(a={"$ref": "https://example.org/a.json"}),
        {**of(order={"type": "string"}), "x-vendor": {"any": "thing"}},
    ],
)
def test_what_json_schema_allows_is_accepted(schema: Any) -> None:
    check_tool(ToolSpec(name="find", parameters=schema))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"type": "web_search"}, "a tool has no name: {'type': 'web_search'}.*tools that a service brings along"),
        ({"type": "object", "properties": {}}, "A JSON Schema is named by its `title`"),
        ({"name": "find", "parameters": ["order"]}, r"parameters of the tool 'find' are no JSON Schema: \['order'\]"),
        ({"name": "find", "parameters": []}, "the parameters of the tool 'find' are no JSON Schema"),
        (3, "cannot read a tool from 3"),
    ],
)  # fmt: skip
def test_what_is_no_tool_is_refused(given: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_tool(given)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="more than one tool is named 'find'"):
        check_tools([FIND, FIND])


def test_a_tools_file_says_which_tool_is_wrong(tmp_path: Path) -> None:
    wrong = {"name": "pay", "parameters": {"type": "object", "properties": {"a": {"type": "int"}}}}
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "find"}, wrong]))
    with pytest.raises(ProjectError) as error:
        read_tools("tools.json", tmp_path)
    assert str(error.value) == (
        "tools.json: tool 2: the tool 'pay': parameters/properties/a/type: 'int' is no type of JSON Schema. "
        "Did you mean 'integer'?"
    )


def test_tools_of_a_module_are_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "wrongly_required.py").write_text(
        "from agentmut.nouns.tools import ToolSpec\n"
        "TOOLS = [ToolSpec(name='pay', parameters={'type': 'object', 'properties': {}, 'required': ['a']})]\n"
    )
    with pytest.raises(ProjectError, match="tool 1: the tool 'pay': parameters/required/0: 'a' is required"):
        read_tools("wrongly_required:TOOLS", tmp_path)
