"""Calls of a plugin's code, which may raise or return anything: the error names the plugin."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from types import TracebackType
from typing import Any

from agentmut._base import (
    AgentmutError,
    PluginError,
    briefly,
    error_location,
    in_plugin,
    nobody_asked_to_stop,
)
from agentmut.seams.capability import fits, shown, type_name
from agentmut.seams.plugins import Catalogue, Group

Errors = tuple[type[Exception], ...]


def from_plugin(method: str, expected: Any, call: Callable[[], Any], refusal: Errors = ()) -> Any:
    """Return what a plugin's code returns, which is of the type `expected`.

    `method` names plugin and method, such as "evaluator 'polite': note()". Raises `PluginError` for a value of another
    type, and like `run_plugin`.
    """
    found = run_plugin(method, call, refusal)
    if not fits(found, expected):
        raise PluginError(
            f"{method} returned {shown(found)}; expected {type_name(expected)}. Fix the plugin."
        )
    return found


def run_plugin(method: str, call: Callable[[], Any], refusal: Errors = ()) -> Any:
    """Return what a plugin's code returns, unchecked.

    Errors of agentmut go through, and those of the types `refusal`, by which the method may refuse what it is given.
    Raises `PluginError` for every other error of that code.
    """
    try:
        with in_plugin(method):
            return call()
    except BaseException as error:  # a plugin is anybody's code
        if isinstance(error, (AgentmutError, *refusal)) or is_ctrl_c(error):
            raise
        raise PluginError(f"{method} raised {described(error)}. Fix the plugin.") from error


def is_ctrl_c(error: BaseException) -> bool:
    """Return whether an error is the user's wish to end the command, and not raised by a plugin itself."""
    return isinstance(error, KeyboardInterrupt) and not nobody_asked_to_stop()


def described(error: BaseException) -> str:
    """Return the type of an error, its text, and where it was raised."""
    return f"{briefly(error)} ({error_location(error)})"


def plugin_at_fault(error: BaseException) -> str:
    """Return the name of the other package's plugin whose code raised an error; empty if agentmut's code did.

    Code that the plugin calls counts as its own: what counts is the innermost frame that is of agentmut or a plugin.
    """
    packages = {_package(entry): label for entry, label in _others()}
    for module in reversed(list(_modules(error.__traceback__))):
        package = module.partition(".")[0]
        if package == "agentmut":
            return ""
        if package in packages:
            return packages[package]
    return ""


def _others() -> Iterator[tuple[EntryPoint, str]]:
    for group in Group:
        for entries in Catalogue.from_group(group).entries.values():
            for entry in entries:
                if _package(entry) != "agentmut":
                    yield (
                        entry,
                        f"{group.noun} {entry.name!r} ({entry.dist.name if entry.dist else entry.module})",
                    )


def _package(entry: EntryPoint) -> str:
    return entry.module.partition(".")[0]


def _modules(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next
