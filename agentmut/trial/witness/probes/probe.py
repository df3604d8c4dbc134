"""What every probe can do."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from agentmut.nouns import RequestShape

Shapes = Sequence[RequestShape]


class Probe(Protocol):
    """Looks for one edit in the requests of one trial, of which there is at least one."""

    @property
    def by_absence(self) -> bool:
        """Whether the probe looks for something that is gone: an agent that never had it then looks the same."""
        ...

    def shows(self, shape: RequestShape) -> bool:
        """Whether this request shows the edit. Of what is gone, only a request beside others can tell."""
        ...

    def carries(self, shape: RequestShape) -> bool:
        """Whether this request has what the edit changes, as it was."""
        ...

    def delivered(self, shapes: Shapes) -> bool:
        """Whether the requests of a mutated trial show the edit."""
        ...

    def carried(self, shapes: Shapes) -> bool:
        """Whether the requests of an original trial carry what the edit changes."""
        ...


class PerRequest:
    """A probe by what single requests show: one that does is enough. For others to build on."""

    @property
    def by_absence(self) -> bool:
        """Whether what shows is that something is gone."""
        return False

    def shows(self, shape: RequestShape) -> bool:
        """Whether this request shows the edit."""
        raise NotImplementedError

    def carries(self, shape: RequestShape) -> bool:
        """Whether this request has what the edit changes, as it was."""
        raise NotImplementedError

    def delivered(self, shapes: Shapes) -> bool:
        """Whether any request shows the edit."""
        return any(map(self.shows, shapes))

    def carried(self, shapes: Shapes) -> bool:
        """Whether any request carries what the edit changes."""
        return any(map(self.carries, shapes))


@dataclass(frozen=True)
class OrderProbe(PerRequest, ABC):
    """A probe for a new order: of what is sent together, or of what an agent picks that goes by the place."""

    usual: tuple[int, ...] = field(default=(), kw_only=True)
    """Which of the things all requests of the original have, and in which order; empty where they differ."""

    @abstractmethod
    def picked(self, shape: RequestShape) -> tuple[int, ...]:
        """Which of the things a request has, in its order, by their places before the edit."""

    def informed(self, originals: Shapes) -> Self:
        """Return a probe that knows what the original sends.

        An agent that sends the first thing alone shows no order, but another first thing. Only one that always picks
        the same is told by that: another may pick something else by itself.
        """
        known = {self.picked(shape) for shape in originals}
        return replace(self, usual=known.pop()) if len(known) == 1 else self

    def uninformed(self) -> Self:
        """Return a probe for requests of another kind than the original's, whose picks it cannot compare."""
        return replace(self, usual=())

    def picks_otherwise(self, shape: RequestShape) -> bool:
        """Whether a request has others of the things than all of the original."""
        here = self.picked(shape)
        return bool(self.usual and here) and set(here) != set(self.usual)
