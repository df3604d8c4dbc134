"""Places in parsed bodies: found by pattern, read, and written into a copy.

A body and its rewritten copy share whatever is the same in both.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut._base import canonical_json
from agentmut.nouns import Body, Path, Rename
from agentmut.wire.bodies import shown


def places(value: Any, pattern: str) -> Iterator[Path]:
    """Return the places that match a pattern of keys, `*` for each item of a list; nothing where the shape is another.

    >>> list(places({"a": [{"b": 1}, 2]}, "a.*.b"))
    [('a', 0, 'b')]
    """
    found: list[tuple[Path, Any]] = [((), value)]
    for key in pattern.split("."):
        if key == "*":
            lists = [(path, held) for path, held in found if isinstance(held, list)]
            found = [((*path, place), item) for path, held in lists for place, item in enumerate(held)]
        else:
            found = [
                ((*path, key), held[key]) for path, held in found if isinstance(held, dict) and key in held
            ]
    return (path for path, _ in found)


def all_places(value: Any) -> Iterator[Path]:
    """Yield every place in a value.

    >>> list(all_places({"a": [1]}))
    [('a',), ('a', 0)]
    """
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (key,)
        yield from ((key, *rest) for rest in all_places(item))


def at(value: Any, path: Path) -> Any:
    """Return the value at a place. Raise `ValueError` if there is none."""
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"the body has no {shown(path)}") from None
    return value


def with_values(value: Any, new: Mapping[Path, Any]) -> Any:
    """Return the value with new values at some places. The last key of a path may be new in its object."""
    if not new:
        return value
    if () in new:
        return new[()]
    if len(new) == 1:
        ((path, found),) = new.items()
        return _with_value(value, path, found)
    inner: dict[str | int, dict[Path, Any]] = {}
    for (key, *rest), found in new.items():
        inner.setdefault(key, {})[tuple(rest)] = found
    copy: Any = value.copy() if isinstance(value, dict | list) else _no_place(inner)
    for key, deeper in inner.items():
        fresh = isinstance(copy, dict) and () in deeper
        copy[key] = with_values(None if fresh else at(copy, (key,)), deeper)
    return copy


def _with_value(value: Any, path: Path, new: Any) -> Any:
    """Return the value with a new value at one place, as most changes of a request are."""
    changed: Any = value.copy() if isinstance(value, dict | list) else _no_place(path)
    copy = changed
    for depth, key in enumerate(path[:-1], 1):
        inner = at(copy, (key,))
        copy[key] = inner.copy() if isinstance(inner, dict | list) else _no_place(path[depth:])
        copy = copy[key]
    if not isinstance(copy, dict):
        at(copy, path[-1:])  # a list gets no new place
    copy[path[-1]] = new
    return changed


def _no_place(inner: Iterable[str | int]) -> Any:
    raise ValueError(f"the body has no {shown((next(iter(inner)),))} there")


def without(body: Body, *keys: str) -> Body:
    """Return the body without some of its keys."""
    return {key: value for key, value in body.items() if key not in keys}


def renamed(body: Any, names: Iterable[Path], rename: Rename) -> Any:
    """Return the body with the names at these places passed through `rename`; what is no name stays."""
    found = {path: at(body, path) for path in names}
    fresh = {path: rename(name) for path, name in found.items() if isinstance(name, str)}
    return with_values(body, {path: name for path, name in fresh.items() if name != found[path]})


def merged(old: Any, new: Any) -> Any:
    """Return `new` with the key order of `old` wherever both have the same value."""
    if isinstance(old, dict) and isinstance(new, dict):
        order = old if old.keys() == new.keys() else new
        return {key: merged(old.get(key), new[key]) for key in order}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [merged(before, after) for before, after in zip(old, new, strict=True)]
    return old if same(old, new) else new


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are the same to a service: unlike in Python, 1 is not true."""
    return left is right or (left == right and canonical_json(left) == canonical_json(right))
