"""What docs/pytest.md shows is read and runs as it says; the example project is measured from within pytest."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from agentmut.campaign.selection.selection import Selection
from agentmut.cli import VERBS
from agentmut.suites.pytest_suite.pytest_settings import read_settings
from agentmut.usecases.campaigns import measure
from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process

PAGE = (ROOT / "docs" / "pytest.md").read_text()
PYTEST = [*AGENTMUT, "-c", "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"]
QUIET = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
"""The process that these are forked from has imported the plugin already."""
PLAIN = ["-p", "no:deepeval", "-p", "no:langsmith_plugin", "-p", "no:rerunfailures", "-p", "no:repeat"]


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_every_suite_that_is_shown_is_a_valid_one(block: str) -> None:
    assert read_settings(yaml.safe_load(block)["suite"]["pytest"], "/p").paths


def test_the_page_names_verbs_that_exist() -> None:
    assert set(re.findall(r"agentmut ([a-z]+)\b", PAGE)) & set(VERBS) >= {"run", "test", "suggest", "show"}


def test_the_tests_that_are_shown_run_outside_of_a_campaign_on_the_agent_as_it_is(
    tmp_path: Path, warm: None
) -> None:
    pytest.importorskip("pytest_asyncio")
    _write_the_example(tmp_path)
    done = _run([*PYTEST, "-rA", *PLAIN], tmp_path)
    assert "3 passed" in done.stdout and "failed" not in done.stdout, done.stdout


def test_the_fixtures_say_what_is_missing(tmp_path: Path, warm: None) -> None:
    (tmp_path / "test_page.py").write_text(
        "def test_config(agentmut_config): ...\ndef test_it(agentmut_agent): ...\n"
    )
    done = _run([*PYTEST, *PLAIN, *QUIET], tmp_path)
    assert (
        done.stdout.count("there is no agentmut.yaml in") >= 2
        and "pytest_suite/fixtures.py" not in done.stdout
    )
    (tmp_path / "agentmut.yaml").write_text("version: 1\nagent: {config: {prompt: p}}\nsuite: {pytest: .}\n")
    done = _run([*PYTEST, *PLAIN, *QUIET], tmp_path)
    assert "names no agent.adapter" in done.stdout and "1 passed, 1 error" in done.stdout
    assert "pytest_suite/fixtures.py" not in done.stdout
    done = _run([*PYTEST, "--agentmut", *PLAIN, *QUIET], tmp_path)
    assert done.returncode == 2 and "no budget is set" in " ".join(done.stdout.split()), done.stdout


@pytest.mark.whole
def test_the_example_is_measured_and_its_blind_spot_found(
    tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    project = tmp_path / "pytest_suite"
    shutil.copytree(
        ROOT / "examples" / "pytest_suite", project, ignore=shutil.ignore_patterns(".*", "__pycache__")
    )
    settings = project / "agentmut.yaml"
    smaller = settings.read_text().replace("baseline: 20, n_max: 30", "baseline: 12, n_max: 20")
    settings.write_text(smaller.replace("concurrency: 2", "concurrency: 1"))
    for name, value in {"OPENAI_BASE_URL": simulator_url, "OPENAI_API_KEY": "none"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(PLAIN))
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = measure(project, selection=Selection(mutants=("93282e01", "4590d113")))
    assert {row.id: row.status for row in result.mutants} == {
        "93282e01": "survived",  # drop "Tell them that the workshop closes at 6."
        "4590d113": "killed",  # drop "If they ask for a refund, tell them that they need the receipt."
    }


def _write_the_example(folder: Path) -> None:
    """Write the project that the page shows: the settings with an adapter, the agent and its tests."""
    (settings,) = (
        block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "my_agent" in block
    )
    agent, tests = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (folder / "agentmut.yaml").write_text(settings)
    (folder / "my_agent.py").write_text(agent)
    (folder / "test_refunds.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")


def _run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**kept, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
