"""An agent's flow, read from a graph that was built once, and the flows of its mutants."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentmut._base import AdapterError
from agentmut.adapters.langgraph.nested_tool_nodes import tool_nodes
from agentmut.nouns import CHANGED, AgentConfig, Flow, Mutant, apply_edits
from agentmut.recording import Trial

# `flow` is imported where it is used: it needs LangGraph, which the adapter checks for first.


@dataclass(frozen=True)
class BuiltGraph:
    """A graph of the original agent. It is never run."""

    graph: Any
    limited: bool
    """Whether the project file says the limit of steps, and not only the graph."""
    described: dict[str, Any]
    flow: Flow
    """The original's: what the project file says, and for the rest what the graph tells."""
    tools: frozenset[str]
    """The names of those in its tool nodes."""

    @classmethod
    def from_graph(cls, graph: Any, config: AgentConfig) -> "BuiltGraph":
        """Ask a graph that was built from the original config."""
        from agentmut.adapters.langgraph.flow import describe

        described = {**describe(graph), **config.orchestration}
        limited = "max_steps" in config.orchestration
        tools = frozenset(name for node in tool_nodes(graph) for name in node.tools_by_name)
        return cls(graph, limited, described, Flow.from_orchestration(described), tools)

    def completed(self, config: AgentConfig) -> AgentConfig:
        """Return the config with what is known of the flow."""
        return config.model_copy(update={"orchestration": self.described})

    def limit(self, config: AgentConfig) -> int | None:
        """Return the step limit of a run; None for the graph's own limit."""
        limit = Flow.from_orchestration(config.orchestration).max_steps
        return limit if self.limited or limit != self.flow.max_steps else None

    def changed(self, graph: Any, config: AgentConfig, trial: Trial) -> Any:
        """Return a new graph with the flow of `config`; the trial is told when a change takes effect."""
        from agentmut.adapters.langgraph.flow import reshape

        def mark(key: str) -> None:
            trial.recorder.marks.add(f"/orchestration/{key}")

        flow = Flow.from_orchestration(config.orchestration)
        if flow == self.flow:
            return graph
        if flow.max_steps != self.flow.max_steps:
            mark("max_steps")
        before = self._unless_built_so(graph, flow, mark)
        changed = reshape(graph, before, flow, mark)
        trial.recorder.marks.add(CHANGED)
        return changed

    def _unless_built_so(self, graph: Any, flow: Flow, mark: Callable[[str], None]) -> Flow:
        """Return the flow to change; a change that the factory has already made is left out."""
        from agentmut.adapters.langgraph.flow import describe

        original, found = describe(self.graph), describe(graph)
        keys = [key for key in Flow.model_fields if key != "max_steps"]
        own = [
            k for k in keys if getattr(flow, k) != getattr(self.flow, k) and found.get(k) != original.get(k)
        ]
        for key in own:
            mark(key)
        return self.flow.model_copy(update={key: getattr(flow, key) for key in own})

    def cannot_become(self, mutant: Mutant, config: AgentConfig) -> str:
        """Return why the graph cannot get a mutant's flow; empty if it can."""
        from agentmut.adapters.langgraph.flow import reshape

        edits = [edit for edit in mutant.edits if edit.part == "orchestration"]
        if not edits:
            return ""
        try:
            reshape(self.graph, self.flow, Flow.from_orchestration(apply_edits(config, edits).orchestration))
        except AdapterError as error:
            return str(error)
        return ""
