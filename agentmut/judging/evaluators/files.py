"""Evaluators of what a coding agent has left in its workspace: files, and the commands that were run there."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from pydantic import JsonValue

from agentmut._base import BoundedPattern, arguments, nearest
from agentmut.nouns import AgentTrace, ChangeKind, Check, CommandRun, Scenario, WorkspaceEnd

PATTERNS = "a path or a pattern such as `src/*.py`, or a list of them"
QUOTED = 200
"""Characters at the end of a command's output that a reason quotes."""


class CommandPasses:
    """`command_passes: NAME` or `[NAME, ...]`: commands of `agent.options.afterwards` ended with exit code 0."""

    def __init__(self, argument: JsonValue) -> None:
        what = "the name of a command in agent.options.afterwards, or a list of them"
        self.commands = arguments.texts(argument, what)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look at the exit codes."""
        end = _workspace(trace)
        failed = [run for name in self.commands if (run := _command(end, name)).code]
        reason = f"{', '.join(self.commands)} passed"
        if failed:
            said = " ".join(failed[0].output.split())[-QUOTED:]
            reason = f"{failed[0].name} ended with {failed[0].code}" + (f": {said}" if said else "")
        return Check(evaluator="command_passes", passed=not failed, reason=reason)


class FilesChanged:
    """`files_changed: PATTERN` or `[PATTERN, ...]`: the run added, changed or removed a file of each pattern."""

    def __init__(self, argument: JsonValue) -> None:
        self.patterns = arguments.texts(argument, PATTERNS)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look for each pattern among the changed files."""
        changed = [change.path for change in _workspace(trace).files]
        missing = [pattern for pattern in self.patterns if not _fitting([pattern], changed)]
        reason = f"changed {', '.join(self.patterns)}"
        if missing:
            reason = f"expected a change of {', '.join(missing)}; {_changed_files_in_words(changed)}"
        return Check(evaluator="files_changed", passed=not missing, reason=reason)


class FilesUnchanged:
    """`files_unchanged: PATTERN` or `[PATTERN, ...]`: the run left every file of these patterns as it was."""

    def __init__(self, argument: JsonValue) -> None:
        self.patterns = arguments.texts(argument, PATTERNS)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look for changed files of the patterns."""
        found = _fitting(self.patterns, [change.path for change in _workspace(trace).files])
        reason = f"left {', '.join(self.patterns)} as it was"
        if found:
            reason = f"changed {', '.join(found)}, which was to stay as it was"
        return Check(evaluator="files_unchanged", passed=not found, reason=reason)


class FileMatches:
    """`file_matches: {file: PATH, pattern: REGEX}`: the run changed the file, and its text matches somewhere.

    With `diff: true` the pattern is looked for in the file's unified diff, where added lines begin with `+`.
    `absent: true` turns it round: no such text is in the file, or the run left the file as it was.
    """

    def __init__(self, argument: JsonValue) -> None:
        given = arguments.mapping(argument, ["file", "pattern"], ["diff", "absent"])
        self.file = arguments.text(given["file"], "the path of a file in the workspace")
        self.pattern = BoundedPattern(arguments.text(given["pattern"], "a regular expression"))
        self.diff, self.absent = (_flag(given, name) for name in ("diff", "absent"))

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Search the text or the diff of the file."""
        change = _workspace(trace).file(self.file)
        pattern = f"/{self.pattern.pattern}/"
        if change is None or change.kind is ChangeKind.REMOVED:
            became = "was left as it was" if change is None else "was removed"
            return Check(evaluator="file_matches", passed=self.absent, reason=f"{self.file} {became}")
        found = self.pattern.search((change.diff if self.diff else change.text) or "") is not None
        reason = f"{self.file} {'has' if found else 'has no'} {pattern}"
        return Check(evaluator="file_matches", passed=found is not self.absent, reason=reason)


def _flag(argument: dict[str, JsonValue], name: str) -> bool:
    value = argument.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"expects {name} to be true or false, got {value!r}")
    return value


def _workspace(trace: AgentTrace) -> WorkspaceEnd:
    if trace.workspace is None:
        raise ValueError(
            "the run has no workspace. An agent has one with `adapter: command` and files under "
            "`agent.config.context.workspace`, or a folder under `agent.options.workspace`"
        )
    return trace.workspace


def _command(end: WorkspaceEnd, name: str) -> CommandRun:
    run = end.command(name)
    if run is None:
        known = [one.name for one in end.commands]
        said = f"no command {name!r} was run; write it under agent.options.afterwards. {nearest(name, known)}"
        raise ValueError(said)
    return run


def _fitting(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    patterns = list(patterns)
    return [path for path in paths if any(fnmatchcase(path, pattern) for pattern in patterns)]


def _changed_files_in_words(changed: list[str]) -> str:
    return f"changed {', '.join(changed[:8])}" if changed else "no file was changed"
