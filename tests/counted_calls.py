"""Function calls of agentmut, counted: unlike time, their number is the same on a busy machine."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

INLINED = ("<listcomp>", "<dictcomp>", "<setcomp>")
"""Functions to Python 3.11 only."""


class Count:
    """The number of calls so far."""

    calls = 0


@contextmanager
def counted(name: str = "") -> Iterator[Count]:
    """Count the calls of functions of agentmut, in all threads; of those with this name alone, if one is given."""
    count = Count()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        own = str(frame.f_globals.get("__name__")).startswith("agentmut.")
        called = frame.f_code.co_name
        count.calls += own and event == "call" and called not in INLINED and name in ("", called)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield count
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
