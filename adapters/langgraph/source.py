"""The source of a graph: a compiled graph, or a function that builds one, in all usual forms."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from agentmut._base import AdapterError, UsageError
from agentmut.nouns import AgentConfig
from agentmut.recording import completed


class Form(Enum):
    """The kind of object that `agent.factory` names."""

    GRAPH = "a compiled graph"
    NO_CONFIG = "a function without parameters"
    RUNNABLE_CONFIG = "a function of LangGraph's own config, as langgraph.json names it"
    CONFIG = "a function of agentmut's config"


@dataclass(frozen=True)
class GraphSource:
    """Returns the graph for a trial: a new one if a function builds it, sync or async."""

    found: Any
    reference: str

    @cached_property
    def form(self) -> Form:
        """Return the kind of object. Raise `UsageError` if it is of no known kind."""
        if is_graph(self.found):
            return Form.GRAPH
        if hasattr(self.found, "compile") and hasattr(self.found, "nodes"):
            raise UsageError(
                f"agent.factory: {self.reference} is a graph that is not compiled; add `.compile()`"
            )
        if not callable(self.found):
            raise UsageError(
                f"agent.factory: {self.reference} is a {type(self.found).__name__}; expected a compiled graph, or a "
                "function that returns one"
            )
        return _form_of_function(self.found)

    def build(self, config: AgentConfig) -> Any:
        """Return the function's graph; an async function is awaited in another thread."""
        return completed(self._from_factory(config))

    async def build_async(self, config: AgentConfig) -> Any:
        """Return the graph; an async function builds it in the event loop that the graph will run in."""
        given = self._from_factory(config)
        return await given if inspect.isawaitable(given) else given

    def _from_factory(self, config: AgentConfig) -> Any:
        if self.form is Form.GRAPH:
            return self.found
        if self.form is Form.NO_CONFIG:
            return self.found()
        return self.found({"configurable": {}} if self.form is Form.RUNNABLE_CONFIG else config)


def is_graph(found: Any) -> bool:
    """Return whether the object is a runnable graph."""
    return not inspect.isclass(found) and hasattr(found, "ainvoke") and hasattr(found, "nodes")


def checked(graph: Any, reference: str) -> Any:
    """Return the graph that a factory gave. Raises `AdapterError` for anything else."""
    if is_graph(graph):
        return graph
    hint = "Did you forget `.compile()`?"
    if hasattr(graph, "__aenter__") or hasattr(graph, "__enter__"):
        hint = "A context manager cannot be built afresh for each trial here: return the graph itself"
    raise AdapterError(
        f"agent.factory {reference} returned a {type(graph).__name__}; expected a compiled LangGraph graph. {hint}"
    )


def _form_of_function(function: Callable[..., Any]) -> Form:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # written in C
        return Form.CONFIG
    if not parameters:
        return Form.NO_CONFIG
    annotation = parameters[0].annotation
    named = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return Form.RUNNABLE_CONFIG if "RunnableConfig" in named else Form.CONFIG
