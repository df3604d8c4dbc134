"""Where a parameter of a tool stands, how it is changed there, and how a mutant names it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut._base import Parameter, Path, at_path, parameters, pointer
from agentmut.nouns import AgentConfig, Candidate, Edit, ToolSpec


class ParameterPlace(NamedTuple):
    """A parameter of one of the config's tools."""

    number: int
    """The index of the tool in the config."""
    tool: ToolSpec
    parameter: Parameter

    def edit(self, path: Path, before: JsonValue, after: JsonValue) -> Edit:
        """Return a change at a path in the tool's schema."""
        return Edit(pointer=f"/tools/{self.number}/parameters{pointer(path)}", before=before, after=after)

    def change(self, key: str, after: JsonValue) -> Edit:
        """Give a keyword of the parameter's own schema another value, or drop it (None)."""
        return self.edit((*self.parameter.at, key), self.parameter.schema.get(key), after)

    def candidate(self, edits: Iterable[Edit], description: str, change: str = "") -> Candidate:
        """Return a mutant of this parameter; `change` tells apart those of one operator."""
        at = pointer(self.parameter.path)
        return Candidate(
            edits=tuple(edits),
            description=f"{self.tool.name}: {description}",
            anchor=f"{self.tool.name}{at}{'=' if change else ''}{change}",
            subject=self.tool.name,
        )

    @property
    def required(self) -> list[JsonValue] | None:
        """Return the list `required` of the parameter's schema; None where the schema has none."""
        found = at_path(self.tool.parameters, self._required)
        return list(found) if isinstance(found, list) else None

    @property
    def _required(self) -> Path:
        return (*self.parameter.owner, "required")

    def not_required(self) -> Edit:
        """Make the parameter optional; where it was the only required one, the keyword goes too."""
        listed = self.required or []
        if len(listed) == 1:
            return self.edit(self._required, listed, None)
        index = listed.index(self.parameter.name)
        return self.edit((*self._required, str(index)), self.parameter.name, None)

    def now_required(self) -> Edit:
        """Make the parameter required, too."""
        if self.required is None:
            return self.edit(self._required, None, [self.parameter.name])
        return self.edit((*self._required, str(len(self.required))), None, self.parameter.name)


def places(config: AgentConfig) -> Iterator[ParameterPlace]:
    """Yield every parameter of every tool, in their order."""
    for index, tool in enumerate(config.tools):
        for parameter in parameters(tool.parameters):
            yield ParameterPlace(index, tool, parameter)


def own_places(config: AgentConfig) -> Iterator[ParameterPlace]:
    """Yield each schema of a parameter once: what several refer to is the same place."""
    seen: set[tuple[int, Path]] = set()
    for place in places(config):
        key = (place.number, place.parameter.at)
        if key not in seen:
            seen.add(key)
            yield place


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return the type of a parameter that has one, null aside; empty for any other."""
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else [k for k in kind or () if k != "null"]
    return str(kinds[0]) if len(kinds) == 1 else ""
