"""Changed copies of parsed bodies: the rest is shared, and keeps its order."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentmut.wire.codec import Body, Path


def at(value: Any, path: Path) -> Any:
    """What stands at a place that exists."""
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """The value with something else at a place; of objects the last key may be a new one.

    >>> put({"a": [1, 2], "b": 3}, ("a", 1), 5)
    {'a': [1, 5], 'b': 3}
    """
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = put(value[path[0]] if len(path) > 1 else None, path[1:], new)
    return copy


def without(value: Any, path: Path) -> Any:
    """The value without what stands at a place.

    >>> without({"a": [1, 2], "b": 3}, ("a", 0))
    {'a': [2], 'b': 3}
    """
    copy = value.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without(value[path[0]], path[1:])
    return copy


def with_setting(body: Body, path: Sequence[str], value: Any) -> Body:
    """The body with a value at a path of keys, or without it for None; objects come and go with what they hold."""
    key, rest = path[0], path[1:]
    if rest:
        held = body.get(key)
        value = with_setting(held if isinstance(held, dict) else {}, rest, value) or None
    if value is None:
        return {name: found for name, found in body.items() if name != key}
    return {**body, key: value}


def with_texts(body: Body, texts: Mapping[Path, str], kept: Iterable[Path], items: str) -> Body:
    """The body with these texts in their places.

    A text that becomes empty goes with its block, and with the item below the key `items` that has no other
    block. `kept` are texts whose item must stay: results of tools.
    """
    may_stay = frozenset(kept)
    for path in sorted(texts, reverse=True):  # so that places in front of a removed one stay what they are
        if texts[path] or at(body, path) == "":
            body = put(body, path, texts[path])
        elif path not in may_stay:
            body = _without_block(body, path, items)
        elif isinstance(path[-2], int) and path[-1] != "content":
            body = without(body, path[:-1])
        else:
            body = put(body, path, "")
    return body


def place(path: Path) -> str:
    """A place as messages name it.

    >>> place(("messages", 0, "content"))
    'messages[0].content'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def _without_block(body: Body, path: Path, items: str) -> Body:
    """Without the object that a text is in, and without the lists and objects that have nothing else."""
    holder = path[:-1]
    alone = isinstance(path[-1], int) and len(at(body, holder)) == 1
    if not holder or holder == (items,) or (isinstance(path[-1], int) and not alone):
        found: Body = without(body, path)
        return found
    return _without_block(body, holder, items)
