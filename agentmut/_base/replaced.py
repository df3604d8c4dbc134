"""Parts of Python's own modules that somebody has replaced in this process, so that agentmut cannot rely on them."""

import sys
import sysconfig
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from agentmut._base.builtin_functions import put_back_builtins

_NEEDED = (
    "sys", "os", "time", "re", "json", "random", "threading", "asyncio", "hashlib", "pathlib",
    "datetime", "sqlite3",
)  # fmt: skip
"""Modules that agentmut uses all the time."""
_TYPES = {"pathlib": ("Path",), "threading": ("Thread",)}
"""Types whose methods agentmut uses all the time, by their modules."""
_NOT_NEEDED = frozenset((
    "None", "_", "last_exc", "last_traceback", "last_type", "last_value", "ps1", "ps2", "pycache_prefix", "altsep",
    "excepthook", "displayhook", "breakpointhook", "unraisablehook", "__interactivehook__",
))  # fmt: skip
"""Parts that are None as Python comes, and hooks that libraries set."""
SHOWN = 4
"""Names that a message shows."""
_LIBRARY = sysconfig.get_path("stdlib")


def replaced_parts() -> tuple[str, ...]:
    """Return what was replaced or taken away, as `json.dumps`; a few names of it.

    Python's own functions are put back in their places, since nothing could be told without them.
    """
    builtin = put_back_builtins()
    names = [*builtin]
    for name in _replaced():
        if len(names) >= SHOWN:
            break
        names.append(name)
    return tuple(names)


def _replaced() -> Iterator[str]:
    modules = sys.modules
    if "sys" not in modules or "builtins" not in modules:
        yield "sys.modules"
        return
    for name in _NEEDED:
        module = modules.get(name)
        if module is None:
            continue
        yield from (f"{name}.{part}" for part, value in vars(module).items() if _is_other(part, value))
        for kind in _TYPES.get(name, ()):
            parts = vars(vars(module).get(kind)).items()
            yield from (f"{name}.{kind}.{part}" for part, value in parts if _is_other(part, value))
        if name == "threading" and vars(module).get("excepthook") is None:  # no thread begins without one
            yield "threading.excepthook"


def _is_other(part: str, value: Any) -> bool:
    """Return whether a public part is gone, or a function or an object that does not come with Python or agentmut."""
    if part.startswith("_") or part in _NOT_NEEDED:
        return False
    if value is None:
        return True
    if not isinstance(value, FunctionType):
        return False
    place = value.__code__.co_filename
    # not `__module__`: a wrapper takes that over from what it wraps
    return not place.startswith((_LIBRARY, "<")) and not _is_own(value.__globals__.get("__name__"))


def _is_own(module: Any) -> bool:
    return isinstance(module, str) and module.split(".")[0] == "agentmut"
