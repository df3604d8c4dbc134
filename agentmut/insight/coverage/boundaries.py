"""Boundary coverage (Eq. 18): the edges of the domains of tool parameters that an agent's calls have reached."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from agentmut._base import inlined, together
from agentmut.insight.coverage.domains import Holds, Unbounded, bounds
from agentmut.insight.coverage.nouns import CoverageItem, Dimension, LeftOut
from agentmut.nouns import ToolSpec

DEEPEST = 6
"""Objects and lists in one another that are gone into."""
EACH = "[]"
"""In a place: every item of a list."""

Place = tuple[str, ...]


class Boundary(NamedTuple):
    """One boundary of a tool, and the test that a call is on it."""

    item: CoverageItem
    place: Place
    holds: Holds

    def is_hit_by(self, arguments: Any) -> bool:
        """Return whether a call with these arguments is on the boundary."""
        return any(self.holds(value) for value in values_at(arguments, self.place))


def boundaries(tool: ToolSpec) -> tuple[tuple[Boundary, ...], tuple[LeftOut, ...]]:
    """Return the boundaries of a tool in schema order, and the parameters without boundaries, with the reason.

    Local `$ref`s are followed; one that leads back into itself ends there.
    """
    found = list(_of_object(tool.own_name, together(inlined(tool.parameters)), (), 0))
    distinct = _distinct(each for each in found if isinstance(each, Boundary))
    return distinct, tuple(each for each in found if isinstance(each, LeftOut))


def _distinct(found: Iterable[Boundary]) -> tuple[Boundary, ...]:
    """Return one boundary of each name; where a choice of schemas repeats a name, later ones add their value."""
    kept: dict[str, Boundary] = {}
    for boundary in found:
        item = boundary.item
        first = kept.setdefault(item.name, boundary)
        if first.item.example != item.example:
            named = item.model_copy(update={"name": f"{item.name} {item.example}"})
            kept.setdefault(named.name, boundary._replace(item=named))
    return tuple(kept.values())


class UnmetBoundaries:
    """The boundaries of a tool that no call was on yet, by place: each place of a call is looked up once."""

    def __init__(self, found: Iterable[Boundary]) -> None:
        self._by_place: dict[Place, list[Boundary]] = {}
        for boundary in found:
            self._by_place.setdefault(boundary.place, []).append(boundary)

    def __bool__(self) -> bool:
        return bool(self._by_place)

    def met(self, arguments: Any) -> list[CoverageItem]:
        """Return the boundaries that a call with these arguments is the first to meet."""
        found: list[Boundary] = []
        for place, lacking in self._by_place.items():
            for value in values_at(arguments, place):
                found += [boundary for boundary in lacking if boundary.holds(value)]
        if found:
            self._drop({boundary.item for boundary in found})
        return list(dict.fromkeys(boundary.item for boundary in found))

    def _drop(self, met: Collection[CoverageItem]) -> None:
        left = {
            place: [each for each in lacking if each.item not in met]
            for place, lacking in self._by_place.items()
        }
        self._by_place = {place: lacking for place, lacking in left.items() if lacking}


def values_at(arguments: Any, place: Place) -> list[Any]:
    """Return the values at a place of a call's arguments: none, one, or one for each item."""
    values = [arguments]
    for part in place:
        if part == EACH:
            values = [item for value in values if isinstance(value, list) for item in value]
        else:
            values = [value[part] for value in values if isinstance(value, dict) and part in value]
    return values


def _of_object(tool: str, schema: Any, place: Place, depth: int) -> Iterator[Boundary | LeftOut]:
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list) else []
    for name, stated in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(stated, Mapping):
            continue
        if name not in needed:
            yield from _presence(tool, place, name)
        yield from _of_value(tool, stated, (*place, name), depth)


def _of_value(tool: str, stated: Any, place: Place, depth: int) -> Iterator[Boundary | LeftOut]:
    schema = together(stated)
    if "$ref" in schema or depth > DEEPEST:
        yield LeftOut(what=f"{tool}.{_spelled(place)}", why="its schema leads back into itself, or too deep")
        return
    for found in bounds(schema):
        if isinstance(found, Unbounded):
            yield LeftOut(what=f"{tool}.{_spelled(place)}", why=found.why)
        else:
            yield Boundary(_item(tool, place, found.name, found.example), place, found.holds)
    for branch in _branches(schema):
        if isinstance(branch.get("properties"), Mapping):
            yield from _of_object(tool, branch, place, depth + 1)
        if isinstance(branch.get("items"), Mapping):
            yield from _of_value(tool, branch["items"], (*place, EACH), depth + 1)


def _branches(schema: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return the schema itself, and the alternatives that it offers."""
    choices = chain.from_iterable(schema[k] for k in ("anyOf", "oneOf") if isinstance(schema.get(k), list))
    return (schema, *(choice for choice in choices if isinstance(choice, Mapping)))


def _presence(tool: str, owner: Place, name: str) -> Iterator[Boundary]:
    """Yield the two boundaries of an optional parameter: present and absent; null counts as absent."""

    def present(value: Any) -> bool:
        return isinstance(value, dict) and value.get(name) is not None

    def absent(value: Any) -> bool:
        return isinstance(value, dict) and value.get(name) is None

    for said, holds in (("present", present), ("absent", absent)):
        yield Boundary(_item(tool, (*owner, name), said), owner, holds)


def _item(tool: str, place: Place, text: str, example: str = "") -> CoverageItem:
    where = _spelled(place)
    name = f"{tool}.{where} {text}"
    return CoverageItem(dimension=Dimension.BOUNDARY, name=name, tool=tool, parameter=where, example=example)


def _spelled(place: Sequence[str]) -> str:
    """Return a place in a schema in the form that people write.

    >>> _spelled(("items", "[]", "price"))
    'items[].price'
    """
    return ".".join(place).replace(f".{EACH}", EACH)
