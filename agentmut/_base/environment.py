"""Environment variables of this process, set during a block."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def environ(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables during the block, and restore the earlier values."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
