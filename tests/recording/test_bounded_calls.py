"""Calls with a deadline for code without an event loop: the supervisor watches before the function can stop Python."""

import os
import sys

from agentmut._base import Supervisor
from agentmut._base.supervision import _supervisor
from agentmut.recording import BoundedCalls


def test_the_supervisor_watches_before_a_function_begins() -> None:
    """A function that keeps Python's lock from its first moment lets the calling thread say nothing any more."""
    said, written = os.pipe()
    line = Supervisor(written, written)
    token = _supervisor.set(line)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # a new thread goes on until it waits for something
    try:
        ask = BoundedCalls(600, apart=lambda: False).add(lambda: line.watched)
        assert ask() is True
    finally:
        sys.setswitchinterval(interval)
        _supervisor.reset(token)
        os.close(said)
        os.close(written)
