"""`pytest --agentmut` as it is typed: with workers of pytest-xdist, with odd suites, and how it says what happened."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suites.plugins_of_others import OTHERS

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
AGENT = """
def run(config, said):
    if "crash" in said:
        raise KeyError(said)
    return "5 days" if "5 days" in config.prompt else "soon"
"""
TESTS = """
import os
import pytest

@pytest.fixture(scope="session")
def worker():
    with open("workers", "a") as file:
        print(os.getpid(), file=file)

@pytest.mark.parametrize("said", ["refund [a/b]::c", "caf\\u00e9 \\U0001f600\\x1b[31m"])
class TestDesk:
    def test_refund(self, said, worker, agentmut_agent):
        print("x" * 1_000_000)
        assert "5 days" in agentmut_agent.run(said).text
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: desk:run
  config:
    prompt: |
      - Say that a refund takes 5 days.
      - Never promise a delivery date.
suite: {pytest: .}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 6, n_max: 10, delta: 0.8, seed: 1}
BUDGET
"""


def suite(folder: Path, tests: str = TESTS, budget: str = "budget: {trials: 2000}") -> Path:
    (folder / "desk.py").write_text(AGENT)
    (folder / "test_desk.py").write_text(tests)
    (folder / "agentmut.yaml").write_text(PROJECT.replace("BUDGET", budget))
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return folder


def ran(folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit code, and what was printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", "COLUMNS": "200"}
    command = [sys.executable, "-m", "pytest", "--agentmut", "-p", "no:cacheprovider", *OTHERS, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout or done.stderr


def test_workers_of_xdist_are_the_campaigns_and_the_last_line_says_what_became_of_it(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    code, said = ran(suite(tmp_path), "-n", "2")
    assert code == 0, said
    assert len(set((tmp_path / "workers").read_text().split())) == 2
    last = said.strip().splitlines()[-1]
    assert re.fullmatch(r"=+ agentmut: finished, 1 killed, 1 survived in [0-9.]+s( \([0-9:]+\))? =+", last)
    assert "no tests ran" not in said and "xxx" not in said and "\x1b[31m" not in said
    assert len(said.splitlines()) < 40, said
    assert "Mutation score" in said and "`agentmut report --full` for all" in said
    assert "--project" not in said  # pytest was started in the project's folder


def test_the_commands_of_the_summary_lead_to_a_project_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "desk").mkdir()
    suite(tmp_path / "desk")
    code, said = ran(tmp_path, "desk", "--agentmut-project", "desk")
    assert code == 0, said
    assert "--project desk" in said


def test_a_campaign_that_could_not_be_carried_out_says_so_in_the_last_line(tmp_path: Path) -> None:
    code, said = ran(suite(tmp_path, budget=""), "-q")
    assert code == 2
    assert "no budget is set" in said
    assert re.fullmatch(
        r"agentmut: no result, exit code 2 in [0-9.]+s( \([0-9:]+\))?", said.strip().splitlines()[-1]
    )


def test_junit_of_pytest_is_refused_since_it_would_hold_no_test(tmp_path: Path) -> None:
    code, said = ran(suite(tmp_path), "--agentmut", "--junitxml=out.xml")
    assert code == 4
    assert "agentmut report --format junit" in said
    assert not (tmp_path / "out.xml").exists()
