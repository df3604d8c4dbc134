"""Whether this process is one of agentmut's workers, which hold an agent and carry out trials that they are given."""

from contextvars import ContextVar

_worker: ContextVar[bool] = ContextVar("agentmut_worker", default=False)


def be_worker() -> None:
    """Note that this process is a worker. What it starts in tasks and in threads of agentmut knows it, too."""
    _worker.set(True)


def is_worker() -> bool:
    """Return whether this process is a worker. A process that a user made by multiprocessing is none."""
    return _worker.get()
