"""What docs/promptfoo.md and docs/deepeval.md show is valid, and its first project runs as it says."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.session import open_session
from agentmut.project.loading import load_project
from agentmut.project.schema import ProjectFile
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings, command_of, read_settings
from tests.docs.shown_blocks import blocks

ROOT = Path(__file__).parents[2]
PROMPTFOO = (ROOT / "docs" / "promptfoo.md").read_text()
DEEPEVAL = (ROOT / "docs" / "deepeval.md").read_text()


def _promptfoo() -> str:
    try:
        return " ".join(command_of(PromptfooSettings(path=""), str(ROOT)))
    except UsageError:
        return ""


def campaign(folder: Path, files: dict[str, str], **environment: str) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    outer = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    env = {**outer, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-c", "from agentmut.cli import main; main()", "run", "--yes", "--json"]
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("block", [b for b in blocks(PROMPTFOO, "yaml") if "suite:" in b])
def test_every_promptfoo_suite_that_is_shown_is_a_valid_one(block: str, tmp_path: Path) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text("")
    shown: dict[str, Any] = yaml.safe_load(block)
    assert read_settings(shown["suite"]["promptfoo"], str(tmp_path)).path == "promptfooconfig.yaml"
    if "version" in shown:
        ProjectFile.model_validate(shown)


@pytest.mark.skipif(
    not _promptfoo(), reason="promptfoo is not installed here; `make test-promptfoo` installs it"
)
def test_the_promptfoo_project_that_is_shown_is_measured(tmp_path: Path) -> None:
    project, config = blocks(PROMPTFOO, "yaml")[:2]
    (code,) = blocks(PROMPTFOO, "python")
    project += "mutation: {operators: [prompt.drop_instruction]}\nstatistics: {baseline: 10, n_max: 20, delta: 0.5}\n"
    files = {"agentmut.yaml": project, "promptfooconfig.yaml": config, "desk.py": code}
    said = campaign(tmp_path, files, AGENTMUT_PROMPTFOO=_promptfoo())
    assert re.search(r'"status": ?"killed"', said) and re.search(r'"status": ?"survived"', said)


@pytest.mark.process
@pytest.mark.skipif(importlib.util.find_spec("deepeval") is None, reason="deepeval is not installed here")
def test_the_deepeval_project_that_is_shown_is_collected(tmp_path: Path) -> None:
    """What a campaign on such a project finds, tests/suites/test_deepeval_suite.py shows in every run."""
    code, test = blocks(PROMPTFOO, "python")[0], blocks(DEEPEVAL, "python")[0]
    (tmp_path / "evals").mkdir()
    (tmp_path / "agentmut.yaml").write_text(blocks(DEEPEVAL, "yaml")[0])
    (tmp_path / "desk.py").write_text(code)
    (tmp_path / "evals" / "test_desk.py").write_text(test)
    collected = open_session(load_project(tmp_path)).scenarios
    assert [case.name for case in collected] and all("test_desk.py" in case.name for case in collected)


@pytest.mark.skipif(importlib.util.find_spec("deepeval") is None, reason="deepeval is not installed here")
@pytest.mark.skipif(
    not os.environ.get("AGENTMUT_PROMPTFOO"), reason="half a minute: make test-promptfoo runs it"
)
def test_the_deepeval_project_that_is_shown_is_measured(tmp_path: Path) -> None:
    project = blocks(DEEPEVAL, "yaml")[0]
    project += "mutation: {operators: [prompt.drop_instruction]}\nstatistics: {baseline: 10, n_max: 20, delta: 0.5}\n"
    code, test = blocks(PROMPTFOO, "python")[0], blocks(DEEPEVAL, "python")[0]
    said = campaign(tmp_path, {"agentmut.yaml": project, "desk.py": code, "evals/test_desk.py": test})
    assert re.search(r'"status": ?"killed"', said) and not re.search(r'"status": ?"survived"', said)
