"""The change of a live agent: the difference between the config read from it and the wanted config."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentmut.nouns import AgentConfig, FaultKind, ModelConfig, ToolSpec


class Offer(NamedTuple):
    """A tool as the model gets it."""

    spec: ToolSpec
    changed: bool
    """Whether the model is told otherwise than the agent's own tool says."""

    @property
    def is_decoy(self) -> bool:
        """Return whether the tool is a decoy, whose calls meet a fault."""
        return self.spec.fault is not None and self.spec.fault.kind is FaultKind.DECOY


class ToolRefusedError(Exception):
    """A tool server reports a failed call; `told` is the text that the framework gives the model."""

    def __init__(self, text: str, reply: Any) -> None:
        super().__init__(text)
        self.told = reply


@dataclass(frozen=True)
class Change:
    """The difference between the config read from a live agent and the wanted config."""

    found: AgentConfig
    wanted: AgentConfig
    built: bool = False
    """Whether a factory has built the agent from the wanted config: then its tools may have the wanted names."""
    seen: frozenset[str] | None = None
    """The tools that the agent had when it was read. It may have others later, which stay as they are; where this is
    None, there are none."""

    @property
    def prompt(self) -> str | None:
        """Return the new instructions with the documents; None if they do not change."""
        wanted = self.wanted.system_text()
        return None if wanted == self.found.system_text() else wanted

    @property
    def model(self) -> dict[str, Any]:
        """Return the model's changed settings by their names in `ModelConfig`; None or an empty value removes one."""
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
        described: Callable[[str], ToolSpec] | None = None,
    ) -> list[Offer]:
        """Return the offered tools in order, for an agent whose own tools are `own_names`.

        Of a team, one agent is given the `decoys`. `described` says what the model is told of a tool that the agent did
        not have yet when it was read: no mutant is about it, so that all mutants have it.
        """
        tools = [self._as_built(tool, own_names) for tool in self.wanted.tools]
        wanted = [tool for tool in tools if _is_for(tool, own_names, decoys=decoys)]
        known = {tool.name: tool for tool in (tools if self.built else self.found.tools)}
        offers = [Offer(tool, _differs(tool, known.get(tool.own_name))) for tool in wanted]
        if described:
            offers += [Offer(described(name), changed=False) for name in self._later(own_names, wanted)]
        return offers if self._reordered else sorted(offers, key=lambda offer: _place(offer, own_names))

    def _later(self, own_names: Sequence[str], offered: Sequence[ToolSpec]) -> list[str]:
        known = {name for tool in offered for name in (tool.name, tool.own_name)}
        return [name for name in own_names if self.seen is not None and name not in known | self.seen]

    def _as_built(self, tool: ToolSpec, own_names: Sequence[str]) -> ToolSpec:
        """Return a tool under its own name, where the factory has already built it as wanted."""
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
    """Return the project's config, completed with the agent's own parts."""
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
    """Note, while an agent is built, the tools that it had when it was read; None while it is read."""
    token = _seen.set(tools)
    try:
        yield
    finally:
        _seen.reset(token)


def seen_tools() -> frozenset[str] | None:
    """Return the tools that the agent being built had when it was read; None if unknown."""
    return _seen.get()
