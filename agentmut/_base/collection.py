"""The garbage collector, left out where data grows that has no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_cyclic_collection() -> Iterator[None]:
    """Look for no cycles of objects during the block.

    What is read from files has no cycles, and each search for some goes through all that has been read so far.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
