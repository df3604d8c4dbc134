"""The code that finds an agent's tools by their offered names instead of their own names."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__agentmut_finds_offered_tools__"
_PASSING = "__agentmut_passes_tools__"


def finds_offered_tools(function: F) -> F:
    """Mark a function that finds the agent's tools by the names that a config offers.

    For adapters: an agent whose module uses a function that is so marked can be run with tools renamed and
    added, as their calls find what is meant.
    """
    setattr(function, _MARK, True)
    return function


def passes_tools(function: F) -> F:
    """Mark a function that passes all tools of a config through agentmut."""
    setattr(function, _PASSING, True)
    return function


def calls_by_offered_name(module: object) -> bool:
    """Return whether the code of a module uses `toolbox`, or what does the same for a framework."""
    return any(_is_marked(value, _MARK) or _uses(value, _MARK) for value in vars(module).values())


def passes_all_tools(module: object) -> bool:
    """Return whether the code of a module uses what `passes_tools` marks."""
    return any(_is_marked(value, _PASSING) or _uses(value, _PASSING) for value in vars(module).values())


def _is_marked(value: object, mark: str) -> bool:
    return getattr(value, mark, False) is True


def _uses(value: Any, mark: str) -> bool:
    if inspect.isclass(value):
        return any(
            isinstance(member, FunctionType) and _uses(member, mark) for member in vars(value).values()
        )
    if not isinstance(value, FunctionType):
        return False
    function = inspect.unwrap(value)
    if not isinstance(function, FunctionType):  # a wrapper around `object.__init__` or another part of Python
        return False
    names = frozenset(_names(function.__code__))
    known = getattr(function, "__globals__", {})
    found = [*(known.get(name) for name in names), *filter(None, map(_module, names))]
    return _leads_to_mark(found, names, mark)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the globals, attributes and modules that code and the functions in it name."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _module(name: str) -> ModuleType | None:
    """Return what a function imports by that name.

    Only modules of packages that are there already are imported here.
    """
    package, dot, _ = name.partition(".")
    if name in sys.modules or not dot or package not in sys.modules:
        return sys.modules.get(name)
    try:
        return importlib.import_module(name)
    except ImportError:  # then the agent cannot do so either, and its run will tell
        return None


def _leads_to_mark(values: list[Any], names: frozenset[str], mark: str) -> bool:
    """Return whether one of the values, or what modules among them have under the names, is marked."""
    seen: set[int] = set()
    while values:
        value = values.pop()
        if _is_marked(value, mark):
            return True
        if isinstance(value, ModuleType) and id(value) not in seen:
            seen.add(id(value))
            values += [getattr(value, name, None) for name in names]
    return False
