"""The keys of the state that a node's code reads, as far as its source shows."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any


def keys_read(runnable: Any, keys: Iterable[str]) -> list[str]:
    """Return the `keys` that the node's function reads, directly or through functions of its module.

    None where the code does not touch its state. All of them where there is no source to look into, or where
    it names none: the state may be handed on as a whole. A graph in a node reads the keys that it has.
    """
    keys = list(keys)
    if hasattr(runnable, "builder"):
        return [key for key in keys if key in runnable.builder.channels]
    function = _plain(getattr(runnable, "func", None) or getattr(runnable, "afunc", None))
    tree = _source(function)
    if tree is None:
        return keys
    if not any(_is_passed(node, _passed(function)) for node in ast.walk(tree)):
        return []
    read = set(_read(tree, function, set()))
    return [key for key in keys if key in read] or keys


def _plain(function: Any) -> Any:
    """Return the function behind partials, decorators, methods and callable objects; None if there is none."""
    while isinstance(function, functools.partial):
        function = function.func
    if function is not None and not inspect.isroutine(function):
        function = type(function).__call__ if callable(function) else None
    function = inspect.unwrap(function) if function else None
    function = getattr(function, "__func__", function)
    return function if inspect.isfunction(function) else None


def _source(function: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # built in, typed in, or a lambda amid an expression
        return None


def _passed(function: Any) -> set[str]:
    """Return the name of what the function is passed first, or a method second."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {name for name in names[:2] if name not in ("self", "config", "runtime")}


def _is_passed(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names


def _read(tree: ast.AST, function: Any, seen: set[Any]) -> Iterator[str]:
    seen.add(function)
    yield from (key for node in ast.walk(tree) for key in _keys(node, _passed(function)))
    for helper in _helpers(function):
        if helper not in seen and (inside := _source(helper)) is not None:
            yield from _read(inside, helper, seen)


def _keys(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield what a piece of code reads by name: `x["key"]`, `x.get("key")`, `"key" in x`, and of `names`, `x.key`."""
    parts: list[Any] = []
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        parts = [node.slice]
    elif isinstance(node, ast.Attribute) and _is_passed(node.value, names):
        yield node.attr
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("get", "pop"):
        parts = node.args[:1]
    elif isinstance(node, ast.Compare):
        parts = [node.left]
    yield from (
        part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _helpers(function: Any) -> Iterator[Any]:
    """Yield functions of the same module that this function names."""
    try:
        named = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return
    for found in (*named.nonlocals.values(), *named.globals.values()):
        # `isinstance` asks proxies
        if type(found) is FunctionType and found.__module__ == function.__module__:
            yield found
