"""Calls of tools as instrumentations of LangChain write them down: LangChain's own values in JSON."""

from collections.abc import Mapping
from typing import Any

from agentmut.trace_formats.otlp.messages import inside, mapping
from agentmut.trace_formats.otlp.spans import Attributes, decoded

_NODE = "traceloop.association.properties.langgraph_node"


def node_of(attributes: Attributes) -> str | None:
    """Return the node of a graph of LangGraph in which Traceloop's span is; None outside of such a graph."""
    node = attributes.get(_NODE)
    return str(node) if node else None


def arguments(value: Any) -> Any:
    """Return the arguments among what LangChain tells its callbacks of a call; any other value is returned unchanged.

    >>> arguments({"input_str": "{'id': 1}", "tags": [], "inputs": {"id": 1}})
    {'id': 1}
    """
    if not isinstance(value, Mapping) or not {"input_str", "inputs"} <= value.keys():
        return value
    return value["inputs"] if isinstance(value["inputs"], Mapping) else decoded(value["input_str"])


def returned(serialised: Any) -> dict[str, Any]:
    """Return result, id and error of a call, as fields of `SpanFacts`, from a message of a tool that LangChain has
    serialised; {} for any other value.

    >>> said = {"content": "shipped", "tool_call_id": "c1", "status": "success"}
    >>> returned('{"output": {"lc": 1, "type": "constructor", "kwargs": %s}}' % str(said).replace("'", '"'))
    {'answer': 'shipped', 'call_id': 'c1'}
    """
    value = mapping(decoded(serialised))
    message = inside(mapping(value.get("output", value)))
    if not {"content", "tool_call_id"} <= message.keys():
        return {}
    found = {"answer": message["content"], "call_id": message["tool_call_id"]}
    return found | ({"error": str(message["content"])} if message.get("status") == "error" else {})
