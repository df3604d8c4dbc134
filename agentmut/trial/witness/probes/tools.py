"""Probes for edits of the tools: which tools are offered, in which order, with which descriptions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentmut._base import PLACEHOLDER, Difference, Path, at_path, differences, flat, inlined, plain_schema
from agentmut.nouns import AgentConfig, Edit, RequestShape, ToolSpec
from agentmut.trial.witness.probes.probe import GoneProbe, OrderProbe, Probe, Shapes, moved_path


def tool_probe(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> Probe:
    """Return the probe of an edit of the tools."""
    if edit.index is None:
        return _ToolOrder(_tool_names(edit.before), _tool_names(edit.after))
    if edit.removes_item:
        return _ToolRemoved(base.tools[edit.index].name, frozenset(mutated.tool_names))
    if len(edit.path) == 2:
        added = ToolSpec.model_validate(edit.after)
        return _ToolAdded("" if edit.inserts_item else base.tools[edit.index].name, added)
    original = base.tools[edit.index]
    changed = mutated.tools[int(moved_path(edit, edits)[1])]
    return _ToolChanged(original.name, changed.name, _differences(edit, original, changed))


@dataclass(frozen=True)
class _ToolRemoved(GoneProbe):
    name: str
    others: frozenset[str]

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request lacks the tool and offers another one of the config."""
        return not self.carries(shape) and not self.others.isdisjoint(_offered(shape))

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request offers the tool."""
        return self.name in _offered(shape)


@dataclass(frozen=True)
class _ToolAdded(Probe):
    """A tool that is new, or that takes the place of another as a whole."""

    original: str
    added: ToolSpec

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request offers the added tool."""
        tools = (tool for tool in shape.tools if tool.name == self.added.name)
        return any(flat(tool.description) == flat(self.added.description) for tool in tools)

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request offers the tool that is copied, or any tool where none is."""
        return self.original in _offered(shape) if self.original else bool(shape.tools)

    def carried(self, shapes: Shapes) -> bool:
        """Return whether the original could offer the added tool, which may be its first."""
        return not self.original or super().carried(shapes)  # it may be the first tool of all


@dataclass(frozen=True)
class _ToolChanged(Probe):
    """The probe for an edited tool: a request shows the edit if it has every changed part in its new form."""

    original: str
    name: str
    expected: Sequence[Difference]

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request offers the changed tool."""
        tools = (_plain_tool(tool) for tool in shape.tools if tool.name == self.name)
        return bool(self.expected) and any(
            all(_matches(at_path(tool, place.path), place.after) for place in self.expected) for tool in tools
        )

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request offers the tool as it was."""
        return self.original in _offered(shape)


@dataclass(frozen=True)
class _ToolOrder(OrderProbe):
    before: list[str]
    after: list[str]

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request offers the tools in the new order, or another one of them alone."""
        if not self.after:
            return not shape.tools
        moved = self._in_order(self.after, shape) and not self._in_order(self.before, shape)
        return moved or self.picks_otherwise(shape)

    def picked(self, shape: RequestShape) -> tuple[int, ...]:
        """Return which tools a request offers, in its order."""
        return tuple(self.before.index(name) for name in _offered(shape) if name in self.before)

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request offers enough of the tools to have an order, or any of those that are removed."""
        here = set(self.before).intersection(_offered(shape))
        return len(here) > 1 if self.after else bool(here)  # one alone has no order

    def delivered(self, shapes: Shapes) -> bool:
        """Return whether a request shows the new order, or each request lacks the tools that are removed."""
        return any(map(self.shows, shapes)) if self.after else all(map(self.shows, shapes))

    def shuffles(self, firsts: Shapes) -> bool:
        """Return whether the original's first requests offer the same tools in several orders."""
        orders = set(map(self.picked, firsts)) if self.after else set()
        return len(orders) > len(set(map(frozenset, orders)))

    def carried(self, shapes: Shapes) -> bool:
        """Return whether the requests of an original trial offer any tool."""
        return any(shape.tools for shape in shapes)

    @staticmethod
    def _in_order(names: list[str], shape: RequestShape) -> bool:
        offered = _offered(shape)
        return [n for n in names if n in offered] == [n for n in offered if n in names]


def _matches(found: Any, wanted: Any) -> bool:
    """Return whether a value is the wanted value; a placeholder in a template's text matches any text."""
    if found == wanted or not (isinstance(found, str) and isinstance(wanted, str)):
        return bool(found == wanted)
    literals = PLACEHOLDER.split(wanted)
    if len(literals) == 1 or not any(map(str.strip, literals)):
        return False
    return re.fullmatch(".*".join(map(re.escape, literals)), found, re.DOTALL) is not None


def _differences(edit: Edit, before: ToolSpec, after: ToolSpec) -> tuple[Difference, ...]:
    """Return what the edit makes different, in the form that requests have: the schema's `$ref`s put in place."""
    old, new = _plain_tool(before), _plain_tool(after)
    path = _up_to_list(old, edit.path[2:])
    if at_path(old, path) != at_path(new, path):
        return (Difference(path, at_path(new, path)),)
    # What several parameters refer to stands elsewhere in a request.
    return tuple(place for place in differences(old, new) if place.path[0] == path[0])


def _up_to_list(value: Any, path: Path) -> Path:
    """Return the path up to its first index, because lists are compared as wholes."""
    return next((path[:n] for n in range(len(path)) if isinstance(at_path(value, path[:n]), list)), path)


def _plain_tool(tool: ToolSpec) -> Any:
    plain = tool.model_dump(mode="json", include={"name", "description", "parameters"})
    return plain_schema({**plain, "parameters": inlined(plain["parameters"])})


def _tool_names(tools: Any) -> list[str]:
    return [str(tool["name"]) for tool in tools or ()]


def _offered(shape: RequestShape) -> list[str]:
    return [tool.name for tool in shape.tools]
