"""Messages of a model call in one form, and the facts of a span that they hold."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut._base import UsageError, jsonable
from agentmut.nouns import ModelConfig, ToolSpec, read_tool
from agentmut.trace_formats.conversation import Call
from agentmut.trace_formats.otlp.spans import decoded


class AnyMessage(NamedTuple):
    """A message of any convention, which may hold texts, calls and results at once."""

    role: str
    text: JsonValue = None
    calls: tuple[Call, ...] = ()
    results: tuple[tuple[str, JsonValue], ...] = ()
    """Results of tools, by the id of the call."""


class Heard(NamedTuple):
    """The input of a model call: system messages, words of the user, results of tools."""

    prompt: str
    users: tuple[JsonValue, ...]
    results: dict[str, JsonValue]


def heard(messages: Iterable[AnyMessage]) -> Heard:
    """Return the system messages, what the user said, and results of tools."""
    spoken = list(messages)
    system = [str(one.text) for one in spoken if one.role in ("system", "developer") and one.text]
    users = tuple(one.text for one in spoken if one.role in ("user", "human") and one.text not in (None, ""))
    return Heard("\n\n".join(system), users, {k: v for one in spoken for k, v in one.results})


def texts(parts: Iterable[Any]) -> JsonValue:
    """Join the texts of a message into one; None for a message without text."""
    found = [str(one) for one in parts if one not in (None, "")]
    return "\n".join(found) if found else None


def reply(messages: Sequence[AnyMessage]) -> tuple[JsonValue, tuple[Call, ...]]:
    """Return what a model answered, and the calls that it asked for."""
    return texts(one.text for one in messages), tuple(call for one in messages for call in one.calls)


def tools_of(definitions: Any) -> tuple[ToolSpec, ...]:
    """Return the tools of a list of definitions, or of its JSON; unreadable definitions are left out."""
    if not definitions:
        return ()
    return _read_tools(definitions if isinstance(definitions, str) else json.dumps(definitions))


@lru_cache(maxsize=512)
def _read_tools(definitions: str) -> tuple[ToolSpec, ...]:
    """Return the tools of a JSON list. Every model call of a run names the same ones, and trials share them."""
    found = []
    listed = decoded(definitions)
    for one in listed if isinstance(listed, list) else ():
        try:
            found.append(read_tool(one))
        except (UsageError, ValueError, TypeError):  # built-in tools of services have no schema
            continue
    return tuple(found)


def model_of(**settings: Any) -> ModelConfig:
    """Return a model with its settings. Raises `ValueError` for an invalid setting."""
    try:
        return _same_model(tuple(settings.items()))
    except TypeError:  # a list is no setting, and says so by its own error
        return ModelConfig(**settings)


@lru_cache(maxsize=512)
def _same_model(settings: tuple[tuple[str, Any], ...]) -> ModelConfig:
    """Return one model for all calls with the same settings: a file has 100,000 calls and few models."""
    return ModelConfig(**dict(settings))


def result(id: Any, value: Any) -> tuple[tuple[str, JsonValue], ...]:
    """Return the result of a call, if it has an id."""
    return ((str(id), jsonable(value)),) if id else ()


def whole(value: Any) -> int:
    """Return a number of tokens; 0 for any value that is not a number."""
    return int(value) if isinstance(value, int | float) else 0


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def inside(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Unwrap a message that LangChain has serialised."""
    return mapping(message.get("kwargs")) or mapping(message.get("data")) or message
