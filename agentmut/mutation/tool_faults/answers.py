"""The result of a tool call under a fault.

`instead_of_call` is what a call meets whose tool is not carried out, `spoiled` what becomes of a result.
Both are pure; `faulty` brings them to the calls of a trial.
"""

import copy
import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from agentmut.mutation.tool_faults.spoiling import SPOILERS
from agentmut.nouns import FaultKind


class ToolFailure(Exception):  # noqa: N818  (agents and models are shown the names of its kinds)
    """The error that a fault raises; the agent sees it as the tool's own failure."""


class ServiceError(ToolFailure):
    """The service behind the tool is down."""


class ServiceTimeoutError(ToolFailure, TimeoutError):
    """The service behind the tool did not answer."""


class AccessDeniedError(ToolFailure, PermissionError):
    """The service behind the tool refused access."""


class ResultForm(StrEnum):
    """The type of result that callers of a tool expect, by its annotation."""

    TEXT = "text"
    MAPPING = "mapping"
    """A mapping, or not known: most tools answer with one."""
    OTHER = "other"
    """A value that cannot hold a message."""


_MAPPINGS = frozenset({"dict", "Mapping", "MutableMapping", "Any", "object", "JsonValue", "_empty"})


def form_of(function: Callable[..., Any]) -> ResultForm:
    """Return the form of a function's results, by its return annotation.

    >>> form_of(len), form_of(repr)
    (<ResultForm.MAPPING: 'mapping'>, <ResultForm.MAPPING: 'mapping'>)
    """
    try:
        annotation = inspect.signature(function).return_annotation
    except (TypeError, ValueError):
        return ResultForm.MAPPING
    written = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    name = written.partition("[")[0].partition("|")[0].strip(" '\"").rpartition(".")[2]
    if name == "str":
        return ResultForm.TEXT
    return ResultForm.MAPPING if name in _MAPPINGS or _is_typed_dict(annotation) else ResultForm.OTHER


def _is_typed_dict(annotation: Any) -> bool:
    return isinstance(annotation, type) and hasattr(annotation, "__required_keys__")


_UNFLAGGED = "upstream connect error or disconnect/reset before headers"
"""The words of a proxy whose service is down."""


def instead_of_call(kind: FaultKind, form: ResultForm) -> Any:
    """Return the answer to a call under a fault of `UNCALLED`, or raise a `ToolFailure`. The tool is not run."""
    if kind is FaultKind.ERROR:
        raise ServiceError("503 Service Unavailable")
    if kind is FaultKind.GENERIC_ERROR:
        raise ServiceError("Something went wrong.")
    if kind in (FaultKind.TIMEOUT, FaultKind.HANGS):
        raise ServiceTimeoutError("The read operation timed out")
    if kind is FaultKind.DECOY:
        return decoy_answer(form)
    if kind is FaultKind.FALSE_SUCCESS:
        return "OK" if form is ResultForm.TEXT else {"status": "ok"}
    if kind is FaultKind.UNFLAGGED_ERROR:
        return _UNFLAGGED if form is ResultForm.TEXT else {"message": _UNFLAGGED}
    denied = "403 Forbidden: permission denied"
    if form is ResultForm.OTHER:
        raise AccessDeniedError(denied)
    return f"Error: {denied}" if form is ResultForm.TEXT else {"error": denied}


def decoy_answer(form: ResultForm = ResultForm.TEXT) -> Any:
    """Return the answer of a decoy: a tool without an implementation."""
    return "Nothing was found." if form is ResultForm.TEXT else {"results": []}


def spoiled(kind: FaultKind, result: Any, first: Any) -> Any:
    """Return what replaces a result; the result itself if the fault changes nothing.

    `first` is the result of the tool's first call in the trial, which a stale one repeats. The result is
    not changed in place.
    """
    if kind is FaultKind.STALE:
        return copied(first)
    try:
        return SPOILERS[kind](result) if kind in SPOILERS else result
    except RecursionError:  # a value that holds itself
        return result


def copied(value: Any) -> Any:
    """Return a deep copy of `value`, or `value` itself if it cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:  # whatever an agent's own objects raise
        return value
