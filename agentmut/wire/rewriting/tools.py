"""The tools on offer in a request, in the mutant's form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentmut._base import Path, at_path, differences, inlined, plain_schema
from agentmut.nouns import OfferedTool, ToolSpec
from agentmut.wire.rewriting.changes import TextChange
from agentmut.wire.rewriting.names import Offer


@dataclass(frozen=True)
class ToolsChange:
    """The change from the original's tools to the mutant's."""

    offer: Offer

    @cached_property
    def is_any(self) -> bool:
        """Return whether the model gets any other description of tools."""
        return _described_tools(self.offer.base.tools) != _described_tools(self.offer.mutated.tools)

    def made_to(
        self, tools: Sequence[OfferedTool], taken: frozenset[str] = frozenset()
    ) -> Sequence[OfferedTool]:
        """Return a request's tools with the change; unchanged if no tool is the original's.

        Tools that the original's config does not have keep their places, between those that it has. A tool that is
        new comes with the one that it stands next to. No tool is given one of the names that are `taken`.
        """
        own: dict[str, OfferedTool] = {}
        for tool in tools:
            if (known := self._known(tool)) is not None:
                own.setdefault(known, tool)
        if not own or not self.is_any:
            return tools
        queue = iter(self._ordered(list(own)))
        result: list[OfferedTool] = []
        for tool in tools:
            name = self._known(tool)
            if name is None:
                result.append(tool)
            elif tool.raw is not own[name].raw:  # on offer twice, and so it stays
                result += self._again(name, tool, taken)
            elif self.offer.partners[name]:
                kept = next(queue)
                result += self._with_new(kept, own, taken)
        if not any(self.offer.partners[name] for name in own):  # no own tool is left
            result += [OfferedTool(spec) for spec in self._new if spec.name not in taken]
        return result

    def clashes(self, tools: Sequence[OfferedTool]) -> frozenset[str]:
        """Return new names of the request's tools that the original does not know."""
        names = {tool.spec.name for tool in tools if tool.spec} - self.offer.known.keys()
        return frozenset(names & {*self.offer.back, *self.offer.decoys})

    def _known(self, tool: OfferedTool) -> str | None:
        return tool.spec.name if tool.spec and tool.spec.name in self.offer.known else None

    def _ordered(self, names: Sequence[str]) -> list[str]:
        """Return the kept tools: in the request's order, or the mutant's, where that is not the original's."""
        kept = [name for name in names if self.offer.partners[name]]
        if not self._is_reordered:
            return kept
        places = {tool.name: place for place, tool in enumerate(self.offer.mutated.tools)}
        return sorted(kept, key=lambda name: places[self.offer.partners[name][0].name])

    @cached_property
    def _is_reordered(self) -> bool:
        places = {tool.name: place for place, tool in enumerate(self.offer.mutated.tools)}
        order = [places[others[0].name] for others in self.offer.partners.values() if others]
        return order != sorted(order)

    def _with_new(
        self, name: str, own: Mapping[str, OfferedTool], taken: frozenset[str]
    ) -> Iterator[OfferedTool]:
        """Yield a kept tool with the new tools next to it."""
        for spec in self._beside[name]:
            if spec is self.offer.partners[name][0]:
                kept = self._carried(name, spec, own)
                free = kept.name not in taken
                yield OfferedTool(kept if free else kept.model_copy(update={"name": name}), own[name].raw)
            elif spec.name not in taken:
                yield OfferedTool(self._carried(self.offer.origins.get(spec.name, ""), spec, own))

    def _again(self, name: str, tool: OfferedTool, taken: frozenset[str]) -> Iterator[OfferedTool]:
        """Yield a second entry of a tool in the form of the first; none if the first is removed."""
        for spec in self.offer.partners[name][:1]:
            changed = self._carried(name, spec, {name: tool})
            free = changed.name not in taken
            yield OfferedTool(changed if free else changed.model_copy(update={"name": name}), tool.raw)

    @cached_property
    def _new(self) -> tuple[ToolSpec, ...]:
        first = [others[0] for others in self.offer.partners.values() if others]
        return tuple(tool for tool in self.offer.mutated.tools if all(tool is not kept for kept in first))

    @cached_property
    def _beside(self) -> Mapping[str, list[ToolSpec]]:
        """Return each kept tool by the agent's name, with the new tools after it, or before the first tool."""
        groups: dict[str, list[ToolSpec]] = {}
        waiting: list[ToolSpec] = []
        last: list[ToolSpec] = waiting
        kept = {others[0].name: name for name, others in self.offer.partners.items() if others}
        for tool in self.offer.mutated.tools:
            if tool.name in kept:
                last = groups[kept[tool.name]] = [*waiting, tool]
                waiting = []
            else:
                last.append(tool)
        return groups

    def _carried(self, name: str, spec: ToolSpec, own: Mapping[str, OfferedTool]) -> ToolSpec:
        """Return the tool of the request with the mutant's changes."""
        sent = own[name].spec if name in own else None
        return spec if sent is None else carried(self.offer.known[name], spec, sent)


def carried(before: ToolSpec, after: ToolSpec, sent: ToolSpec) -> ToolSpec:
    """Return the tool `sent` with the differences from `before` to `after`, where it is equal to `before`."""
    described, wire = before.description, sent.description
    if described != after.description:
        same = " ".join(described.split()) == " ".join(wire.split())
        wire = after.description if same else TextChange(described, after.description).made_to(wire)
    update = {"name": after.name, "description": wire}
    parameters = _carried_schema(before.parameters, after.parameters, sent.parameters)
    return ToolSpec(**update, parameters=parameters)


def _carried_schema(before: Any, after: Any, sent: Any) -> Any:
    if before == after:
        return sent
    if before == sent:
        return after
    forms = ((before, after), (inlined(before), inlined(after)))
    tried = [_with_differences(sent, *form) for form in forms]
    return max(tried, key=lambda one: one[1])[0]  # the first of two that are as good


def _with_differences(sent: Any, before: Any, after: Any) -> tuple[Any, float]:
    """Return the schema with the differences that fit it, and the share of differences that fit."""
    places = list(differences(before, after))
    fitting = [place for place in places if _fits(sent, before, place.path)]
    for place in fitting:
        sent = _set(sent, place.path, place.after)
    return sent, len(fitting) / max(1, len(places))


def _fits(sent: Any, before: Any, path: Path) -> bool:
    """Return whether both values are equal or absent at a place that can hold a value."""
    if not isinstance(at_path(sent, path[:-1]), Mapping):
        return False
    here, there = ({path[-1]: at_path(schema, path)} for schema in (sent, before))
    return bool(here == there or plain_schema(here) == plain_schema(there))


def _set(value: Any, path: Path, after: Any) -> Any:
    """Return a copy of a JSON value with another value at a place; None removes the value there."""
    if not path:
        return after
    key, *rest = path
    if isinstance(value, list):
        index = int(key)
        return [*value[:index], _set(value[index], tuple(rest), after), *value[index + 1 :]]
    inner = _set(value.get(key, {}), tuple(rest), after)
    if inner is None:
        return {k: v for k, v in value.items() if k != key}
    return {**value, key: inner}


def _described_tools(tools: Sequence[ToolSpec]) -> list[tuple[str, str, Any]]:
    return [(tool.name, tool.description, tool.parameters) for tool in tools]
