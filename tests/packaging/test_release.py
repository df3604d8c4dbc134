"""What a release needs: addresses of the project, notes of the version, and a wheel that one command tries."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.packaging.test_wheel import wheel  # noqa: F401 - a fixture

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
NAMES = ["Source", "Documentation", "Changelog", "Issues"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The scripts of a release with the files that they read."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def addresses(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(copy / ".ci" / "addresses"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def urls(copy: Path) -> dict[str, str]:
    return dict(tomllib.loads((copy / "pyproject.toml").read_text())["project"].get("urls", {}))


def test_addresses_are_demanded_written_and_written_anew(copy: Path) -> None:
    if not urls(copy):
        done = addresses(copy, "--check")
        assert done.returncode == 1
        assert all(name in done.stderr for name in NAMES)
    rest = tomllib.loads((copy / "pyproject.toml").read_text())
    for owner in ("first", "second"):
        assert addresses(copy, f"https://git.example/{owner}/agentmut/").returncode == 0
        assert urls(copy)["Source"] == f"https://git.example/{owner}/agentmut"
        assert list(urls(copy)) == NAMES
        assert addresses(copy, "--check").returncode == 0
    text = (copy / "pyproject.toml").read_text()
    assert text.count("[project.urls]\n") == 1
    written = tomllib.loads(text)
    assert written["project"].pop("urls")
    rest["project"].pop("urls", None)
    assert written == rest


@pytest.mark.parametrize(
    "wrong", ["http://git.example/a/agentmut", "git.example", "https://x/a\n[project]", ""]
)
def test_what_is_no_address_is_not_written(copy: Path, wrong: str) -> None:
    before = (copy / "pyproject.toml").read_text()
    assert addresses(copy, wrong).returncode == 2
    assert (copy / "pyproject.toml").read_text() == before


def test_a_version_is_not_tagged_without_addresses() -> None:
    script = (ROOT / ".ci" / "release").read_text()
    assert script.index(".ci/addresses --check ||") < script.index("git tag --annotate")


def test_the_notes_of_a_version_are_its_section_of_the_changelog(copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.1.0 (2030-01-02)\n\n### Added\n\n- News.\n\n## 1.0.0 (2029-01-02)\n\n- Old.\n"
    )
    notes = [str(copy / ".ci" / "notes"), "1.1.0"]
    assert subprocess.run(notes, capture_output=True, text=True, check=True).stdout.split() == [
        "###",
        "Added",
        "-",
        "News.",
    ]
    assert subprocess.run([copy / ".ci" / "notes", "1.1"], capture_output=True, check=False).returncode == 1


def test_the_workflow_tries_the_wheel_trusts_no_token_and_publishes_the_notes() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    said = {name: "\n".join(step.get("run", "") for step in job["steps"]) for name, job in jobs.items()}
    assert ".ci/try-wheel dist/*.whl" in said["build"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert ".ci/notes" in said["notes"] and jobs["notes"]["needs"] == "publish"


def test_the_wheel_works_by_pip_uvx_and_pipx_in_bare_environments(wheel: Path) -> None:  # noqa: F811
    done = subprocess.run([ROOT / ".ci" / "try-wheel", wheel], capture_output=True, text=True, check=False)
    if "No matching distribution found" in done.stderr or "Failed to fetch" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [f"{way}: works" in done.stdout for way in ("pip", "uvx", "pipx")] == [True, True, True]
    assert done.stdout.count("6  prompt.drop_instruction") == 3
