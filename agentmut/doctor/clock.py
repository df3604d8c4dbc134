"""Another time of day and another date, for an agent in this process."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

SHIFT_SECONDS = (403 * 24 + 13) * 3600 + 7 * 60 + 11
"""403 days, 13 hours, 7 minutes and 11 seconds: another year, month, day, weekday, hour, minute and second."""
EXTRA = "agentmut[clock]"


def can_shift() -> bool:
    """Return whether the package is there that shifts the clock."""
    return find_spec("time_machine") is not None


@contextmanager
def shifted() -> Iterator[None]:
    """While the block lasts, clocks and calendars of this process are ahead by `SHIFT_SECONDS`; they go on running."""
    import time_machine

    with time_machine.travel(time.time() + SHIFT_SECONDS, tick=True):
        yield
