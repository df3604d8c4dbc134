"""The flow of an agent as data: the vocabulary of `config.orchestration` and a typed view of it."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, JsonValue, ValidationError

from agentmut._base import Frozen, UsageError

START = "__start__"
"""Where every run begins, as the source of edges and branches."""
END = "__end__"
"""Where runs end, as a target."""

CHANGED = "/orchestration"
"""What a trial is marked with whose flow its adapter has changed, whether the run comes to the change or not."""

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Edge = Annotated[tuple[Name, ...], Field(min_length=2)]
"""The name of a node and of the one that follows; with several before the last, the last waits for all."""


class Branch(Frozen):
    """A decision after a node: it chooses a label, and the label leads to a node."""

    source: Name
    name: str
    ends: dict[str, Name]


class Flow(Frozen):
    """The keys of `config.orchestration` that operators know; other keys belong to the agent.

    {"max_steps": 25,                                  # a run that takes more is stopped
     "retries": {"fetch": 2},                          # further attempts when a node fails; or one number for all
     "nodes": ["triage", "billing", "tech"],           # one that is taken out is skipped
     "edges": [["__start__", "triage"], ["billing", "__end__"]],
     "branches": [{"source": "triage", "name": "route", "ends": {"money": "billing", "other": "tech"}}],
     "handoffs": {"triage": {"transfer_to_billing": "billing"}},   # what a node may call, and where that leads
     "state": {"billing": ["messages", "notes"]}}      # what each node is passed

    Every key may be left out: then there is nothing of its kind to break. A skipped node stays the source
    and the target of its edges: what leads to it goes on to what follows it.
    """

    max_steps: Annotated[int, Field(ge=1)] | None = None
    retries: Count | dict[Name, Count] = Field(default_factory=dict)
    nodes: tuple[Name, ...] = ()
    edges: tuple[Edge, ...] = ()
    branches: tuple[Branch, ...] = ()
    handoffs: dict[Name, dict[str, Name]] = Field(default_factory=dict)
    state: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)

    @classmethod
    def from_orchestration(cls, orchestration: Mapping[str, JsonValue]) -> "Flow":
        """Return the known keys of a config's orchestration. Raise `UsageError` that names the malformed keys."""
        known = {key: value for key, value in orchestration.items() if key in cls.model_fields}
        if not known:
            return _EMPTY
        try:
            return cls.model_validate_json(json.dumps(known), strict=True)
        except ValidationError as error:
            raise UsageError(_problems(error.errors())) from None

    def retries_of(self, node: str) -> int:
        """Return the number of further attempts when a node fails."""
        return self.retries if isinstance(self.retries, int) else self.retries.get(node, 0)


_EMPTY = Flow()


def _problems(details: Iterable[Any]) -> str:
    """Return one phrase for each malformed key, at the first place of its fault."""
    places: dict[str, str] = {}
    for key, *rest in (detail["loc"] for detail in details):
        inside = [str(part) for part in rest if not str(part).startswith(("constrained-", "dict["))]
        places.setdefault(key, ".".join([key, *inside]))
    return "; ".join(f"orchestration.{place} is malformed: {_SHAPES[key]}" for key, place in places.items())


_SHAPES = {
    "max_steps": "it is the number of steps after which a run is stopped, such as 25",
    "retries": "it is a number of further attempts, or one for each node: {fetch: 2}",
    "nodes": "it is a list of names",
    "edges": "each is a list of two names, from and to: [triage, billing]",
    "branches": "each is {source: node, name: route, ends: {label: node}}",
    "handoffs": "for each node, what it may call and where that leads: {triage: {transfer_to_billing: billing}}",
    "state": "for each node, the keys it is passed: {billing: [messages, notes]}",
}
