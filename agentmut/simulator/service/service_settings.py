"""The settings of a simulated service."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.simulator.mind.profiles import PROFILES
from agentmut.simulator.service.latency import AT_ONCE, Latency, read_latency
from agentmut.simulator.service.trouble import NO_TROUBLE, Trouble, trouble_of


class Settings(NamedTuple):
    """The settings of a simulator."""

    seed: int = 0
    trouble: Trouble = NO_TROUBLE
    latency: Latency = AT_ONCE
    """Before a reply begins."""
    chunk_latency: Latency = AT_ONCE
    """Before each chunk of a stream."""
    aliases: Mapping[str, str] = MappingProxyType({})
    """Other names of its models."""

    @property
    def is_plain(self) -> bool:
        """Return whether faults and latency are the same for all requests of a trial."""
        return not (self.trouble.faults or self.latency or self.chunk_latency)

    @property
    def identity(self) -> str:
        """Return the identity of this simulator: all settings that shape its trials."""
        named = {
            "seed": str(self.seed),
            "trouble": str(self.trouble),
            "latency": str(self.latency) if self.latency else "",
            "chunk-latency": str(self.chunk_latency) if self.chunk_latency else "",
            "alias": "+".join(f"{alias}={name}" for alias, name in sorted(self.aliases.items())),
        }
        return "/".join(f"{name}-{value}" for name, value in named.items() if value)


def checked_aliases(aliases: Mapping[str, str]) -> Mapping[str, str]:
    """Return other names of models. Raise `UsageError` if one stands for no model, or is a model's own name."""
    for alias, name in aliases.items():
        if name not in PROFILES:
            raise UsageError(
                f"alias {alias}={name}: there is no {name!r}. The simulator has {', '.join(PROFILES)}."
            )
        if alias in PROFILES or not alias:
            raise UsageError(f"alias {alias}={name}: {alias!r} cannot be another name of a model.")
    return aliases


def read_settings(
    *,
    seed: int = 0,
    trouble: Trouble | Iterable[str] = (),
    latency: Latency | str = AT_ONCE,
    chunk_latency: Latency | str = AT_ONCE,
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> Settings:
    """Return the settings in a user's words. Raise `UsageError` for meaningless ones."""
    return Settings(
        seed=seed,
        trouble=trouble if isinstance(trouble, Trouble) else trouble_of(trouble),
        latency=read_latency(latency) if isinstance(latency, str) else latency,
        chunk_latency=read_latency(chunk_latency) if isinstance(chunk_latency, str) else chunk_latency,
        aliases=checked_aliases(aliases),
    )
