"""What code of users has done to the process that it shares with agentmut, so that agentmut cannot go on in it."""

import errno
from pathlib import Path

from agentmut._base.builtin_functions import broken_builtins, put_back_builtins
from agentmut._base.lowered_limits import lacks_memory_by_limit, lowered_limits, refusal_in
from agentmut._base.replaced import SHOWN, replaced_parts

_WHOSE = "code of the agent, of a hook, of an evaluator or of a library has"


def fault_behind(error: BaseException) -> str:
    """Return what code of users has done, from which an error that nothing else explains may come; else empty.

    Where something was replaced, Python's own functions are put back: whoever is told ends the process, and needs them.
    """
    parts = replaced_parts()
    return _replaced(parts, error) if parts else limit_behind(error)


def limit_behind(error: BaseException) -> str:
    """Return what of the system code of users has taken from the process, if an error may come from that; else empty.

    These are limits that were lowered, files that were closed, and the working folder that was removed.
    """
    if lowered_limits():
        refusal = refusal_in(error)
        return _lowered(refusal) if refusal is not None else ""
    if isinstance(error, OSError) and error.errno == errno.EBADF:
        return (
            f"{_WHOSE} closed files of the process of agentmut, which cannot work without them{_from(error)}."
        )
    if isinstance(error, FileNotFoundError) and not _has_working_folder():
        return (
            f"{_WHOSE} removed the working folder of the process of agentmut, which cannot work without it"
            f"{_from(error)}. A module that is imported must leave that folder."
        )
    return ""


def _has_working_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def fault_of_now() -> str:
    """Return what code of users has done that lets no work of agentmut go on, before any error; else empty."""
    if broken := broken_builtins():
        put_back_builtins()
        return _replaced(broken)
    return _lowered() if lacks_memory_by_limit() else ""


def _replaced(parts: tuple[str, ...], error: BaseException | None = None) -> str:
    named = ", ".join(parts[:SHOWN])
    return (
        f"{_WHOSE} replaced {named} in the process of agentmut, which cannot work without it{_from(error)}."
    )


def _lowered(error: BaseException | None = None) -> str:
    named = ", ".join(lowered_limits())
    return f"{_WHOSE} lowered {named} of the process of agentmut, which cannot work with it{_from(error)}."


def _from(error: BaseException | None) -> str:
    return "" if error is None else f": {type(error).__name__}: {error}".rstrip(".: ")
