"""`agent.options` of a coding agent: its workspace, and the commands that run there after the agent."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentmut._base import AdapterError, UsageError
from agentmut.adapters._shared.outside.placeholders import filled, names_in
from agentmut.adapters._shared.outside.programs import Launch, Output, run_program
from agentmut.adapters._shared.outside.workspace import Workspace, WorkspaceCopy
from agentmut.nouns import AgentConfig, CommandRun, Edit
from agentmut.seams import AgentSpec

FOLDER, SHARED, AFTERWARDS = "workspace", "shared", "afterwards"
KEYS = (FOLDER, SHARED, AFTERWARDS)
"""The keys of `agent.options`."""
PLACES = ("project", "workspace")
"""Placeholders for folders: the project's own, and that in which the program runs."""
KEPT_OF_OUTPUT = 4_000
"""Characters at the end of a command's output that a trace holds."""


@dataclass(frozen=True)
class WorkspacePlan:
    """The workspace of a coding agent, and the commands that run there after the agent."""

    workspace: Workspace
    afterwards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands by name."""

    def path_in(self, document: str, root: Path) -> str:
        """Return a file of the project as a path in the workspace."""
        return (root / document).relative_to(self.workspace.folder).as_posix()


def working(spec: AgentSpec, config: AgentConfig) -> WorkspacePlan | None:
    """Return the agent's workspace; None for an agent without one. Raise `UsageError`."""
    given = {key: spec.options[key] for key in KEYS if key in spec.options}
    if not given and not config.workspace:
        return None
    root = Path(spec.root)
    folder = _folder(given.get(FOLDER, "."), root)
    for name in config.workspace:
        if not (root / name).is_relative_to(folder):
            raise UsageError(
                f"agent.config.context.workspace: {name} is not in agent.options.workspace, {folder}"
            )
    if beside := sorted({document.name for document in config.context}.difference(config.workspace)):
        raise UsageError(
            f"agent.config.context: {beside[0]} is no file of the workspace. A coding agent has either documents or "
            "files that it reads itself; name the file under `workspace`"
        )
    return WorkspacePlan(
        Workspace(folder, _shared(given.get(SHARED, []))), dict(_commands(given.get(AFTERWARDS, {})))
    )


def not_in_files(edit: Edit, config: AgentConfig) -> str:
    """Return why an edit cannot be made in the files of a workspace, in a phrase; empty if it can."""
    if edit.part != "context" or not config.workspace:
        return ""
    if edit.index is None:
        return "" if not edit.after else "the files of a workspace have no order"
    if edit.inserts_item:
        return "no file is added to a workspace"
    named = config.context[edit.index].name in config.workspace
    return "" if named else "it is no file of the workspace, and the agent is not told of it"


async def run_afterwards(
    working: WorkspacePlan, copy: WorkspaceCopy, root: Path, variables: Mapping[str, str], scratch: Path
) -> tuple[CommandRun, ...]:
    """Run the commands in the copy, one after another. Raise `AdapterError` for one that cannot be started."""
    done = []
    places = {"project": str(root), "workspace": str(copy.folder)}
    for name, command in working.afterwards.items():
        words = tuple(filled(word, places.__getitem__, _where(name)) for word in command)
        output = Output()
        try:
            await run_program(Launch(words, copy.folder, variables, scratch=scratch), output)
        except OSError as error:
            raise AdapterError(f"{_where(name)}: cannot start {words[0]!r}: {error.strerror}") from error
        said = bytes(output.stdout + output.stderr).decode("utf-8", "replace")
        done.append(CommandRun(name=name, code=output.code or 0, output=said))
    return tuple(done)


def _where(name: str) -> str:
    return f"agent.options.{AFTERWARDS}.{name}"


def _folder(value: Any, root: Path) -> Path:
    if not isinstance(value, str) or not (root / value).is_dir():
        raise UsageError(f"agent.options.{FOLDER}: there is no folder {value!r} in {root}")
    return (root / value).resolve()


def _shared(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and "/" not in name for name in value):
        raise UsageError(
            f"agent.options.{SHARED} is a list of folders at the top of the workspace, not {value!r}"
        )
    return tuple(value)


def _commands(value: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not isinstance(value, dict):
        raise UsageError(f"agent.options.{AFTERWARDS} is a mapping of names to commands, not {value!r}")
    for name, command in value.items():
        words = command if isinstance(command, list) else []
        if not words or not all(isinstance(word, str) for word in words):
            raise UsageError(
                f"{_where(name)}: a command is a list, as in `[python3, -m, pytest, -q]`, not {command!r}"
            )
        for placeholder in [one for word in words for one in names_in(word, _where(name))]:
            if placeholder not in PLACES:
                raise UsageError(
                    f"{_where(name)}: unknown placeholder {{{placeholder}}}; {{project}} and {{workspace}} are known"
                )
        if not shutil.which(words[0]) and "/" not in words[0]:
            raise UsageError(
                f"{_where(name)}: there is no program {words[0]!r} that can be run here; install it"
            )
        yield name, tuple(words)
