"""The contract of the rooms: kept by this tree, and broken by each kind of import that it forbids."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.house import picture

pytestmark = pytest.mark.process

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
UPWARD = {"agentmut/nouns/planted.py": "from agentmut.report import Page\n"}
CIRCLE = {
    "agentmut/nouns/planted.py": "from agentmut.nouns.planted_too import b\n\na = b\n",
    "agentmut/nouns/planted_too.py": "from agentmut.nouns.planted import a\n\nb = a\n",
}
PAST_THE_FACE = {"agentmut/report/planted.py": "from agentmut.nouns.config import AgentConfig\n"}
ROOM_WITHOUT_LAYER = {"agentmut/attic/__init__.py": ""}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the linter of imports on the package in a folder."""
    command = [
        sys.executable,
        "-c",
        "import sys; from importlinter.cli import lint_imports_command as run; run()",
    ]
    return subprocess.run(
        [*command, "--no-cache", "--config", str(folder / "pyproject.toml")],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, with its root folders in their places."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "agentmut", folder / "agentmut", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_this_tree_keeps_the_contract(tree: Path) -> None:
    done = lint(tree)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("planted", "broken"),
    [
        (UPWARD, "Rooms import rooms below them only BROKEN"),
        (CIRCLE, "No circle between files BROKEN"),
        (PAST_THE_FACE, "The face of nouns BROKEN"),
        (ROOM_WITHOUT_LAYER, "Rooms import rooms below them only BROKEN"),
    ],
)
def test_a_planted_violation_breaks_it(tree: Path, planted: dict[str, str], broken: str) -> None:
    for name, text in planted.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text)
    try:
        done = lint(tree)
    finally:
        for name in planted:
            (tree / name).unlink()
        shutil.rmtree(tree / "agentmut" / "attic", ignore_errors=True)
    assert done.returncode != 0
    assert broken in done.stdout


def test_the_design_page_draws_the_layers_of_this_contract() -> None:
    assert picture() in (ROOT / "docs" / "design.md").read_text(), "paste: python -m tests.packaging.house"
