"""The agents of a team by name, and the agent among them that is changed."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import JsonValue

from agentmut._base import AdapterError, nearest

_Agent = TypeVar("_Agent")


@dataclass(frozen=True)
class Members(Generic[_Agent]):
    """All agents that can take part in a run, by name; a run usually begins with the first."""

    members: Mapping[str, _Agent]
    changed_name: str
    """The agent whose prompt and model are changed."""

    @property
    def first(self) -> _Agent:
        """Return the first one."""
        return next(iter(self.members.values()))

    @property
    def changed_agent(self) -> _Agent:
        """Return the agent whose prompt and model are changed."""
        return self.members[self.changed_name]

    def handoffs(self, leads: Callable[[str, _Agent], Mapping[str, str]]) -> dict[str, JsonValue]:
        """Return the `handoffs` of a flow, from the targets of each agent's tools; empty without any target."""
        found: dict[str, JsonValue] = {
            name: {**targets} for name, agent in self.members.items() if (targets := leads(name, agent))
        }
        return {"handoffs": found} if found else {}


def check_chosen(chosen: JsonValue, names: Collection[str], role: str = "agent") -> None:
    """Raise `AdapterError` if `agent.options.agent` names no member."""
    if chosen is not None and chosen not in names:
        raise AdapterError(
            f"agent.options.agent: there is no {role} {chosen!r}. {nearest(str(chosen), names)}"
        )


def reached(
    first: Any,
    below: Callable[[Any], Iterable[Any]],
    name_of: Callable[[Any], str] = lambda agent: agent.name,
    known: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an agent and every agent `below` it, after the `known` agents.

    Raises `AdapterError` for one name of two.
    """
    members, name = dict(known or {}), name_of(first)
    if members.setdefault(name, first) is not first:
        raise AdapterError(f"two agents are called {name!r}; give each a name of its own")
    if name not in (known or {}):
        for agent in below(first):
            members = reached(agent, below, name_of, members)
    return members
