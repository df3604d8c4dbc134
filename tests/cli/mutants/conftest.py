"""The folder, and the verb called in it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmut.cli import main
from tests.cli.mutants.folder_with_config import CONFIG, SYSTEM, TOOLS, Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "system.md": SYSTEM,
        "tools.yaml": TOOLS,
        "agent.yaml": CONFIG,
        "policy.md": "Refunds take 5 days.\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture
def run(folder: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Run]:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["mutants", *arguments])
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    yield call
