"""Every verb that judges stored runs bounds the evaluators of users: one that never returns is an error."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from agentmut._base.errors import EvaluatorError, ExitCode
from agentmut.cli.entry import app
from tests.cli.ran_project import ran

CATASTROPHE = 'import re\ndef judge(trace):\n    return bool(re.search(r"^(a+)+$", "a" * 41 + "!"))\n'
RUN = {
    "task_id": 0,
    "trial": 0,
    "reward": 1.0,
    "info": {},
    "traj": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
}
"""A run of another tool, in the format of tau-bench."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def judged(tmp_path: Path, finished: Path) -> Any:
    """The project with another evaluator since its run: code of a user, in a module of its own."""
    folder = Path(shutil.copytree(finished, tmp_path / "project", symlinks=True))

    def write(code: str, **execution: object) -> Path:
        module = f"judge_of_{abs(hash(str(tmp_path))):x}"
        (folder / f"{module}.py").write_text(code)
        suite = yaml.safe_load((folder / "s.yaml").read_text())
        suite[0]["evaluators"] = [{"python": f"{module}:judge"}]
        (folder / "s.yaml").write_text(yaml.safe_dump(suite))
        project = yaml.safe_load((folder / "agentmut.yaml").read_text())
        (folder / "agentmut.yaml").write_text(yaml.safe_dump({**project, "execution": execution}))
        return folder

    return write


def told(folder: Path, *words: str) -> str:
    """Return the error of a command that has to end with exit code 4."""
    done = CliRunner().invoke(app, [*words, "--project", str(folder)])
    assert isinstance(done.exception, EvaluatorError), done.output
    assert done.exception.exit_code == ExitCode.BROKEN
    return str(done.exception)


@pytest.mark.parametrize(
    "verb",
    [
        ("rescore",),
        ("trials",),
        ("trials", "--trial", "1"),
        ("trend",),
        ("suggest",),
        ("relations", "--stored"),
        ("plan",),
    ],
)
def test_an_evaluator_that_lets_python_run_nothing_else_is_an_error_after_its_deadline(
    judged: Any, verb: tuple[str, ...]
) -> None:
    said = told(judged(CATASTROPHE, evaluator_timeout=0.1), *verb)
    assert "took more than 0.1 s on one run" in said
    assert "judge_of_" in said
    assert ".py:3 in judge" in said
    assert "execution.evaluator_timeout" in said


@pytest.mark.parametrize(
    ("rude", "how"),
    [
        ("import os; os._exit(0)", "exit code 0"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise SystemExit(0)", "SystemExit"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
    ],
)
def test_an_evaluator_that_ends_its_process_is_an_error(judged: Any, rude: str, how: str) -> None:
    assert how in told(judged(f"def judge(trace):\n    {rude}\n"), "rescore")


def test_an_evaluator_in_a_thread_has_a_deadline_too(judged: Any) -> None:
    waits = "import time\ndef judge(trace):\n    while True:\n        time.sleep(0.001)\n"
    said = told(judged(waits, evaluator_timeout=0.1, isolate_evaluators="thread"), "rescore")
    assert "took more than 0.1 s on one run" in said
    assert " in judge" in said


def test_the_copy_judges_as_the_process_does(judged: Any) -> None:
    code = "seen = []\ndef judge(trace):\n    seen.append(trace)\n    return 'hello' in trace.text or len(seen) < 0\n"
    runs = {}
    for where in ("process", "thread"):
        done = CliRunner().invoke(
            app, ["rescore", "--json", "--project", str(judged(code, isolate_evaluators=where))]
        )
        assert done.exit_code == 0, done.output
        runs[where] = json.loads(done.output)
    assert runs["process"]["after"] == runs["thread"]["after"]


def test_imported_runs_are_judged_with_a_deadline(judged: Any) -> None:
    folder = judged(CATASTROPHE, evaluator_timeout=0.1)
    (folder / "runs.json").write_text(json.dumps([RUN]))
    done = CliRunner().invoke(app, ["import", str(folder / "runs.json"), "--project", str(folder)])
    assert done.exit_code == 0, done.output
    suite = yaml.safe_load((folder / "s.yaml").read_text())
    name = json.loads(CliRunner().invoke(app, ["analyze", "--json", "--project", str(folder)]).output)[
        "scenarios"
    ][0]["scenario"]
    (folder / "s.yaml").write_text(yaml.safe_dump([{**suite[0], "name": name}]))
    assert "took more than 0.1 s on one run" in told(folder, "analyze")
