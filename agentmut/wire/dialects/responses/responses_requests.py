"""Requests of OpenAI Responses, read into the normal form and written from it."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentmut.nouns import Body, Message, ModelRequest, OfferedTool, Role, ToolCall, ToolSpec
from agentmut.wire import bodies
from agentmut.wire.dialects.offers import read_spec
from agentmut.wire.dialects.openai_codec import read_content

ROLES: Mapping[str, Role] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}
CALLS = ("function_call", "custom_tool_call")
RESULTS = ("function_call_output", "custom_tool_call_output")


def decode(request: Mapping[str, Any]) -> ModelRequest:
    """Return a parsed body in the normal form. Raises `ValueError` naming the field that cannot be read."""
    read_model = bodies.text if request.get("prompt") else bodies.name  # a stored prompt may name it
    return ModelRequest(
        model=read_model(request.get("model"), "model"),
        messages=tuple(_messages(request)),
        tools=tuple(tool.spec for tool in offers(request) if tool.spec),
        temperature=request.get("temperature"),
        top_p=request.get("top_p"),
        max_tokens=request.get("max_output_tokens"),
        reasoning_effort=_inner(request, "reasoning", "effort"),
        tool_choice=choice_to_chat(request.get("tool_choice")),
        response_format=format_to_chat(_inner(request, "text", "format")),
        stream=bool(request.get("stream")),
    )


def encode(request: ModelRequest) -> Body:
    """Return a request in the dialect's form, which has no seed and no stop sequences."""
    messages = list(request.messages)
    instructed = messages[:1] if messages and messages[0].role is Role.SYSTEM else []
    told = [item for message in messages[len(instructed) :] for item in _written(message)]
    settings = {
        "instructions": instructed[0].text if instructed else None,
        "input": told,
        "tools": [tool_entry(tool) for tool in request.tools] or None,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        "reasoning": {"effort": request.reasoning_effort} if request.reasoning_effort is not None else None,
        "tool_choice": choice_from_chat(request.tool_choice),
        "text": {"format": format_from_chat(request.response_format)} if request.response_format else None,
        "stream": request.stream or None,
    }
    return {"model": request.model, **{key: value for key, value in settings.items() if value is not None}}


