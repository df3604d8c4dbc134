"""The settings of a promptfoo config in a project: `suite: {promptfoo: ...}`."""

import os
import shlex
import shutil
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue, field_validator

from agentmut._base import Frozen, UsageError
from agentmut.suites.suite_argument import read_settings as settings_of

VARIABLE = "AGENTMUT_PROMPTFOO"
"""The environment variable with promptfoo's command line."""
INSTALL = "npm install --save-dev promptfoo"


class PromptfooSettings(Frozen):
    """Which config to run, and how."""

    path: str
    """The config: YAML, JSON or JavaScript, from the project's folder."""
    command: tuple[str, ...] = ()
    """The program and its first arguments; empty looks for it."""
    filters: tuple[str, ...] = ()
    """Filters of `promptfoo eval`, such as `--filter-pattern refund`."""
    provider: str | None = None
    """The provider that is measured, by its id or label, where the config has several and no agent is named."""
    input: str | None = None
    """The variable of a test that the agent is asked; None asks it the rendered prompt."""
    raised: Literal["error", "fail"] = "error"
    """What an exception in an assertion's code counts as: no evidence, or a failure."""
    patience: float = Field(default=300.0, gt=0)
    """Seconds that promptfoo may take, without the agent's time."""

    @field_validator("command", "filters", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return shlex.split(value) if isinstance(value, str) else value

    @field_validator("filters")
    @classmethod
    def _only_filters(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if value and not value[0].startswith("--filter-"):
            raise ValueError("expects filters of `promptfoo eval`, such as `--filter-pattern refund`")
        return value


def read_settings(argument: JsonValue, root: str) -> PromptfooSettings:
    """Return the settings of `suite: {promptfoo: argument}`. Raise `UsageError` with what is expected."""
    settings = settings_of(PromptfooSettings, argument, "suite.promptfoo", short="path")
    if not Path(root, settings.path).is_file():
        raise UsageError(f"suite.promptfoo: there is no config {settings.path} in {root}")
    return settings


def command_of(settings: PromptfooSettings, root: str) -> tuple[str, ...]:
    """Return promptfoo's command line: the given one, `AGENTMUT_PROMPTFOO`, one on the PATH, or in `node_modules`."""
    given = settings.command or _words(os.environ.get(VARIABLE, ""))
    if given:
        if program := shutil.which(given[0], path=_search_path(given[0], root)):
            return (program, *given[1:])
        raise UsageError(f"suite.promptfoo: there is no program {given[0]!r}. Run: {INSTALL}")
    folder = Path(root).resolve()
    places = [str(place / "node_modules" / ".bin") for place in (folder, *folder.parents)]
    program = shutil.which("promptfoo") or shutil.which("promptfoo", path=os.pathsep.join(places))
    if program is None:
        raise UsageError(
            f"suite.promptfoo: promptfoo is neither on the PATH nor in node_modules. Run: {INSTALL}, or name it: "
            f"suite.promptfoo.command, or the environment variable {VARIABLE}"
        )
    return (program,)


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"{VARIABLE}: {str(error).lower()} in {command!r}. Correct the quotes") from None


def _search_path(program: str, root: str) -> str | None:
    """Return where to look for a program that is given by a relative path."""
    return root if os.sep in program and not Path(program).is_absolute() else None
