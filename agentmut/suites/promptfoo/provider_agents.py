"""Providers of a config that are the agent itself: a program, or a Python file."""

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentmut._base import UsageError
from agentmut.seams import AgentSpec
from agentmut.suites.promptfoo.providers import Provider

CALL_API = Path(__file__).parent / "call_api.py"
"""Calls the function of a Python provider, in the provider's own interpreter."""
CALL_PROGRAM = Path(__file__).parent / "call_program.py"
"""Becomes the program of an exec provider."""
WHOLE = ""
"""The JSON pointer of a Python provider's whole response."""


def agent_of(provider: Provider, spec: AgentSpec, folder: Path) -> AgentSpec | None:
    """Return the agent that a provider is, for the adapter `command`; None for a model or an HTTP endpoint.

    Its input is a mapping with promptfoo's `prompt` and `context`. `folder` is the config's. Raises `UsageError` for a
    provider that names nothing that can be run.
    """
    kind, _, rest = provider.id.partition(":")
    if kind == "exec":
        return _program(provider, spec, folder, shlex.split(rest))
    if kind == "python" or (kind == "file" and rest.partition(".py")[1]):
        return _python(provider, spec, folder, rest.removeprefix("//"))
    return None


def _program(provider: Provider, spec: AgentSpec, folder: Path, words: list[str]) -> AgentSpec:
    if not words:
        raise UsageError("suite.promptfoo: the provider `exec:` names no program")
    told = (
        sys.executable,
        str(CALL_PROGRAM),
        "{input_file}",
        _written(provider.options),
        *map(_plain, words),
    )
    return _command(spec, folder, told)


def _command(spec: AgentSpec, folder: Path, command: tuple[str, ...]) -> AgentSpec:
    return spec.model_copy(update={"adapter": "command", "command": command, "root": str(folder)})


def _written(value: Mapping[str, Any]) -> str:
    return _plain(json.dumps(value))


def _plain(word: str) -> str:
    """Return a word in which no brace begins a placeholder."""
    return word.replace("{", "{{").replace("}", "}}")


def _python(provider: Provider, spec: AgentSpec, folder: Path, named: str) -> AgentSpec:
    path, _, function = named.partition(".py:") if ".py:" in named else (named, "", "")
    file = (folder / (f"{path}.py" if function else path)).resolve()
    if not file.is_file():
        raise UsageError(
            f"suite.promptfoo: the provider {provider.id!r} names {file.name}, which is not in {folder}"
        )
    config = provider.options.get("config") or {}
    interpreter = str(config.get("pythonExecutable") or sys.executable)
    told = (
        interpreter,
        str(CALL_API),
        str(file),
        function or "call_api",
        "{input_file}",
        "{answer_file}",
        _written(provider.options),
    )
    return _command(spec, folder, tuple(map(str, told))).model_copy(update={"answer": WHOLE})
