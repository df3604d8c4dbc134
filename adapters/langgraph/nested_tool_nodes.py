"""The tool nodes of a graph, of graphs in its nodes, and of agents in its functions and tools."""

import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any


def tool_nodes(graph: Any) -> Iterator[Any]:
    """Yield the tool nodes of the graph, of graphs in its nodes, and of agents that its functions and tools name.

    A function names what is in its closure, in the globals that it reads, or an attribute of the object that it is
    a method of; functions of its own module that it calls are looked into as well.
    """
    seen: set[int] = set()
    for node in graph.nodes.values():
        yield from _within(getattr(node, "bound", node), seen)


def _within(found: Any, seen: set[int]) -> Iterator[Any]:
    if id(found) in seen:
        return
    seen.add(id(found))
    if isinstance(getattr(found, "tools_by_name", None), Mapping):
        yield found
    for inner in _parts(found):
        yield from _within(inner, seen)


def _parts(found: Any) -> Iterator[Any]:
    """Yield what a graph, a tool node, a chain of runnables, a tool or a function consists of."""
    if isinstance(getattr(found, "tools_by_name", None), Mapping):
        for tool in found.tools_by_name.values():
            yield from _functions(tool)
    elif hasattr(found, "ainvoke") and isinstance(getattr(found, "nodes", None), Mapping):
        yield from (getattr(node, "bound", node) for node in found.nodes.values())
    elif isinstance(getattr(found, "steps", None), list | tuple):
        yield from found.steps
    else:
        yield from _functions(found)


def _functions(found: Any) -> Iterator[Any]:
    """Yield the objects named by the functions behind a runnable or a tool, if they may lead to tools."""
    for name in ("func", "afunc", "coroutine"):
        if callable(function := getattr(found, name, None)):
            yield from _named(function, set())


def _named(function: Any, seen: set[Any]) -> Iterator[Any]:
    while isinstance(function, functools.partial):
        yield from _agents((*function.args, *function.keywords.values()))
        function = function.func
    owner = getattr(function, "__self__", None)
    if owner is None and not inspect.isroutine(function):
        owner, function = function, type(function).__call__
    yield from _agents(getattr(owner, "__dict__", {}).values())
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not inspect.isfunction(function) or function in seen:
        return
    seen.add(function)
    for value in _outside(function):
        if type(value) is FunctionType and value.__module__ == function.__module__:
            yield from _named(value, seen)
        else:
            yield from _agents((value,))


def _outside(function: Any) -> Iterable[Any]:
    try:
        named = inspect.getclosurevars(function)
    except (TypeError, ValueError):  # a cell that is not filled yet
        return ()
    return (*named.nonlocals.values(), *named.globals.values())


def _agents(values: Iterable[Any]) -> Iterator[Any]:
    """Return the objects that are graphs or tool nodes, and graphs of which a method is named.

    Only what is a runnable by its type is asked for anything: others may be proxies that resent it.
    """
    for value in values:
        owner = value.__self__ if type(value) is MethodType else value
        if hasattr(type(owner), "ainvoke") and any(
            isinstance(getattr(owner, name, None), Mapping) for name in ("nodes", "tools_by_name")
        ):
            yield owner
