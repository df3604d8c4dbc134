"""Tools and schemas that the operators' examples show."""

from collections.abc import Sequence

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, ToolSpec
from agentmut.seams import Example

LOOK_UP = ToolSpec(name="look_up_order", description="Look up an order by its number.")
CANCEL = ToolSpec(name="cancel_order", description="Cancel an order.")
REFUND = ToolSpec(name="issue_refund", description="Refund an order.")


def tools_example(before: Sequence[ToolSpec], after: Sequence[ToolSpec]) -> Example:
    """Return an example of a config with nothing but tools."""
    return Example(AgentConfig(tools=tuple(before)), AgentConfig(tools=tuple(after)))


def schema_example(before: dict[str, JsonValue], after: dict[str, JsonValue]) -> Example:
    """Return an example of one tool with these schemas."""
    config, first = (
        AgentConfig(tools=(REFUND.model_copy(update={"parameters": schema}),)) for schema in (before, after)
    )
    return Example(config, first)


def an_object(required: Sequence[str] = (), **properties: JsonValue) -> dict[str, JsonValue]:
    """Return the schema of an object, for examples."""
    schema: dict[str, JsonValue] = {"type": "object", "properties": dict(properties)}
    return {**schema, "required": list(required)} if required else schema
