"""Tool doubles and per-trial hooks: from a scenario's description to callable objects."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentmut._base import import_callable
from agentmut.nouns import Scenario, ToolDouble

Double = Callable[..., Any]
Hook = Callable[[Scenario], Any]


class ToolDoubleError(Exception):
    """The error of a double with `raises`: the agent sees it as the tool's own failure."""


@dataclass(frozen=True)
class Hooks:
    """The functions that a scenario calls around each trial, with the scenario as argument. They may be async."""

    setup: Hook | None = None
    teardown: Hook | None = None


def resolve(double: ToolDouble, root: Path | None = None) -> Double:
    """Return what to call, with the tool's arguments, instead of the tool.

    A fixed result is given as a fresh copy each time. A `python` double is the user's function itself,
    sync or async, found from `root`. Raises `UsageError` when that cannot be imported or called.
    """
    if double.python is not None:
        return import_callable(double.python, root)
    if double.raises is not None:
        return _raising(double.raises)
    return _returning(double.returns)


def resolve_doubles(scenario: Scenario, root: Path | None = None) -> dict[str, Double]:
    """Return the doubles of a scenario by the name of the tool that each replaces."""
    return {name: resolve(double, root) for name, double in scenario.tools.items()}


def resolve_hooks(scenario: Scenario, root: Path | None = None) -> Hooks:
    """Return the scenario's setup and teardown. Raise `UsageError` if one cannot be imported or called."""
    setup, teardown = (
        import_callable(reference, root) if reference else None
        for reference in (scenario.setup, scenario.teardown)
    )
    return Hooks(setup, teardown)


def _raising(message: str) -> Double:
    def fail(*args: Any, **arguments: Any) -> Any:
        raise ToolDoubleError(message)

    return fail


def _returning(value: Any) -> Double:
    def answer(*args: Any, **arguments: Any) -> Any:
        return copy.deepcopy(value)  # the agent may change what it is given

    return answer
