"""The answer inside the output of a program or a service."""

import json
from collections.abc import Callable
from typing import Any

from pydantic import JsonValue

from agentmut._base import UsageError, parts_of, pointer
from agentmut.wire.bodies import read_json


class NoAnswerError(ValueError):
    """The output has no answer at the place that the project file names: the agent's failure."""


def check_pointer(answer: str | None) -> None:
    """Raise `UsageError` unless `agent.answer` is a JSON pointer, or left out."""
    if answer and not answer.startswith("/"):
        raise UsageError(
            f"agent.answer: {answer!r} is no JSON pointer; write it as in `/reply/text` or `/choices/0`"
        )


def answer_in(text: str, answer: str, source: str, redact: Callable[[str], str] = str) -> JsonValue:
    """Return the value at the pointer `answer` of a JSON text.

    Raises `NoAnswerError` that says what is there instead; `redact` takes secrets out of that before it is cut.
    """
    try:
        value = read_json(text)
    except ValueError as error:
        raise NoAnswerError(
            f"{source} holds no {answer or 'answer'}: {error}; it begins {redact(text)[:80]!r}"
        ) from None
    return _at(value, answer, source, redact)


def _at(value: Any, answer: str, source: str, redact: Callable[[str], str]) -> JsonValue:
    path = parts_of(answer)
    for depth, part in enumerate(path):
        inside = _inside(value, part)
        if inside is None:
            here = pointer(path[:depth]) or "the whole"
            raise NoAnswerError(f"{source} has no {answer}: {here} is {_shortened(value, redact)}")
        value = inside[0]
    found: JsonValue = value
    return found


def _inside(value: Any, part: str) -> tuple[Any] | None:
    """Return the value under a key or an index; None if there is none."""
    if isinstance(value, dict) and part in value:
        return (value[part],)
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return (value[int(part)],)
    return None


def _shortened(value: Any, redact: Callable[[str], str]) -> str:
    if isinstance(value, dict):
        return f"an object with {', '.join(map(repr, list(value)[:8])) or 'nothing in it'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"{redact(json.dumps(value)):.80}"
