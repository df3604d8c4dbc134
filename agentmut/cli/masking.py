"""Messages without secrets: an error of an agent or a client may quote what it was given."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmut.recording import Redactor

_PROJECT = ("--project", "-p")


def masked(text: str, arguments: Sequence[str] = ()) -> str:
    """Return a message without the secrets of the environment and of the project that the arguments name.

    Where that project cannot be read, what has the form of a secret is masked all the same.
    """
    return _redactor(_project_in(arguments)).text(text)


def _redactor(project: Path) -> "Redactor":
    from agentmut.recording import Redactor, secret_values, short_secrets

    try:
        from agentmut.project import load_project, redactor

        return redactor(load_project(project))
    except BaseException:  # whatever is wrong with it is what the message is about, or has been said before
        return Redactor(secret_values((), os.environ), short=short_secrets(os.environ))


def _project_in(arguments: Sequence[str]) -> Path:
    """Return the value of `--project`, or the folder that one is in."""
    for place, word in enumerate(arguments):
        name, sign, value = word.partition("=")
        if name in _PROJECT:
            return Path(value if sign else next(iter(arguments[place + 1 :]), "."))
    return Path()
