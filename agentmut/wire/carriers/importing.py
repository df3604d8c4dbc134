"""Doing something when a module is first imported, without importing it."""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def when_imported(name: str, act: Callable[[], object]) -> Iterator[None]:
    """Call `act` as soon as the module is there: now, or when anybody imports it before the block ends."""
    if name in sys.modules:
        act()
        yield
        return
    finder = _Finder(name, act)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, act: Callable[[], object]) -> None:
        self._name = name
        self._act = act

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """The usual spec of the one module, with a loader that acts."""
        if fullname != self._name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._act)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: Any, act: Callable[[], object]) -> None:
        self._loader = loader
        self._act = act

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Create the module with the usual loader."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module with the usual loader, then act."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._act()
