"""A module of the repository that cannot be imported is an error of the test run, and no silent skip."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = '"""A module.\n\n>>> 1\n1\n"""\n'
TEST = "\n\ndef test_it() -> None:\n    pass\n"

pytestmark = pytest.mark.process


def _run(folder: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    """Run pytest, as this repository configures it, on one module."""
    module = folder / "tests" / "room" / name
    module.parent.mkdir(parents=True)
    module.write_text(text)
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / file, folder / file)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/room"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("missing", ["no_such_package", "agentmut.no_such_room"])
def test_a_test_module_that_cannot_be_imported_is_an_error(tmp_path: Path, missing: str) -> None:
    done = _run(tmp_path, "test_broken.py", f"import {missing}{TEST}")
    assert done.returncode == 2, done.stdout
    assert "1 error" in done.stdout


def test_a_name_that_the_package_lacks_is_an_error(tmp_path: Path) -> None:
    done = _run(tmp_path, "examples.py", f"{EXAMPLE}from agentmut.nouns import NoSuchName\n")
    assert done.returncode == 2, done.stdout


def test_examples_that_need_an_extra_which_is_not_installed_are_skipped(tmp_path: Path) -> None:
    done = _run(tmp_path, "examples.py", f"{EXAMPLE}import no_such_package\n")
    assert "1 skipped" in done.stdout, done.stdout


def test_a_sound_test_module_runs_once(tmp_path: Path) -> None:
    done = _run(tmp_path, "test_sound.py", TEST)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
