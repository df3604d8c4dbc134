"""Resolving `module:object` references to the user's own code."""

import importlib
import inspect
import pkgutil
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from agentmut._base.errors import UsageError, nearest
from agentmut._base.harmful_imports import harmless_import
from agentmut._base.own_frames import own_place
from agentmut._base.supervision import nobody_asked_to_stop, supervisor

_ABOUT_KEYS = re.compile(r"api[_ -]?key|credentials", re.IGNORECASE)
REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def make_importable(root: Path) -> None:
    """Put the project's directory first on `sys.path`, and prefer its modules over others with the same names.

    Another project of the same process may have modules of the same names.
    """
    if line := supervisor():
        line.before_users_code()
    entry = str(root.resolve())
    if sys.path[:1] == [entry]:
        return
    if entry in sys.path:
        sys.path.remove(entry)
    sys.path.insert(0, entry)
    for name in _top_level(root.resolve()) - _KEPT:
        _forget_namesake(name, root.resolve())


def check_reference(reference: str) -> str:
    """Return the reference itself if it has the form `module:object`; nothing is imported.

    >>> check_reference("support.agent:build")
    'support.agent:build'
    """
    if not REFERENCE.fullmatch(reference):
        raise UsageError(f"{reference!r} is not a reference; write module:object, as in my_package.agent:run")
    return reference


def import_object(reference: str, root: Path | None = None) -> Any:
    """Return the object that `module:object` names, `root` being the directory looked in first.

    Without `root` only what is on `sys.path` already is found. Raises `UsageError`: the module or the
    object does not exist (with the nearest name), or the module raised while it was imported (with the
    error and where it came from).
    """
    module_name, _, attribute = check_reference(reference).partition(":")
    if root is not None:
        make_importable(root)
    found: Any = _import_module(module_name, reference, root)
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(_no_attribute(reference, found, part)) from None
    return found


def import_callable(reference: str, root: Path | None = None) -> Callable[..., Any]:
    """Return the callable that a reference names; see `import_object`. Raise `UsageError` if it cannot be called."""
    found = import_object(reference, root)
    if not callable(found):
        raise UsageError(
            f"{reference} is not callable: it is a {type(found).__name__}. Name a function instead."
        )
    return found  # type: ignore[no-any-return]  # checked above


def required_parameters(function: Callable[..., Any], reference: str) -> int:
    """Return how many arguments a function of the user's own is called with: 1 or 2. Raises `ValueError`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # written in C: assume the full form
        return 2
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    count = len(required) or (2 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional))
    keyword_only = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if count not in (1, 2) or keyword_only:
        raise ValueError(f"expects {reference} to take (scenario, trace) or (trace)")
    return count


_KEPT = frozenset({"agentmut", "conftest"})
"""Not of projects, whatever their folders hold."""


def _top_level(root: Path) -> set[str]:
    """Return the names of the modules and packages in a folder."""
    try:
        return {path.stem for path in root.iterdir() if path.suffix == ".py" or path.is_dir()}
    except OSError:  # then nothing can be imported from there
        return set()


def _forget_namesake(package: str, root: Path) -> None:
    """Forget another project's module in this process, so that the project's own one can be imported.

    What is installed keeps its name: a project that shadows it fails as it would anywhere.
    """
    if package not in sys.modules:
        return
    place = getattr(sys.modules[package], "__file__", None)
    if place is None or Path(place).resolve().is_relative_to(root) or _is_installed(Path(place)):
        return
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]


def _is_installed(path: Path) -> bool:
    return any(path.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))


def _import_module(name: str, reference: str, root: Path | None) -> ModuleType:
    importlib.invalidate_caches()  # the file may have been written a moment ago, as `init` does
    try:
        with harmless_import(name, reference):
            return importlib.import_module(name)
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(_no_module(reference, error.name, root)) from None
        raise UsageError(_raised(reference, name, error)) from error
    except KeyboardInterrupt as error:
        if nobody_asked_to_stop():
            raise UsageError(_raised(reference, name, error)) from error
        raise
    except BaseException as error:  # the user's module may raise anything while it loads
        raise UsageError(_raised(reference, name, error)) from error


def _no_module(reference: str, missing: str, root: Path | None) -> str:
    parent, _, leaf = missing.rpartition(".")
    searched = list(sys.modules[parent].__path__) if parent in sys.modules else [str(root)] if root else []
    known = [module.name for module in pkgutil.iter_modules(searched)]
    looked = f" (looked in {root} first)" if root else ""
    return (
        f"cannot import {reference}: there is no module {missing!r}{looked}. "
        f"{nearest(leaf, known)} Correct the name, or install the package it belongs to."
    )


def _raised(reference: str, module: str, error: BaseException) -> str:
    return (
        f"cannot import {reference}: importing {module} raised {type(error).__name__}: {error} "
        f"({error_location(error)}). {_remedy(error)}"
    )


def _remedy(error: BaseException) -> str:
    """Return what to do about an error of the user's module while it loads.

    >>> _remedy(ModuleNotFoundError("No module named 'openai.types'", name="openai.types"))
    'Install openai in the environment of agentmut, or fix that module.'
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"Install {error.name.partition('.')[0]} in the environment of agentmut, or fix that module."
    if isinstance(error, FileNotFoundError) and not Path(str(error.filename)).is_absolute():
        here = f"A relative path is looked up in {Path.cwd()}, where the command was started"
        return f"{here}. Start it elsewhere, or make the path absolute: Path(__file__).parent / NAME."
    if not _ABOUT_KEYS.search(str(error)):
        return "Fix that module, or install what it needs."
    return (
        "The module makes a client while it loads, and the client needs its key: set the variable that holds the key. "
        "Without a key, `agentmut simulate -- agentmut run` asks the simulated model. A command that runs no agent "
        "takes any value."
    )


def error_location(error: BaseException) -> str:
    """Return `file:line` of the user's code that raised; of the library where no code of the user took part.

    A syntax error has its own place.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    if place := own_place(error):
        return place.rpartition(" in ")[0]
    frames = traceback.extract_tb(error.__traceback__)
    outside = [f for f in frames if not f.filename.startswith("<frozen") and f.filename != __file__]
    own = [f for f in outside if "importlib" not in f.filename] or list(frames)
    return f"{own[-1].filename}:{own[-1].lineno}" if own else "no location"


def _name_of(module: ModuleType) -> str:
    """Return a module's name, which code of users may have taken away."""
    return str(vars(module).get("__name__", "of no name"))


def _no_attribute(reference: str, owner: Any, part: str) -> str:
    kind, name = ("module", _name_of(owner)) if isinstance(owner, ModuleType) else ("object", repr(owner))
    public = [known for known in dir(owner) if not known.startswith("_")]
    where = getattr(owner, "__file__", None)
    return f"cannot import {reference}: {kind} {name} has no {part!r}{f' ({where})' if where else ''}. " + (
        nearest(part, public)
    )
