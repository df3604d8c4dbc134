"""Edits of settings and texts in parsed bodies; an object that becomes empty is removed too."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agentmut.nouns import SAMPLING, Body, ModelRequest, Path, is_set
from agentmut.wire.dialects.places import at, same, with_values
from agentmut.wire.dialects.places import without as without_keys


def with_value(body: Body, path: Sequence[str], value: Any) -> Body:
    """Return the body with a value at a path of keys, or without it for None; emptied objects are removed.

    Where it says so already the body stays as it is: null is nothing, too.

    >>> with_value({"a": {"b": 1}, "c": None}, ("a", "b"), None), with_value({"c": None}, ("c",), None)
    ({'c': None}, {'c': None})
    """
    key, rest = path[0], path[1:]
    held = body.get(key)
    if rest:
        inner = held if isinstance(held, dict) else {}
        fresh = with_value(inner, rest, value)
        return body if same(fresh, inner) else with_value(body, (key,), fresh or None)
    if same(held, value):
        return body
    return without_keys(body, key) if value is None else {**body, key: value}


def settings_of(request: ModelRequest, with_setting: Callable[[Body, str, Any], Body]) -> Body:
    """Return the settings of a request that `with_setting` of a dialect can express, as a body."""
    body: Body = {}
    for name in SAMPLING:
        if is_set(getattr(request, name)):
            body = with_setting(body, name, getattr(request, name))
    return body


def with_texts(body: Body, texts: Mapping[Path, str], kept: Iterable[Path], items: str) -> Body:
    """Return the body with these texts in their places.

    A text that becomes empty goes with its block, and with the item below the key `items` that has no other
    block. `kept` are texts whose item must stay: results of tools.
    """
    emptied = [path for path, text in texts.items() if not text and at(body, path)]
    body = with_values(body, {path: text for path, text in texts.items() if path not in emptied})
    may_stay = frozenset(kept)
    for path in sorted(emptied, reverse=True):  # so that places in front of a removed one stay what they are
        if path not in may_stay:
            body = _without_block(body, path, items)
        elif isinstance(path[-2], int) and path[-1] != "content":
            body = without(body, path[:-1])
        else:
            body = with_values(body, {path: ""})
    return body


def without(body: Body, path: Path) -> Body:
    """Return the body without the value at a place.

    >>> without({"a": [1, 2], "b": 3}, ("a", 0))
    {'a': [2], 'b': 3}
    """
    holder = at(body, path[:-1]).copy()
    del holder[path[-1]]
    fresh: Body = with_values(body, {path[:-1]: holder})
    return fresh


def _without_block(body: Body, path: Path, items: str) -> Body:
    """Return the body without the object of a text, and without lists and objects that hold nothing else."""
    holder = path[:-1]
    alone = isinstance(path[-1], int) and len(at(body, holder)) == 1
    if not holder or holder == (items,) or (isinstance(path[-1], int) and not alone):
        return without(body, path)
    return _without_block(body, holder, items)


def named_tool(choice: Any) -> str | None:
    """Return the name of the tool that a choice demands; None if it demands no named tool.

    >>> named_tool({"type": "function", "function": {"name": "pay"}}), named_tool("auto")
    ('pay', None)
    """
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def choice_of(name: str) -> dict[str, Any]:
    """Return the choice that demands a tool."""
    return {"type": "function", "function": {"name": name}}


def wanted_schema(wanted: Any) -> Mapping[str, Any] | None:
    """Return the schema in a format of answers; None if it has none.

    >>> wanted_schema({"type": "json_schema", "json_schema": {"schema": {}}}), wanted_schema({"type": "json_object"})
    ({'schema': {}}, None)
    """
    named = wanted.get("json_schema") if isinstance(wanted, dict) else None
    return named if isinstance(named, dict) and "schema" in named else None
