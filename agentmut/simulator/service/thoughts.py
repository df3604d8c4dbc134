"""ReAct agents of LlamaIndex, whose calls and results are sent as text: read as such, and answered in their terms.

Of their prompts only what the user has written counts: the rest explains the format, with examples that are not meant.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agentmut.nouns import Message, ModelReply, ModelRequest, Role, ToolCall, listed_tools

_OWN = re.compile(
    r"^Here is some context to help you .*?:\n(.*?)\n\s*## Output Format$", re.MULTILINE | re.DOTALL
)
_CALL = re.compile(r"\AThought: .*?^Action: (\S+)\nAction Input: (\{.*\})\Z", re.MULTILINE | re.DOTALL)
_ANSWER = "\nAnswer: "
_RESULT = "Observation: "


def answered(request: ModelRequest, reply: Callable[..., ModelReply], **options: Any) -> ModelReply:
    """Return what `reply` answers to a request, as text where the agent is told of its tools in text."""
    if request.tools or not listed_tools(request.system_text):
        return reply(request, **options)
    return _spelled(reply(_understood(request), **{**options, "parallel": False}))


def _understood(request: ModelRequest) -> ModelRequest:
    """Return the request as an agent with native tool calls would have made it."""
    system = _OWN.search(request.system_text)
    said = (message for message in request.messages if message.role is not Role.SYSTEM)
    messages = (Message(role=Role.SYSTEM, text=system[1] if system else ""), *_messages(said))
    return request.model_copy(update={"messages": messages, "tools": listed_tools(request.system_text)})


def _messages(messages: Iterable[Message]) -> Iterator[Message]:
    pending: ToolCall | None = None
    for number, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            pending = _call(message.text, f"thought-{number}")
            yield (
                Message(role=Role.ASSISTANT, tool_calls=(pending,))
                if pending
                else Message(role=Role.ASSISTANT, text=message.text.rpartition(_ANSWER)[2])
            )
        elif pending and message.text.startswith(_RESULT):
            text = message.text.removeprefix(_RESULT)
            yield Message(role=Role.TOOL, text=text, tool_call_id=pending.id)
            pending = None
        else:
            yield message


def _call(text: str, call_id: str) -> ToolCall | None:
    """Return the call that a message tells of; LlamaIndex writes its arguments down as Python does."""
    found = _CALL.match(text.strip())
    if found is None:
        return None
    try:
        arguments = ast.literal_eval(found[2])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return ToolCall(id=call_id, name=found[1], arguments=json.dumps(arguments))


def _spelled(reply: ModelReply) -> ModelReply:
    """Return the reply in the form in which the agent wants it."""
    if reply.tool_calls:
        call = reply.tool_calls[0]
        text = f"Thought: I need to use a tool.\nAction: {call.name}\nAction Input: {call.arguments}"
        return reply.model_copy(update={"text": text, "tool_calls": (), "finish_reason": "stop"})
    text = f"Thought: I can answer without using any more tools.{_ANSWER}{reply.text}"
    return reply.model_copy(update={"text": text})
