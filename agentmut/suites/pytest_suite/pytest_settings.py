"""The settings of a pytest suite in a project: `suite: {pytest: ...}`."""

import shlex
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from agentmut._base import Frozen, UsageError, first_fault, nearest

FIXTURES = ("agentmut_config", "agentmut_agent")
"""Fixtures that give a test the config under test, or the agent built from it."""
_KEYS = ("paths", "args", "raised", "directory", "cases")
_PATH_KEYS = ("path", "paths")


class Case(Frozen):
    """A collected test."""

    id: str
    takes_config: bool = False
    """Whether it, or a fixture that it uses, takes one of `FIXTURES`."""


class PytestSettings(Frozen):
    """Which tests to run, and how they are judged."""

    paths: tuple[str, ...] = ()
    """Files, folders or node ids; empty leaves it to pytest (`testpaths`, or the folder)."""
    args: tuple[str, ...] = ()
    """More arguments of pytest, such as `-m evals`."""
    raised: Literal["error", "fail"] = "error"
    """What an exception that is no failed assertion counts as: no evidence, or a failure."""
    directory: str = "."
    """The folder in which pytest is started."""
    cases: tuple[Case, ...] | None = None
    """The measured tests, if they are already collected; None takes what pytest collects."""

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of pytest."""
        return [*self.args, *self.paths]


def read_settings(argument: JsonValue, root: str) -> PytestSettings:
    """Return the settings of `suite: {pytest: argument}`. Raise `UsageError` with what is expected.

    >>> read_settings("tests/evals", "/p").paths, read_settings({"args": "-m evals"}, "/p").args
    (('tests/evals',), ('-m', 'evals'))
    """
    given = argument if isinstance(argument, Mapping) else {"paths": argument}
    if unknown := sorted(given.keys() - {*_KEYS, *_PATH_KEYS}):
        known = nearest(unknown[0], ("path", "args", "raised"))
        raise UsageError(f"suite.pytest: unknown key {unknown[0]!r}. {known}")
    if all(key in given for key in _PATH_KEYS):
        raise UsageError("suite.pytest: give either `path` or `paths`, not both")
    paths = given.get("path", given.get("paths"))
    fields: dict[str, Any] = {
        "paths": _texts(paths, "path", "a path, or a list of paths"),
        "args": _texts(
            given.get("args"), "args", "arguments of pytest as one text, or as a list", split=True
        ),
        "directory": given.get("directory", root),
        **{key: given[key] for key in ("raised", "cases") if key in given},
    }
    try:
        return PytestSettings(**fields)
    except ValidationError as error:
        fault = first_fault(error)
        raise UsageError(f"{fault.with_value('suite.pytest')}") from None


def _texts(value: Any, key: str, expected: str, *, split: bool = False) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return _split(value, key) if split else (value,)
    try:
        return TypeAdapter(tuple[str, ...]).validate_python(value)
    except ValidationError:
        raise UsageError(f"suite.pytest.{key}: expects {expected}, got {value!r}") from None


def _split(value: str, key: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise UsageError(f"suite.pytest.{key}: {str(error).lower()} in {value!r}") from None


COLLECTING = 300.0
"""Seconds that a suite has to be collected: imports are slow, but they end."""


def not_in_time(seconds: float) -> str:
    """Return the message for a collection that does not end."""
    return (
        f"suite.pytest: the tests were not collected within {seconds:g} s. Some file waits for something when it is "
        "imported: `pytest --collect-only -v` shows which"
    )
