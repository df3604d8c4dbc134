"""Harm that a module of users does to Python while it is imported: told with the module's name, and repaired."""

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import NamedTuple

from agentmut._base.errors import UsageError
from agentmut._base.supervision import in_plugin

_LEAST_DEPTH = 1000
"""Python's own recursion limit. Modules may lower a higher limit to this one."""
_NEEDED_FOLDERS = frozenset(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_NEEDED_MODULES = ("sys", "builtins", "os", "importlib", "agentmut")


class _Python(NamedTuple):
    """What agentmut needs of Python, as it was before an import."""

    path: tuple[str, ...]
    modules: dict[str, ModuleType]
    depth: int

    def repaired(self) -> tuple[str, ...]:
        """Repair what is harmed; return what the harm was, in words."""
        harms = []
        if sys.getrecursionlimit() < min(self.depth, _LEAST_DEPTH):
            harms.append(f"lowered the recursion limit to {sys.getrecursionlimit()}")
            sys.setrecursionlimit(self.depth)
        if any(name in self.modules and name not in sys.modules for name in _NEEDED_MODULES):
            harms.append("removed modules of Python or of agentmut from sys.modules")
            sys.modules.update(self.modules)
        if any(entry in _NEEDED_FOLDERS and entry not in sys.path for entry in self.path):
            harms.append("removed the folders of installed packages from sys.path")
            sys.path[:] = self.path
        return tuple(harms)


@contextmanager
def harmless_import(module: str, reference: str) -> Iterator[None]:
    """Import a module of users in the block; the supervisor knows its name if the process ends there.

    Raises `UsageError` if the module has harmed Python, whatever else its import has raised.
    """
    before = _Python(tuple(sys.path), dict(sys.modules), sys.getrecursionlimit())
    try:
        with in_plugin(f"the import of module {module!r}"):
            yield
    finally:
        if harms := before.repaired():
            raise UsageError(
                f"cannot import {reference}: importing {module} has {' and '.join(harms)}. agentmut imports the "
                "module in its own process, whatever the isolation. Remove that statement from the module, or from "
                "what the module imports."
            )
