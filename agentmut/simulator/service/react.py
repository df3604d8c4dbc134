"""smolagents' agents, whose steps are text: read as calls and results, and answered in the same form.

A `ToolCallingAgent` is given calls, and tells of them and of their results in plain messages; the answer is a call of
`final_answer`, too. A `CodeAgent` is told of its tools in the prompt and is given code. Of their prompts only what the
user has written counts: the rest explains how to call tools, with examples that are not meant.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from agentmut.nouns import ANSWER, Message, ModelReply, ModelRequest, Role, ToolCall, ToolSpec, told_tools
from agentmut.simulator.service.react_history import DELEGATED, retold

_ANSWERS = "Provides a final answer to the given problem."
"""What smolagents says of the tool: others may have one of the same name."""
_RULES = "Here are the rules you should always follow to solve your task:"
_LAST_RULE = "not providing directions to solve it.\n"
_SIGNED = "Returns an output of type:"
_TAGS = re.compile(r"must be opened with '(.{1,80}?)', and closed with '(.{1,80}?)'")
_BEGIN = re.compile(r"(?<!\s)\s*+Now Begin!\s*\Z")


class Form(NamedTuple):
    """The form that such an agent wants for its answer."""

    code: bool
    tags: tuple[str, str] = ("<code>", "</code>")
    """What code stands between."""
    in_json: bool = False
    """Whether code is part of a JSON object instead."""


def form_of(request: ModelRequest) -> Form | None:
    """Return the form of a request; None for another kind of agent."""
    if any(tool.name == ANSWER and tool.description == _ANSWERS for tool in request.tools):
        return Form(code=False)
    if not request.tools and told_tools(request.system_text):
        said = _TAGS.search(request.system_text)
        tags = (said[1], said[2]) if said else Form._field_defaults["tags"]
        return Form(code=True, tags=tags, in_json=request.response_format is not None)
    return None


def understood(request: ModelRequest, form: Form) -> ModelRequest:
    """Return the request in the form of an agent with native tool calls."""
    tools = told_tools(request.system_text) if form.code else request.tools
    return request.model_copy(
        update={
            "messages": (
                Message(role=Role.SYSTEM, text=_own_words(request.system_text, form)),
                *retold(m for m in request.messages if m.role is not Role.SYSTEM),
            ),
            "tools": tuple(tool for tool in tools if tool.name != ANSWER),
            "tool_choice": None,
            "stop": (),
            "response_format": None,
        }
    )


def spelled(reply: ModelReply, form: Form) -> ModelReply:
    """Return the reply in the agent's form."""
    calls = reply.tool_calls or (
        ToolCall(id=_id(reply), name=ANSWER, arguments=json.dumps({"answer": reply.text})),
    )
    if not form.code:
        finish = "length" if reply.finish_reason == "length" else "tool_calls"
        return reply.model_copy(update={"text": "", "tool_calls": calls, "finish_reason": finish})
    return reply.model_copy(
        update={"text": _as_code(calls[0], form), "tool_calls": (), "finish_reason": "stop"}
    )


def answered(request: ModelRequest, reply: Callable[..., ModelReply], **options: Any) -> ModelReply:
    """Return what `reply` answers to a request, in the form of the agent that asks."""
    form = form_of(request)
    if form is None:
        return reply(request, **options)
    if form.code:
        options |= {"parallel": False}
    asked = understood(request, form)
    told = DELEGATED.search("\n".join(message.text for message in request.messages))
    if told:  # the same words to another: its choices are its own
        options["trial"] = f"{options.get('trial', '')}/{told[1]}"
    return spelled(_delegating(reply(asked, **options), asked), form)


def _delegating(reply: ModelReply, request: ModelRequest) -> ModelReply:
    """Give members of a team the user's words as their task, since single words would not be enough."""
    members = {tool.name for tool in request.tools if _is_member(tool)}
    task = next((m.text for m in reversed(request.messages) if m.role is Role.USER), "")
    calls = (
        call.model_copy(update={"arguments": json.dumps({"task": task})}) if call.name in members else call
        for call in reply.tool_calls
    )
    return reply.model_copy(update={"tool_calls": tuple(calls)})


def _is_member(tool: ToolSpec) -> bool:
    properties = tool.parameters.get("properties")
    return isinstance(properties, dict) and set(properties) == {"task", "additional_args"}


def _id(reply: ModelReply) -> str:
    return f"call_final_{len(reply.text)}"


def _as_code(call: ToolCall, form: Form) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in json.loads(call.arguments).items())
    code = f"{call.name}({given})" if call.name == ANSWER else f"print({call.name}({given}))"
    thought = f"{call.name} is next."
    if form.in_json:
        return json.dumps({"thought": thought, "code": code})
    return f"Thought: {thought}\n{form.tags[0]}\n{code}\n{form.tags[1]}"


def _own_words(system: str, form: Form) -> str:
    """Return the user's own words: after a CodeAgent's rules, before another agent's rules, or everything."""
    if form.code:
        return _BEGIN.sub("", system.partition(_LAST_RULE)[2] or system)
    before = system.partition(_RULES)[0]
    return before.rpartition(_SIGNED)[2].partition("\n")[2] if _SIGNED in before else before
