"""What every probe can do."""

from collections.abc import Sequence
from typing import Protocol

from agentmut.wire.footprint import RequestShape

Shapes = Sequence[RequestShape]


class Probe(Protocol):
    """Looks for one edit in the requests of one trial, of which there is at least one."""

    @property
    def by_absence(self) -> bool:
        """Whether what shows is that something is gone: then another agent, that never had it, looks alike."""
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
