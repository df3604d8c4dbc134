"""Calling a codec under test: what it raises and what it changes of its arguments are faults."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from agentmut._base import canonical_json, one_line
from agentmut.nouns import Body, Codec, HttpCall, ModelReply, ModelRequest, ToolCall
from agentmut.wire.bodies import read_json, write_json

_Content = TypeVar("_Content", ModelRequest, ModelReply)


class Fault(NamedTuple):
    """A fault, with the name under which it can be expected."""

    check: str
    problem: str
    of: str = ""
    """The request that it was tried on."""


class _FailedError(Exception):
    """Raised when a call fails, to end the check that needs its result."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.problem)
        self.fault = fault


class Probe:
    """Calls the methods of a codec, and watches their arguments."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self._changed: dict[str, None] = {}

    def changed_arguments(self) -> Iterator[Fault]:
        """Return the methods that have changed what they were given since this was asked last."""
        found, self._changed = self._changed, {}
        return (Fault("arguments", f"{method}() changed what it was given") for method in found)

    def __call__(self, method: str, *arguments: Any, check: str = "", **options: Any) -> Any:
        """Return the result of a call that must not fail; an error is a fault of `check`, else of the method."""
        try:
            return self.raw(method, *arguments, **options)
        except Exception as error:
            raise _FailedError(Fault(check or method, f"{method}() raised {one_line(error)}")) from error

    def raw(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of a call that may raise."""
        before = repr(arguments)
        try:
            return getattr(self.codec, method)(*arguments, **options)
        finally:
            if repr(arguments) != before:
                self._changed[method] = None

    def decoded(self, call: HttpCall, body: Body, check: str = "") -> ModelRequest:
        """Return a request with this body in the normal form."""
        found: ModelRequest = self(
            "decode_request", HttpCall(call.path, write_json(body)), check=check or "decode_request"
        )
        return alike(found)

    def collected(self, check: Callable[..., Iterator[Fault]], *arguments: Any) -> list[Fault]:
        """Return the faults that a check finds, up to the first call that fails."""
        found: list[Fault] = []
        try:
            found.extend(check(self, *arguments))
        except _FailedError as error:
            found.append(error.fault)
        except (
            TypeError,
            AttributeError,
            KeyError,
            IndexError,
            ValueError,
        ) as error:  # results of another type
            found.append(
                Fault(check.__name__.removesuffix("_faults"), f"gave what cannot be used: {one_line(error)}")
            )
        return found


def parsed(call: HttpCall) -> Body:
    """Return the body of a request."""
    body: Body = read_json(call.body)
    return body


def written(value: Any) -> str:
    """Return JSON text in which order and type tell values apart."""
    return json.dumps(value)


def alike(content: _Content) -> _Content:
    """Return the value with the arguments of calls in one spelling: some dialects have objects."""
    if isinstance(content, ModelReply):
        return content.model_copy(update={"tool_calls": tuple(map(_spelled, content.tool_calls))})
    messages = tuple(
        message.model_copy(update={"tool_calls": tuple(map(_spelled, message.tool_calls))})
        for message in content.messages
    )
    return content.model_copy(update={"messages": messages})


def differences(found: _Content, expected: _Content) -> str:
    """Return the fields in which two differ, both values shown; empty where none does."""
    plain, wanted = found.model_dump(), expected.model_dump()
    shown = [
        f"{name} is {plain[name]!r:.300}, expected {wanted[name]!r:.300}"
        for name in wanted
        if canonical_json(plain[name]) != canonical_json(wanted[name])
    ]
    return "; ".join(shown)


def _spelled(call: ToolCall) -> ToolCall:
    try:
        return call.model_copy(update={"arguments": canonical_json(read_json(call.arguments))})
    except ValueError:
        return call
