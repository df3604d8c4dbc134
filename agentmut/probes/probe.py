"""What every probe can do."""

from collections.abc import Sequence
from typing import Protocol

from agentmut.wire.footprint import RequestShape

Shapes = Sequence[RequestShape]


class Probe(Protocol):
    """Looks for one edit in the requests of one trial, of which there is at least one."""

    def delivered(self, shapes: Shapes) -> bool:
        """Whether the requests of a mutated trial show the edit."""
        ...

    def carried(self, shapes: Shapes) -> bool:
        """Whether the requests of an original trial carry what the edit changes."""
        ...
