"""Exit codes never lie: whatever agents and evaluators do, a command ends with a documented code and JSON."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.cli.odd_projects import ODD_PROJECTS, OddProject, check

pytestmark = [pytest.mark.process, pytest.mark.whole]


def judged(*acts: str) -> OddProject:
    return OddProject("def", ("pass",), "'hello'", only_mutants=False, judge_acts=acts, verdict="True")


@given(ODD_PROJECTS)
@example(judged("sys.setrecursionlimit(60)"))
@example(judged("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()"))
@example(judged("os.fork()"))
@example(OddProject("def", ("builtins.len = lambda each: 0",), "0", only_mutants=True, isolate="process"))
@example(
    OddProject("def", ("pass",), "0", only_mutants=True, hook="teardown", hook_acts=("raise SystemExit(1)",))
)
@settings(
    max_examples=4,  # `make slow` tries 3,000
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_a_command_ends_with_a_documented_code_and_json(project: OddProject) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        check(project, Path(folder))
