"""Replacing methods for as long as a session lasts, whoever else does so, and whenever their module is imported."""

import functools
import importlib.abc
import importlib.machinery
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Wrap = Callable[[Any], Any]
_MARK = "_agentmut_layers"
_changing = threading.Lock()


@contextmanager
def replaced(owner: Any, name: str, wrap: Wrap) -> Iterator[None]:
    """Have `wrap(original)` called in the place of a method until the block ends.

    Blocks may end in any order, and other libraries may wrap the method while they last: there is one replacement,
    which calls whatever wraps are there at the time. The latest is the outermost. The original is put back with the
    last of them, unless another library has put its own wrapper on top; that one is left where it is.
    """
    with _changing:
        layers = _layers_of(owner, name)
        layers.wraps = (*layers.wraps, wrap)
    try:
        yield
    finally:
        with _changing:
            layers.wraps = tuple(other for other in layers.wraps if other is not wrap)
            if not layers.wraps and owner.__dict__[name] is layers.method:
                setattr(owner, name, layers.original)


class _Layers:
    """A method, and what is wrapped around it."""

    def __init__(self, original: Any) -> None:
        self.original = original
        self.wraps: tuple[Wrap, ...] = ()
        self.method = self._method()

    def _method(self) -> Any:
        @functools.wraps(self.original)
        def call(*args: Any, **options: Any) -> Any:
            return self._wrapped(*args, **options)

        @functools.wraps(self.original)
        async def call_async(*args: Any, **options: Any) -> Any:
            return await self._wrapped(*args, **options)

        method = call_async if inspect.iscoroutinefunction(self.original) else call
        setattr(method, _MARK, self)
        return method

    @property
    def _wrapped(self) -> Any:
        return functools.reduce(lambda inner, wrap: wrap(inner), self.wraps, self.original)


def _layers_of(owner: Any, name: str) -> _Layers:
    """Return the layers of a method that is replaced already, or newly replaced."""
    found = owner.__dict__[name]
    layers = getattr(found, _MARK, None)
    if layers is None or layers.method is not found:  # a wrapper of another library copies the mark, too
        layers = _Layers(found)
        setattr(owner, name, layers.method)
    made: _Layers = layers
    return made


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
        """Return the usual spec of the one module, whose loader acts once it has executed it."""
        spec = (
            importlib.machinery.PathFinder.find_spec(fullname, path, target)
            if fullname == self._name
            else None
        )
        if spec is not None and spec.loader is not None:
            _act_after(spec.loader, self._act)
        return spec


def _act_after(loader: Any, act: Callable[[], object]) -> None:
    def exec_module(module: Any) -> None:
        del loader.exec_module
        loader.exec_module(module)
        act()

    loader.exec_module = exec_module
