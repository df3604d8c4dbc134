"""Method patches that last as long as a session, beside other patchers, and whenever the module is imported."""

import functools
import importlib.abc
import importlib.machinery
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple

Wrap = Callable[[Any], Any]
_MARK = "_agentmut_layers"
_PROXIES = frozenset({"ObjectProxy", "BaseObjectProxy"})
"""Names of the classes that wrapt, of any version or copy, makes its wrappers of."""
_changing = threading.Lock()


@contextmanager
def replaced(owner: Any, name: str, wrap: Wrap) -> Iterator[None]:
    """Have `wrap(original)` called in the place of a method until the block ends.

    Blocks may end in any order, and other libraries may wrap the method before, while and after they last: there is
    one replacement, which calls whatever wraps are there at the time. The latest is the outermost. `original` is a
    function of the instance and the arguments, whatever descriptor the method is.

    The replacement stands beneath wrappers of wrapt (OpenTelemetry, ddtrace), so that whoever put them there can take
    them away. The original is put back with the last block. Where another library has closed over the replacement,
    it passes calls on, and goes once it is on top.
    """
    with _changing:
        layers = _layers_of(owner, name)
        layers.wraps = (*layers.wraps, wrap)
    try:
        yield
    finally:
        with _changing:
            layers.wraps = tuple(other for other in layers.wraps if other is not wrap)
        layers.leave()


class _Seat(NamedTuple):
    """The place of a method: its class, or the innermost wrapt proxy around it."""

    holder: Any
    name: str

    @property
    def method(self) -> Any:
        """Return the method that stands here now."""
        return self.holder.__dict__[self.name] if isinstance(self.holder, type) else self.holder.__wrapped__

    def put(self, method: Any) -> None:
        """Put another method in this place."""
        setattr(self.holder, self.name, method)


def _seat(owner: Any, name: str) -> _Seat:
    seat = _Seat(owner, name)
    while _is_proxy(seat.method):
        seat = _Seat(seat.method, "__wrapped__")
    return seat


def _is_proxy(method: Any) -> bool:
    """Return whether this wrapper calls its `__wrapped__`; `functools.wraps` only notes the wrapped function."""
    return any(kind.__name__ in _PROXIES for kind in type(method).__mro__)


class _Layers:
    """A method, and the wraps around it."""

    def __init__(self, owner: Any, name: str, original: Any) -> None:
        self._owner, self._name = owner, name
        self.original = original
        self.wraps: tuple[Wrap, ...] = ()
        self.method = self._method()

    def leave(self) -> None:
        """Restore the original if no wrap is left and no other patcher covers the replacement."""
        with _changing:
            seat = _seat(self._owner, self._name)
            if not self.wraps and seat.method is self.method:
                seat.put(self.original)

    def _method(self) -> Any:
        @functools.wraps(self.original)
        def call(*args: Any, **options: Any) -> Any:
            return self._wrapped()(*args, **options)

        @functools.wraps(self.original)
        async def call_async(*args: Any, **options: Any) -> Any:
            return await self._wrapped()(*args, **options)

        method = call_async if inspect.iscoroutinefunction(self.original) else call
        setattr(method, _MARK, self)
        return method

    def _wrapped(self) -> Any:
        if not self.wraps:  # only another library's wrapper still led here
            self.leave()
        return functools.reduce(lambda inner, wrap: wrap(inner), self.wraps, _unbound(self.original))


def _unbound(method: Any) -> Callable[..., Any]:
    """Return a function of instance and arguments; binding a descriptor is the only way to give it its instance."""
    if type(method) is FunctionType:
        return method
    return lambda instance, *args, **options: method.__get__(instance, type(instance))(*args, **options)


def _layers_of(owner: Any, name: str) -> _Layers:
    """Return the layers of a method that is replaced already, or newly replaced."""
    seat = _seat(owner, name)
    found = seat.method
    layers = getattr(found, _MARK, None)
    if layers is None or layers.method is not found:  # a wrapper of another library copies the mark, too
        layers = _Layers(owner, name, found)
        seat.put(layers.method)
    made: _Layers = layers
    return made


@contextmanager
def when_imported(name: str, act: Callable[[], object]) -> Iterator[None]:
    """Call `act` as soon as the module is imported: now, or when it is first imported before the block ends."""
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
        """Return the usual spec of the one module, with a loader that calls `act` after it has executed the module."""
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
