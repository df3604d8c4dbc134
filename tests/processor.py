"""Processor time, measured against a fixed piece of work: a bound of it holds on a slow machine and on a busy one.

Neighbours on the same core, or on the same cache, can double the processor time of the same steps. The piece of work
runs before and after, so that it is slowed down as much.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

USUAL_SECONDS = 0.018
"""What the piece of work takes on an idle core of 2024."""


@dataclass
class Used:
    """The processor time of a block, in seconds of an idle core; 0 until the block has ended."""

    seconds: float = 0.0


@contextmanager
def processor_time() -> Iterator[Used]:
    """Measure the block within `with processor_time() as used:`, then read `used.seconds`."""
    used, before = Used(), _piece_of_work()
    begun = time.process_time()
    yield used
    spent = time.process_time() - begun
    used.seconds = spent * USUAL_SECONDS / max(before, _piece_of_work())


def _piece_of_work() -> float:
    begun = time.process_time()
    sum(hash(str(i)) & 7 for i in range(100_000))
    return time.process_time() - begun