def items(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the items of the conversation; no items if the input is one text."""
    found = request.get("input")
    if isinstance(found, str):
        return []
    listed = bodies.listing(found, "input")
    return [bodies.mapping(item, f"input[{index}]") for index, item in enumerate(listed)]


def kind_of(item: Mapping[str, Any]) -> str:
    """Return the type of an item, which messages may leave out."""
    found = item.get("type")
    return found if isinstance(found, str) else "message" if "role" in item else "item_reference"


def role_of(item: Mapping[str, Any], where: str) -> Role:
    """Return the role of an item: calls, thoughts and the service's own actions belong to the assistant."""
    kind = kind_of(item)
    if kind == "message":
        return bodies.one_of(item.get("role"), ROLES, f"{where}.role")
    if kind == "mcp_approval_response":
        return Role.USER
    return Role.TOOL if kind.endswith("_output") else Role.ASSISTANT


def read_call(item: Mapping[str, Any], where: str) -> ToolCall:
    """Return the call that an item of one of the `CALLS` is."""
    custom = kind_of(item) == "custom_tool_call"
    return ToolCall(
        id=bodies.text(item.get("call_id"), f"{where}.call_id"),
        name=bodies.name(item.get("name"), f"{where}.name"),
        arguments=bodies.text(item.get("input" if custom else "arguments"), f"{where}.arguments"),
    )


def offers(request: Mapping[str, Any]) -> list[OfferedTool]:
    """Return the tools on offer; the service's own tools (web search, MCP servers, name spaces) have no spec."""
    return [
        OfferedTool(
            read_spec(entry, f"tools[{index}]")
            if bodies.mapping(entry, f"tools[{index}]").get("type") in KINDS
            else None,
            entry,
        )
        for index, entry in enumerate(bodies.listing(request.get("tools"), "tools"))
    ]


def tool_entry(tool: ToolSpec) -> Body:
    """Return a tool as an entry of `tools`, marked as not strict, since the service would make it strict."""
    described = tool.model_dump(include={"name", "description", "parameters"})
    return {"type": "function", **described, "strict": False}


def _messages(request: Mapping[str, Any]) -> Iterator[Message]:
    if request.get("instructions") is not None:
        yield Message(role=Role.SYSTEM, text=bodies.text(request["instructions"], "instructions"))
    if isinstance(request.get("input"), str):
        yield Message(role=Role.USER, text=request["input"])
    said: Message | None = None
    for index, item in enumerate(items(request)):
        where, kind = f"input[{index}]", kind_of(item)
        if kind in CALLS:  # calls belong to what the assistant said before them
            said = said or Message(role=Role.ASSISTANT)
            said = said.model_copy(update={"tool_calls": (*said.tool_calls, read_call(item, where))})
        elif kind == "message" or kind in RESULTS:
            if said:
                yield said
            message = _message(item, kind, where)
            said = message if message.role is Role.ASSISTANT else None
            if not said:
                yield message
    if said:
        yield said


def _message(item: Mapping[str, Any], kind: str, where: str) -> Message:
    if kind == "message":
        return Message(role=role_of(item, where), text=read_content(item.get("content"), f"{where}.content"))
    call_id = bodies.text(item.get("call_id"), f"{where}.call_id")
    return Message(
        role=Role.TOOL, text=read_content(item.get("output"), f"{where}.output"), tool_call_id=call_id
    )


def _written(message: Message) -> Iterator[Body]:
    if message.role is Role.TOOL:
        yield result_item(message.tool_call_id or "", message.text)
        return
    if message.text or not message.tool_calls:
        yield {"role": message.role.value, "content": message.text}
    for call in message.tool_calls:
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def result_item(call_id: str, text: str, kind: str = "function_call_output") -> Body:
    """Return the result of a call as an item of the conversation."""
    return {"type": kind, "call_id": call_id, "output": text}


def _inner(request: Mapping[str, Any], key: str, inner: str) -> Any:
    return bodies.mapping(request.get(key) or {}, key).get(inner)


KINDS = ("function", "custom")


def choice_to_chat(choice: Any) -> Any:
    """Return a tool choice in the form of Chat Completions, where the tool is below its kind.

    >>> choice_to_chat({"type": "function", "name": "pay"})
    {'type': 'function', 'function': {'name': 'pay'}}
    """
    kind = choice.get("type") if isinstance(choice, dict) else None
    rest = {key: value for key, value in choice.items() if key != "type"} if kind else {}
    if kind in KINDS and "name" in rest:
        return {"type": kind, kind: rest}
    if kind == "allowed_tools" and isinstance(rest.get("tools"), list):
        return {"type": kind, kind: {**rest, "tools": [choice_to_chat(tool) for tool in rest["tools"]]}}
    return choice


def choice_from_chat(choice: Any) -> Any:
    """Translate a tool choice of Chat Completions; other forms stay unchanged."""
    kind = choice.get("type") if isinstance(choice, dict) else None
    inner = choice.get(kind) if kind in (*KINDS, "allowed_tools") else None
    if not isinstance(inner, dict):
        return choice
    if isinstance(inner.get("tools"), list):
        inner = {**inner, "tools": [choice_from_chat(tool) for tool in inner["tools"]]}
    return {"type": kind, **inner}


def format_to_chat(found: Any) -> Any:
    """Return a format of answers in the form of Chat Completions, where the schema is below its kind."""
    if isinstance(found, dict) and found.get("type") == "json_schema" and "json_schema" not in found:
        return {
            "type": "json_schema",
            "json_schema": {key: value for key, value in found.items() if key != "type"},
        }
    return found


def format_from_chat(found: Any) -> Any:
    """Return a format of answers in the form of Responses."""
    inner = found.get("json_schema") if isinstance(found, dict) else None
    return {"type": "json_schema", **inner} if isinstance(inner, dict) else found
