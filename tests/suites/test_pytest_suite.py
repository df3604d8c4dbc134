"""Real pytest suites: what their tests say of the agent, and which losses they notice."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.session import open_session
from agentmut.nouns.execution import Ending, Execution
from agentmut.project.loading import load_project
from agentmut.suites.pytest_suite.pytest_settings import read_settings
from agentmut.trial.executor import TrialRequest
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "testdata"


def copied(name: str, folder: Path) -> Path:
    project = folder / name
    shutil.copytree(DATA / name, project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    return project


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Processes find agentmut; what a project puts on the path is taken off again."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST"):
        monkeypatch.delenv(name, raising=False)
    before, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = before
    for name in set(sys.modules) - modules:
        if name in ("desk", "odd_agent"):
            del sys.modules[name]


def by_description(mutants: Sequence[Any]) -> dict[str, str]:
    return {row.description: row.status for row in mutants}


def test_pytest_finds_the_rule_that_no_test_checks_and_calls_no_noisy_test_a_gap(tmp_path: Path) -> None:
    pytest.importorskip("pytest_asyncio")
    project = copied("pytest_desk", tmp_path)
    command = [sys.executable, "-m", "pytest", "--agentmut", "-p", "no:rerunfailures", "-p", "no:repeat"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 killed, 1 survived" in done.stdout
    (file,) = (project / ".agentmut" / "runs").glob("*/result.json")
    result = json.loads(file.read_text())
    status = {row["description"]: row["status"] for row in result["mutants"]}
    assert status == {
        'drop "Greet the customer."': "killed",  # by the noisy test among others
        'drop "Say that a refund takes 5 days."': "killed",
        'drop "Never promise a delivery date."': "survived",
    }
    assert {row["gap"] for row in result["mutants"] if row["status"] == "survived"} == {"assertion"}
    noisy = next(row for row in result["baseline"] if "noisy" in row["scenario"])
    assert 0 < noisy["passes"] < noisy["trials"]
    assert not (project / ".pytest_cache" / "v" / "cache" / "lastfailed").exists()


@pytest.mark.whole
def test_tests_that_know_nothing_of_agentmut_are_measured_on_the_wire(
    tmp_path: Path, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Any) -> str:
        prompt, asked = request.messages[0].text, request.messages[-1].text
        said = ["Hello." if "Greet" in prompt else "Yes?"]
        if "refund" in asked:
            said.append("5 days." if "5 days" in prompt else "Soon.")
        if "delivery" in asked and "Never promise" not in prompt:
            said.append("Tomorrow.")
        return " ".join(said)

    service.answer = answer
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    result = measure(copied("pytest_on_wire", tmp_path))
    assert {row.scenario.rpartition("::")[2] for row in result.baseline} == {
        "test_a_refund",
        "test_a_greeting_that_is_missed_at_times[asyncio]",
        "test_delivery",
        "test_of_a_reply_that_is_held",
    }
    (held,) = (note for note in result.notes if "a session fixture or a cache holds the answer" in note)
    assert held.startswith(
        "test evals/test_held.py::test_of_a_reply_that_is_held asked its model in 1 of 12 runs"
    )
    assert not any("held" in one.scenario for row in result.mutants for one in row.evidence)
    assert by_description(result.mutants) == {
        'drop "Greet the customer."': "killed",
        'drop "Say that a refund takes 5 days."': "killed",
        'drop "Never promise a delivery date."': "survived",
    }
    assert {row.witness.route for row in result.mutants if row.witness} == {"sent"}


def endings(oddities: Path) -> dict[str, Execution]:
    """How the tests of a suite of oddities end, each run twice, but those once that cost a worker its life."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.delenv("PYTEST_ADDOPTS", raising=False)
        before = list(sys.path)
        project = load_project(oddities)
        session = open_session(project)
        names = [scenario.name for scenario in session.scenarios]
        fatal = [name for name in names if name.endswith(("hangs", "ends_its_process"))]
        first = [name for name in names if name not in fatal]
        found = asyncio.run(_run(make_executor(session), [*fatal, *first, *first]))
        sys.path[:] = before
    return {name.rpartition("::")[2]: execution for name, execution in found.items()}


async def _run(executor: Any, names: Sequence[str]) -> dict[str, Execution]:
    found = {}
    async with executor.session():
        for number, name in enumerate(names):
            execution = await executor.execute(TrialRequest(None, name, f"t{number}"))
            found[f"{name} again" if name in found else name] = execution
    return found


NO_JUDGEMENT = (
    ("test_fixture_error", Ending.CASE_ERROR, "setup of the test: RuntimeError: no database"),
    ("test_teardown_error", Ending.CASE_ERROR, "teardown of the test: RuntimeError: cannot clean up"),
    ("test_own_error", Ending.CASE_ERROR, "call of the test: KeyError: 'key'"),
    ("test_agent_error", Ending.RAISED, "ValueError: the agent cannot do that"),
    ("test_skipped", Ending.CASE_ERROR, "skipped: not today"),
    ("test_ends_its_process", Ending.CASE_ERROR, "the process of the test ended (exit code 1)"),
    ("test_hangs", Ending.TIMEOUT, "no answer within 3 s"),
)
JUDGED = (
    ("test_agent_error_that_is_expected", True, "passed"),
    ("test_known_to_fail", True, "xfail, and it failed"),
    ("test_no_longer_fails", False, "XPASS(strict)"),
    ("test_of_unittest again", True, "passed"),
    ("test_subtests", False, "assert 1 == 0"),
    ("test_subtests again", False, "assert 1 == 0"),
    ("test_prints again", True, "passed"),
    ("test_that_is_rerun", False, "not rerun"),
)


def test_judgements_are_pytests_own_and_what_is_none_is_told_apart(tmp_path: Path) -> None:
    """One test, as workers of pytest-xdist that share its parts would each run the suite."""
    oddities = copied("pytest_oddities", tmp_path)
    found = endings(oddities)
    for test, ending, said in NO_JUDGEMENT:
        reason = found[test].reason
        assert (found[test].ending, said in reason) == (ending, True), f"{test}: {reason}"
    for test, passed, said in JUDGED:
        assert found[test].ending is Ending.ANSWERED, f"{test}: {found[test].reason}"
        (check,) = found[test].trace.checks
        assert (check.passed, said in check.reason) == (passed, True), f"{test}: {check.reason}"
    scopes = [found[f"test_scopes{again}"].trace.checks[0].reason for again in ("", " again")]
    assert "module fixture 1, ended 0" in scopes[0]
    assert "module fixture 2, ended 1" in scopes[1]
    assert (oddities / "ended.txt").read_text() == "session 1 ended"  # a run that ends by itself tears down


def test_a_file_that_cannot_be_collected_is_named_with_its_error(tmp_path: Path) -> None:
    project = copied("pytest_oddities", tmp_path)
    (project / "evals" / "test_broken.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(UsageError, match=r"evals/test_broken\.py: ModuleNotFoundError.*nowhere_to_be_found"):
        open_session(load_project(project))
    file = project / "agentmut.yaml"
    file.write_text(file.read_text().replace("evals", "tests/none"))
    with pytest.raises(UsageError, match="file or directory not found: tests/none"):
        open_session(load_project(project))


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"pth": "x"}, "unknown key 'pth'. Did you mean 'path'"),
        ({"path": "x", "paths": ["y"]}, "not both"),
        (3, "expects a path"),
        ({"args": 3}, "expects arguments of pytest"),
        ({"raised": "pass"}, "suite.pytest.raised"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(argument: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_settings(argument, "/project")
