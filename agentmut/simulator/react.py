"""Agents of smolagents, whose steps travel as text: read as calls and results, and answered in their terms.

A `ToolCallingAgent` is given calls, and tells of them and of their results in plain messages; the answer is a call of
`final_answer`, too. A `CodeAgent` is told of its tools in the prompt and is given code. Of their prompts only what the
user has written counts: the rest explains how to call tools, with examples that are not meant.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from agentmut.tools import ToolSpec
from agentmut.wire.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.wire.told_tools import ANSWER, told_tools

_CALLS = "Calling tools:\n"
_RESULT = "Observation:\n"
_TASK = "New task:\n"
_LOGS = "Execution logs:\n"
_LAST = "\nLast output from code snippet:"
_RULES = "Here are the rules you should always follow to solve your task:"
_LAST_RULE = "not providing directions to solve it.\n"
_SIGNED = "Returns an output of type:"
_BEGIN = re.compile(r"\s*Now Begin!\s*\Z")
_DELEGATED = re.compile(
    r"You're a helpful agent named '(\w+)'\.\nYou have been submitted this task by your manager\.\n"
    r"---\nTask:\n(.*?)\n---\n",
    re.DOTALL,
)
_PARTS = re.compile(rf"^(?={_TASK}|{_RESULT}|Error:\n|Call id: \w+\n)", re.MULTILINE)


class Form(NamedTuple):
    """How such an agent wants to be answered."""

    code: bool


def form_of(request: ModelRequest) -> Form | None:
    """The form of a request; None for that of any other agent."""
    if any(tool.name == ANSWER for tool in request.tools):
        return Form(code=False)
    if not request.tools and told_tools(request.system_text):
        return Form(code=True)
    return None


def understood(request: ModelRequest, form: Form) -> ModelRequest:
    """The request as an agent with calls and results of its own would have made it."""
    tools = told_tools(request.system_text) if form.code else request.tools
    return request.model_copy(
        update={
            "messages": (
                Message(role=Role.SYSTEM, text=_own_words(request.system_text, form)),
                *_messages(m for m in request.messages if m.role is not Role.SYSTEM),
            ),
            "tools": tuple(tool for tool in tools if tool.name != ANSWER),
            "tool_choice": None,
            "stop": (),
            "response_format": None,
        }
    )


def spelled(reply: ModelReply, form: Form) -> ModelReply:
    """The reply in the form in which the agent wants it."""
    calls = reply.tool_calls or (
        ToolCall(id=_id(reply), name=ANSWER, arguments=json.dumps({"answer": reply.text})),
    )
    if not form.code:
        finish = "length" if reply.finish_reason == "length" else "tool_calls"
        return reply.model_copy(update={"text": "", "tool_calls": calls, "finish_reason": finish})
    return reply.model_copy(update={"text": _as_code(calls[0]), "tool_calls": (), "finish_reason": "stop"})


def answered(request: ModelRequest, reply: Callable[..., ModelReply], **options: Any) -> ModelReply:
    """What `reply` answers to a request, in the form of the agent that asks."""
    form = form_of(request)
    if form is None:
        return reply(request, **options)
    if form.code:
        options |= {"parallel": False}
    asked = understood(request, form)
    told = _DELEGATED.search("\n".join(message.text for message in request.messages))
    if told:  # the same words to another: its choices are its own
        options["trial"] = f"{options.get('trial', '')}/{told[1]}"
    return spelled(_delegating(reply(asked, **options), asked), form)


def _delegating(reply: ModelReply, asked: ModelRequest) -> ModelReply:
    """Members of a team are given the user's words as their task: single words of them would not tell what to do."""
    members = {tool.name for tool in asked.tools if _is_member(tool)}
    task = next((m.text for m in reversed(asked.messages) if m.role is Role.USER), "")
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


def _as_code(call: ToolCall) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in json.loads(call.arguments).items())
    code = f"{call.name}({given})" if call.name == ANSWER else f"print({call.name}({given}))"
    return f"Thought: {call.name} is next.\n<code>\n{code}\n</code>"


def _own_words(system: str, form: Form) -> str:
    """What the user has written: after the rules of a CodeAgent, before those of the other, or all of it."""
    if form.code:
        return _BEGIN.sub("", system.partition(_LAST_RULE)[2] or system)
    before = system.partition(_RULES)[0]
    return before.rpartition(_SIGNED)[2].partition("\n")[2] if _SIGNED in before else before


def _messages(messages: Iterator[Message]) -> Iterator[Message]:
    """Each step of a text by itself."""
    pending: list[ToolCall] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            pending = _calls(message.text)
            if pending:
                yield from _told(pending)
            else:
                yield message
            continue
        for part in filter(None, _PARTS.split(message.text)):
            if part.startswith(_TASK) or not pending:
                yield Message(role=Role.USER, text=_asked(part))
            else:
                yield from _results(part, pending)
                pending = []


def _told(calls: list[ToolCall]) -> Iterator[Message]:
    """Calls as the model made them; that of the answer is what it said."""
    answers = [call for call in calls if call.name == ANSWER]
    if answers:
        said = json.loads(answers[0].arguments)
        yield Message(role=Role.ASSISTANT, text=str(said.get("answer", "")))
    else:
        yield Message(role=Role.ASSISTANT, tool_calls=tuple(calls))


def _results(part: str, calls: list[ToolCall]) -> Iterator[Message]:
    text = part.removeprefix(_RESULT).removeprefix(_LOGS).partition(_LAST)[0].strip()
    lines = text.split("\n") if len(calls) > 1 else [text]
    for number, call in enumerate(calls):
        if call.name != ANSWER:
            told = lines[number] if len(lines) == len(calls) else text
            yield Message(role=Role.TOOL, text=told, tool_call_id=call.id)


def _asked(part: str) -> str:
    text = part.removeprefix(_TASK).strip()
    found = _DELEGATED.search(text)
    return found[2].strip() if found else text


def _calls(text: str) -> list[ToolCall]:
    """The calls that a message tells of, as smolagents writes them down."""
    _, marked, told = text.rpartition(_CALLS)
    if not marked:
        return []
    try:
        found = ast.literal_eval(told.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    calls: list[ToolCall] = []
    for one in found if isinstance(found, list) else []:
        function, call_id = one["function"], str(one["id"])
        if function["name"] == "python_interpreter" and isinstance(function["arguments"], str):
            calls += _in_code(function["arguments"], call_id)
        else:
            calls.append(
                ToolCall(id=call_id, name=function["name"], arguments=json.dumps(function["arguments"]))
            )
    return calls


def _in_code(code: str, call_id: str) -> Iterator[ToolCall]:
    """The calls in a piece of code, but for those of `print`."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id != "print":
            given = {
                k.arg: k.value.value for k in node.keywords if k.arg and isinstance(k.value, ast.Constant)
            }
            yield ToolCall(id=f"{call_id}-{node.col_offset}", name=node.func.id, arguments=json.dumps(given))
