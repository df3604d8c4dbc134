"""Steps of smolagents' agents in text form, read as calls and results."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from agentmut.nouns import ANSWER, Message, Role, ToolCall

_INTERPRETER = "python_interpreter"
_CALLS = "Calling tools:\n"
_RESULT = "Observation:\n"
_TASK = "New task:\n"
_LOGS = "Execution logs:\n"
_LAST = "\nLast output from code snippet:"
DELEGATED = re.compile(
    r"You're a helpful agent named '(\w+)'\.\nYou have been submitted this task by your manager\.\n"
    r"---\nTask:\n(.*?)\n---\n",
    re.DOTALL,
)
"""A task, as a member of a team is given it: its name, and the task."""
_FAILED = re.compile(
    r"Error executing (?:tool|request to team member) '(\w+)' with arguments (\{.*?\}): (.*?)\nPlease try again",
    re.DOTALL,
)
"""A call that failed is told of in no other way."""
_PARTS = re.compile(rf"^(?={_TASK}|{_RESULT}|Error:\n|Call id: \w+\n)", re.MULTILINE)


def retold(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages with their described calls and results, each step separately."""
    pending: list[ToolCall] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            pending = _calls(message.text)
            if pending:
                yield from _call_messages(pending)
            else:
                yield message
            continue
        for part in filter(None, _PARTS.split(message.text)):
            if failed := _FAILED.search(part):
                yield from _failure(failed, len(part))
            elif part.startswith(_TASK) or not pending:
                yield Message(role=Role.USER, text=_question(part))
            else:
                yield from _results(part, pending)
                pending = []


def _call_messages(calls: list[ToolCall]) -> Iterator[Message]:
    """Return the calls as the model made them; the call of the answer becomes the model's text."""
    answers = [call for call in calls if call.name == ANSWER]
    if answers:
        said = json.loads(answers[0].arguments)
        yield Message(role=Role.ASSISTANT, text=str(said.get("answer", "")))
    else:
        yield Message(role=Role.ASSISTANT, tool_calls=tuple(calls))


def _failure(found: re.Match[str], number: int) -> Iterator[Message]:
    call = ToolCall(
        id=f"failed-{number}", name=found[1], arguments=json.dumps(_literal(found[2]) or {}, default=str)
    )
    yield Message(role=Role.ASSISTANT, tool_calls=(call,))
    yield Message(role=Role.TOOL, text=f"Error: {found[3]}", tool_call_id=call.id)


def _literal(text: str) -> Any:
    """Read a Python literal; None if the text is none."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _results(part: str, calls: list[ToolCall]) -> Iterator[Message]:
    text = part.removeprefix(_RESULT).removeprefix(_LOGS).partition(_LAST)[0].strip()
    lines = text.split("\n") if len(calls) > 1 else [text]
    for number, call in enumerate(calls):
        if call.name != ANSWER:
            told = lines[number] if len(lines) == len(calls) else text
            yield Message(role=Role.TOOL, text=told, tool_call_id=call.id)


def _question(part: str) -> str:
    text = part.removeprefix(_TASK).strip()
    found = DELEGATED.search(text)
    return found[2].strip() if found else text


def _calls(text: str) -> list[ToolCall]:
    """Return the calls in a message, in the notation of smolagents."""
    _, marked, told = text.rpartition(_CALLS)
    found = _literal(told) if marked else None
    return (
        [call for one in found if isinstance(one, dict) for call in _call(one)]
        if isinstance(found, list)
        else []
    )


def _call(call: dict[Any, Any]) -> Iterator[ToolCall]:
    function = call.get("function")
    if not isinstance(function, dict):
        return
    name, arguments, call_id = str(function.get("name")), function.get("arguments"), str(call.get("id"))
    if name == _INTERPRETER and isinstance(arguments, str):
        yield from _in_code(arguments, call_id)
    else:
        given = arguments if isinstance(arguments, dict) else {"answer": arguments}
        yield ToolCall(id=call_id, name=name, arguments=json.dumps(given, default=str))


def _in_code(code: str, call_id: str) -> Iterator[ToolCall]:
    """Return the calls in a piece of code, except calls of `print`."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id != "print":
            given = {
                k.arg: k.value.value for k in node.keywords if k.arg and isinstance(k.value, ast.Constant)
            }
            yield ToolCall(
                id=f"{call_id}-{node.col_offset}", name=node.func.id, arguments=json.dumps(given, default=str)
            )
