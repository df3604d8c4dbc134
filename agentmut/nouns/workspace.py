"""The state of a run's workspace afterwards: a folder for this run alone, with the agent's files."""

from collections.abc import Callable
from enum import StrEnum

from agentmut._base import Frozen


class ChangeKind(StrEnum):
    """The kind of change of a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class FileChange(Frozen):
    """A file that has changed since the beginning of the run."""

    path: str
    """Relative to the workspace, with `/` between folders."""
    kind: ChangeKind
    text: str | None = None
    """The whole text at the end; None for a file that is gone, is no text, or is too long to be kept."""
    diff: str = ""
    """The unified diff from the beginning to the end; empty where `text` is None, but for a file that is gone."""


class CommandRun(Frozen):
    """A command that ran in the workspace after the agent, such as its tests."""

    name: str
    code: int
    """The exit code; negative where a signal ended it."""
    output: str = ""
    """The end of what it wrote to stdout and stderr."""


class WorkspaceEnd(Frozen):
    """The state of a workspace after a run."""

    files: tuple[FileChange, ...] = ()
    """By path."""
    left_out: int = 0
    """So many further files have changed, and are not listed."""
    commands: tuple[CommandRun, ...] = ()

    @property
    def diff(self) -> str:
        """Return the diffs of all files together."""
        return "".join(change.diff for change in self.files)

    def with_texts(self, kept: Callable[[str], str]) -> "WorkspaceEnd":
        """Return the same state with `kept` applied to each text; names of files and commands stay."""
        files = (
            change.model_copy(
                update={
                    "text": change.text if change.text is None else kept(change.text),
                    "diff": kept(change.diff),
                }
            )
            for change in self.files
        )
        commands = (run.model_copy(update={"output": kept(run.output)}) for run in self.commands)
        return self.model_copy(update={"files": tuple(files), "commands": tuple(commands)})

    @property
    def texts(self) -> tuple[str, ...]:
        """Return all texts of the files, their diffs and the commands."""
        changed = (text for change in self.files for text in (change.text or "", change.diff))
        return (*changed, *(run.output for run in self.commands))

    def file(self, path: str) -> FileChange | None:
        """Return the change of a file; None if it has not changed."""
        return next((change for change in self.files if change.path == path), None)

    def command(self, name: str) -> CommandRun | None:
        """Return the run of a command; None if no command with that name ran."""
        return next((run for run in self.commands if run.name == name), None)
