"""What is to become of a live agent: the difference between the config that was read from it and the wanted one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentmut.nouns import AgentConfig, FaultKind, ModelConfig, ToolSpec


class Offer(NamedTuple):
    """A tool as the model is to be told of it."""

    spec: ToolSpec
    changed: bool
    """Whether the model is told otherwise than the agent's own tool says."""

    @property
    def is_decoy(self) -> bool:
        """Return whether there is nothing behind it; its calls meet the fault of that kind."""
        return self.spec.fault is not None and self.spec.fault.kind is FaultKind.DECOY


class ToolRefusedError(Exception):
    """A server of tools reports a call as failed; `told` is what the framework tells the model."""

    def __init__(self, said: str, told: Any) -> None:
        super().__init__(said)
        self.told = told


@dataclass(frozen=True)
class Change:
    """The difference between the config of a live agent and the config that it is to have."""

    found: AgentConfig
    wanted: AgentConfig
    built: bool = False
    """Whether a factory has built the agent from the wanted config: then its tools may have the wanted names."""
    seen: frozenset[str] | None = None
    """The tools that the agent had when it was read. It may have others later, which stay as they are; where this is
    None, there are none."""

    @property
    def prompt(self) -> str | None:
        """Return the new instructions, documents included; None where they stay as they are."""
        wanted = self.wanted.system_text()
        return None if wanted == self.found.system_text() else wanted

    @property
    def model(self) -> dict[str, Any]:
        """Return the settings of the model that change, by their names in `ModelConfig`; None or empty: to
        be left out.
        """
        names = ModelConfig.model_fields
        before, after = self.found.model, self.wanted.model
        return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}

    @property
    def orchestration(self) -> frozenset[str]:
        """Return the keys of the flow that change."""
        before, after = self.found.orchestration, self.wanted.orchestration
        return frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))

    def offers(
        self,
        own_names: Sequence[str],
        *,
        decoys: bool = True,
        told: Callable[[str], ToolSpec] | None = None,
    ) -> list[Offer]:
        """Return the tools for an agent that has the tools of `own_names`, in the order of its offer.

        Of a team, one agent is given the `decoys`. `told` says what the model is told of a tool that the agent did
        not have yet when it was read: no mutant is about it, so that all mutants have it.
        """
        tools = [self._as_built(tool, own_names) for tool in self.wanted.tools]
        wanted = [tool for tool in tools if _is_for(tool, own_names, decoys=decoys)]
        known = {tool.name: tool for tool in (tools if self.built else self.found.tools)}
        offers = [Offer(tool, _differs(tool, known.get(tool.own_name))) for tool in wanted]
        if told:
            offers += [Offer(told(name), changed=False) for name in self._later(own_names, wanted)]
        return offers if self._reordered else sorted(offers, key=lambda offer: _place(offer, own_names))

    def _later(self, own_names: Sequence[str], offered: Sequence[ToolSpec]) -> list[str]:
        known = {name for tool in offered for name in (tool.name, tool.own_name)}
        return [name for name in own_names if self.seen is not None and name not in known | self.seen]

    def _as_built(self, tool: ToolSpec, own_names: Sequence[str]) -> ToolSpec:
        """Give a tool that the factory has built as wanted its own name."""
        if self.built and tool.name in own_names:
            return tool.model_copy(update={"implemented_by": None})
        return tool

    @property
    def _reordered(self) -> bool:
        before = [tool.name for tool in self.found.tools]
        after = [tool.own_name for tool in self.wanted.tools]
        common = set(before) & set(after)
        return [n for n in before if n in common] != [n for n in after if n in common] or bool(
            set(after) - common
        )


def completed(config: AgentConfig, found: AgentConfig) -> AgentConfig:
    """Return the project's config, with what was found at the agent where it says nothing."""
    said = {name: value for name, value in config.model if value not in (None, "", ())}
    return config.model_copy(
        update={
            "prompt": config.prompt or found.prompt,
            "tools": config.tools or found.tools,
            "model": found.model.model_copy(update=said),
            "orchestration": {**found.orchestration, **config.orchestration},
        }
    )


def distinct(tools: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Return the tools of all agents of a team, each name once."""
    found: dict[str, ToolSpec] = {}
    for tool in tools:
        found.setdefault(tool.name, tool)
    return tuple(found.values())


def _is_for(tool: ToolSpec, own_names: Sequence[str], *, decoys: bool) -> bool:
    return (decoys and Offer(tool, changed=True).is_decoy) or tool.own_name in own_names


def _differs(tool: ToolSpec, own: ToolSpec | None) -> bool:
    if own is None:
        return True
    return (tool.name, tool.description, tool.parameters) != (own.name, own.description, own.parameters)


def _place(offer: Offer, own_names: Sequence[str]) -> int:
    name = offer.spec.own_name
    return own_names.index(name) if name in own_names else len(own_names)


_seen: ContextVar[frozenset[str] | None] = ContextVar("agentmut_seen_tools", default=None)


@contextmanager
def seeing(tools: frozenset[str] | None) -> Iterator[None]:
    """While an agent is built that had these tools when it was read; None while it is read."""
    token = _seen.set(tools)
    try:
        yield
    finally:
        _seen.reset(token)


def seen_tools() -> frozenset[str] | None:
    """Return the tools that the agent which is being built had when it was read; None where that is not known."""
    return _seen.get()
