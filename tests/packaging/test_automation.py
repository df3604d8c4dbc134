"""What runs by itself: workflows, hooks, the targets they call, and the fragments of the changelog."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_calls_targets_that_exist(file: Path) -> None:
    text = file.read_text()
    jobs = yaml.safe_load(text)["jobs"]
    assert all(job["runs-on"] and job["timeout-minutes"] and job["steps"] for job in jobs.values())
    called = set(re.findall(r"run: make ([a-z-]+)", text))
    for job in jobs.values():
        called |= set(job.get("strategy", {}).get("matrix", {}).get("target", []))
    assert called <= TARGETS


def test_the_quick_check_runs_on_every_supported_python_on_two_systems() -> None:
    matrix = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text())["jobs"]["quick"]["strategy"][
        "matrix"
    ]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos"}


def test_every_target_is_explained_by_make_help() -> None:
    done = subprocess.run(["make", "--silent", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    explained = {line.split()[0] for line in done.stdout.splitlines()}
    assert TARGETS - explained == {"clean"}


def test_the_hooks_are_valid() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-config", ".pre-commit-config.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_newest_version_of_the_changelog_is_the_package_s() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest = re.findall(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[0]
    assert newest[0] == version


def test_fragments_become_sections(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "changelog.d/template.md.jinja", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "changelog.d" / "18.fixed.md").write_text("A drift kills no mutant.\n")
    (tmp_path / "changelog.d" / "+price.added.md").write_text("A campaign in rounds.\n")
    command = [
        sys.executable,
        "-m",
        "towncrier",
        "build",
        "--yes",
        "--version",
        "9.9.9",
        "--date",
        "2030-01-02",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "CHANGELOG.md").read_text()
    start = text.index("## 9.9.9 (2030-01-02)")
    section = text[start : text.index("## 0.1.0")]
    assert re.sub(r"\n+", "\n", section) == (
        "## 9.9.9 (2030-01-02)\n### Added\n- A campaign in rounds.\n### Fixed\n- A drift kills no mutant. (#18)\n"
    )
