"""Evaluators of what a coding agent has left in its workspace."""

from typing import Any

import pytest

from agentmut.judging.evaluators.files import CommandPasses, FileMatches, FilesChanged, FilesUnchanged
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace, Check
from agentmut.nouns.workspace import ChangeKind, CommandRun, FileChange, WorkspaceEnd

TRACE = AgentTrace(
    outputs=("done",),
    workspace=WorkspaceEnd(
        files=(
            FileChange(path="VERSION", kind=ChangeKind.CHANGED, text="1.4.0\n", diff="-1.3.0\n+1.4.0\n"),
            FileChange(path="old.py", kind=ChangeKind.REMOVED, diff="-x = 1\n"),
            FileChange(path="src/new.py", kind=ChangeKind.ADDED, text="y = 2\n", diff="+y = 2\n"),
        ),
        commands=(CommandRun(name="tests", code=0), CommandRun(name="lint", code=2, output="line too\nlong")),
    ),
)
CASE = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))


def judged(evaluator: Any, trace: AgentTrace = TRACE) -> Check:
    check: Check = evaluator.evaluate(CASE, trace)
    return check


@pytest.mark.parametrize(
    ("evaluator", "passed", "reason"),
    [
        (CommandPasses("tests"), True, "tests passed"),
        (CommandPasses(["tests", "lint"]), False, "lint ended with 2: line too long"),
        (FilesChanged(["VERSION", "src/*.py"]), True, "changed VERSION, src/*.py"),
        (FilesChanged("docs/*"), False, "expected a change of docs/*; changed VERSION, old.py, src/new.py"),
        (FilesUnchanged("tests/*"), True, "left tests/* as it was"),
        (FilesUnchanged(["tests/*", "old.py"]), False, "changed old.py, which was to stay as it was"),
        (FileMatches({"file": "VERSION", "pattern": r"^1\.4"}), True, r"VERSION has /^1\.4/"),
        (FileMatches({"file": "VERSION", "pattern": "1.3"}), False, "VERSION has no /1.3/"),
        (
            FileMatches({"file": "VERSION", "pattern": r"(?m)^-1\.3", "diff": True}),
            True,
            r"VERSION has /(?m)^-1\.3/",
        ),
        (FileMatches({"file": "VERSION", "pattern": "1.4", "absent": True}), False, "VERSION has /1.4/"),
        (FileMatches({"file": "old.py", "pattern": "x"}), False, "old.py was removed"),
        (FileMatches({"file": "old.py", "pattern": "x", "absent": True}), True, "old.py was removed"),
        (FileMatches({"file": "README.md", "pattern": "x"}), False, "README.md was left as it was"),
    ],
)
def test_what_is_judged(evaluator: Any, passed: bool, reason: str) -> None:
    check = judged(evaluator)
    assert (check.passed, check.reason) == (passed, reason)


def test_a_run_without_a_workspace_cannot_be_judged() -> None:
    with pytest.raises(ValueError, match="the run has no workspace"):
        judged(FilesChanged("a"), AgentTrace(outputs=("done",)))


def test_a_command_that_was_not_run_is_named() -> None:
    with pytest.raises(ValueError, match=r"no command 'test' was run.*Did you mean 'tests'"):
        judged(CommandPasses("test"))


@pytest.mark.parametrize("argument", [{"file": "a"}, {"file": "a", "pattern": "x", "diff": "yes"}, "a"])
def test_a_bad_argument_is_told(argument: Any) -> None:
    with pytest.raises(ValueError, match="expects"):
        FileMatches(argument)
