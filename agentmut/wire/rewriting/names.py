"""Names of tools: the agent's own names, and the names that the model gets."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

from agentmut.nouns import AgentConfig, FaultKind, ToolSpec


@dataclass(frozen=True)
class Offer:
    """The tools of two configs, each tool with its mutated form."""

    base: AgentConfig
    mutated: AgentConfig

    @cached_property
    def known(self) -> Mapping[str, ToolSpec]:
        """Return the original's tools by the name that the agent offers them under."""
        return {tool.name: tool for tool in self.base.tools}

    @cached_property
    def partners(self) -> Mapping[str, tuple[ToolSpec, ...]]:
        """Return the tools offered instead of each tool, by its name: its own name first; no tool if it is removed."""
        return {name: self._partners(tool) for name, tool in self.known.items()}

    def _partners(self, tool: ToolSpec) -> tuple[ToolSpec, ...]:
        others = (other for other in self.mutated.tools if other.own_name == tool.own_name)
        return tuple(sorted(others, key=lambda other: other.name != tool.name))

    @cached_property
    def origins(self) -> Mapping[str, str]:
        """Return the agent's name for each tool that the mutant offers; decoys have none."""
        return {other.name: name for name, others in self.partners.items() for other in others}

    @cached_property
    def decoys(self) -> Mapping[str, ToolSpec]:
        """Return the decoys by name: tools without an implementation, whose calls never reach the agent."""
        return {tool.name: tool for tool in self.mutated.tools if self._is_decoy(tool)}

    def _is_decoy(self, tool: ToolSpec) -> bool:
        name = self.origins.get(tool.name)
        if name is None:
            return True
        new = tool.fault != self.known[name].fault
        return new and tool.fault is not None and tool.fault.kind is FaultKind.DECOY

    @cached_property
    def forward(self) -> Mapping[str, str]:
        """Map the agent's names to the mutant's, where they differ."""
        pairs = {name: others[0].name for name, others in self.partners.items() if others}
        return {name: other for name, other in pairs.items() if name != other}

    @cached_property
    def back(self) -> Mapping[str, str]:
        """Map the mutant's names to the agent's, where they differ."""
        return {other: name for other, name in self.origins.items() if name != other}

    @cached_property
    def faulty(self) -> Mapping[str, ToolSpec]:
        """Return the mutated form of the tools whose results are faulty, by the agent's names."""
        pairs = ((name, other) for name, others in self.partners.items() for other in others[:1])
        changed = ((name, other) for name, other in pairs if other.fault != self.known[name].fault)
        return {name: other for name, other in changed if other.fault and other.name not in self.decoys}


NOT_OFFERED = "_not_offered"
"""Added to the name of a tool that the mutant lacks, when the model calls it all the same."""


@dataclass(frozen=True)
class Names:
    """The names of tools, for the model and for the agent, in one request and its reply."""

    offer: Offer
    clashes: frozenset[str] = frozenset()
    """New names that tools on offer have which the original's config does not know: these are not given away."""
    withdrawn: frozenset[str] = frozenset()
    """The agent's tools that it offers, and the mutant does not under these names."""

    @property
    def differ(self) -> bool:
        """Return whether any tool may have another name."""
        return bool(self.offer.forward or self.offer.back) or not all(self.offer.partners.values())

    @property
    def decoys(self) -> Set[str]:
        """Return the names of the decoys."""
        return self.offer.decoys.keys() - self.clashes

    def withdrawing(self, before: Set[str], after: Set[str]) -> "Names":
        """Return the names for a change from the offer `before` to the offer `after`."""
        return replace(self, withdrawn=frozenset((before - after) & self.offer.known.keys()))

    def name_for_model(self, name: str) -> str:
        """Return the model's name for a tool of the agent; a called tool that was not on offer keeps its name."""
        called = name.removesuffix(NOT_OFFERED)
        if called != name and called in self.offer.known and name not in self.offer.known:
            return called
        other = self.offer.forward.get(name, name)
        return name if other in self.clashes else other

    def own(self, name: str) -> str:
        """Return the agent's name for a tool that the model calls."""
        if name in self.offer.back and name not in self.clashes:
            return self.offer.back[name]
        return name + NOT_OFFERED if name in self.withdrawn else name
