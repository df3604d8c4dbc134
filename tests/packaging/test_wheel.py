"""The wheel: what is in it, and that it works without the folder it was made from."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
KINDS = {".py", ".pyi", ".yaml", ".json", ".toml", ".html", ".css", ".js", ".cjs"}
TEMPLATES = "agentmut/usecases/templates/"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of what git knows, so that nothing else of this folder gets in."""
    copy = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(copy / "dist"),
        ".",
    ]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (copy / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def files(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def sources() -> set[str]:
    """Name the files of the package's folders as they stand in the tree."""
    found = {f for f in (ROOT / "agentmut").rglob("*") if f.suffix in KINDS and f.is_file()}
    names = {str(f.relative_to(ROOT)) for f in found}
    for folder in ("adapters", "operators", "relations"):
        names |= {f"agentmut/{f.relative_to(ROOT)}" for f in (ROOT / folder).rglob("*") if f.suffix in KINDS}
    return {name for name in names if "__pycache__" not in name}


def test_the_wheel_has_every_module_face_and_file_of_data(files: set[str]) -> None:
    assert sources() <= files
    assert "agentmut/nouns/__init__.pyi" in files
    assert "agentmut/py.typed" in files


def test_the_wheel_has_nothing_else(files: set[str]) -> None:
    others = {name for name in files - sources() if not name.startswith(TEMPLATES)}
    assert others == {"agentmut/py.typed"}


def test_the_commands_work_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "unpacked")
    commands = {
        ("--help",): "Usage",
        ("init", "agent"): "agentmut.yaml",
        ("mutants", "--project", "agent"): "mutants",
    }
    for arguments, expected in commands.items():
        done = subprocess.run(
            [sys.executable, "-m", "agentmut", *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "unpacked")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
