"""Runnables that replace a graph's nodes and branches, and report when they take effect."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import ParentCommand
from langgraph.types import Command, Send
from pydantic import BaseModel

from agentmut.nouns import END

Mark = Callable[[str], None]
"""Is told the key of the flow's part that took effect, such as `edges`."""


@dataclass
class Change:
    """The change of a node."""

    marks: set[str] = field(default_factory=set)
    """Keys of parts that take effect whenever the node is entered."""
    skipped: bool = False
    without: frozenset[str] = frozenset()
    """Keys of the state that it is not passed."""
    handoffs: dict[str, str | None] = field(default_factory=dict)
    """Where hand-offs to a node lead now; None for nowhere."""


class AlteredNode(Runnable[Any, Any]):
    """A node with a change."""

    def __init__(self, inner: Runnable[Any, Any], change: Change, mark: Mark) -> None:
        self._inner = inner
        self._change = change
        self._mark = mark

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node, or not."""
        state = self._entered(input)
        if self._change.skipped:
            return None  # writes nothing
        try:
            return self._left(self._inner.invoke(state, config, **kwargs))
        except ParentCommand as error:
            raise ParentCommand(self._left(error.args[0])) from error

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node, or not."""
        state = self._entered(input)
        if self._change.skipped:
            return None
        try:
            return self._left(await self._inner.ainvoke(state, config, **kwargs))
        except ParentCommand as error:
            raise ParentCommand(self._left(error.args[0])) from error

    def _entered(self, state: Any) -> Any:
        for key in self._change.marks:
            self._mark(key)
        present = [key for key in self._change.without if _value(state, key)]
        if present:
            self._mark("state")
        return _without(state, present)

    def _left(self, result: Any) -> Any:
        if not self._change.handoffs:
            return result
        if isinstance(result, list | tuple):
            return type(result)(self._left(item) for item in result)
        if not isinstance(result, Command):
            return result
        goto = [result.goto] if isinstance(result.goto, str | Send) else result.goto
        led = [other for target in goto if (other := self._led(target)) is not None]
        return dataclasses.replace(result, goto=led)

    def _led(self, target: Any) -> Any:
        name = target.node if isinstance(target, Send) else target
        if name not in self._change.handoffs:
            return target
        self._mark("handoffs")
        other = self._change.handoffs[name]
        return Send(other, target.arg) if isinstance(target, Send) and other else other


_NOWHERE = object()


class WatchedBranch(Runnable[Any, Any]):
    """The decision of a branch some labels of which lead elsewhere."""

    def __init__(
        self, inner: Runnable[Any, Any], labels: frozenset[str], mark: Mark, sent: Mapping[str, str]
    ) -> None:
        self._inner = inner
        self._labels = labels
        self._mark = mark
        self._sent = sent  # where a `Send` to a node leads now: it names the node, and no label

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Decide."""
        return self._decided(self._inner.invoke(input, config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Decide."""
        return self._decided(await self._inner.ainvoke(input, config, **kwargs))

    def _decided(self, result: Any) -> Any:
        labels = result if isinstance(result, list | tuple) else [result]
        return [other for label in labels if (other := self._led(label)) is not _NOWHERE]

    def _led(self, label: Any) -> Any:
        if isinstance(label, Send):
            if label.node not in self._sent:
                return label
            self._mark("branches")
            other = self._sent[label.node]
            return _NOWHERE if other == END else Send(other, label.arg)  # LangGraph sends nothing to the end
        if str(label) in self._labels:
            self._mark("branches")
        return label


def _value(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def _without(state: Any, keys: list[str]) -> Any:
    """Return the state as if no node had written these keys: collections are empty, others absent or None."""
    if not keys:
        return state
    emptied = {key: _emptied(_value(state, key)) for key in keys}
    if isinstance(state, BaseModel):
        return state.model_copy(update=emptied)
    if not isinstance(state, Mapping):
        return dataclasses.replace(state, **emptied)
    kept = {**state, **emptied}
    return {key: value for key, value in kept.items() if key not in keys or value is not None}


def _emptied(value: Any) -> Any:
    return type(value)() if isinstance(value, list | tuple | dict | set) else None
