"""The package list is written by hand, so it is compared with the folders."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
FRAMEWORKS = [
    "agents", "autogen_agentchat", "boto3", "botocore", "crewai", "google.adk", "google.genai", "llama_index", "mcp",
    "pydantic_ai", "semantic_kernel", "smolagents",
]  # fmt: skip


def declared() -> set[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    return set(settings["packages"])


def test_every_folder_with_code_is_in_the_package_list() -> None:
    core = {f.parent for f in (ROOT / "agentmut").rglob("__init__.py")}
    found = {".".join(folder.relative_to(ROOT).parts) for folder in core}
    for name in ("adapters", "operators", "relations"):
        mapped = {f.parent for f in (ROOT / name).rglob("__init__.py")}
        found |= {".".join(("agentmut", *folder.relative_to(ROOT).parts)) for folder in mapped}
    assert declared() == found


def test_linked_folders_are_relative_symlinks_to_the_root_folders() -> None:
    for name in ("adapters", "operators", "relations"):
        link = ROOT / "agentmut" / name
        assert link.is_symlink()
        assert str(link.readlink()) == f"../{name}"


@pytest.mark.parametrize("name", ["adapters", "operators", "relations"])
def test_importing_a_root_folder_under_its_own_name_is_refused(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import {name}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert f"import agentmut.{name}" in done.stderr


def test_importing_agentmut_loads_no_framework_and_no_scientific_library() -> None:
    heavy = [
        "pydantic",
        "scipy",
        "numpy",
        "nltk",
        "langgraph",
        "openai",
        "sqlalchemy",
        "aiohttp",
        *FRAMEWORKS,
    ]
    code = f"import agentmut, sys; print([m for m in sys.modules if m in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_no_framework_no_model_and_no_report() -> None:
    heavy = ["pydantic", "jinja2", "rich", "scipy", "numpy", "nltk", "openai", "sqlalchemy", "aiohttp"]
    code = (
        "import sys; sys.argv = ['agentmut', '--help']\nfrom agentmut.cli import main\n"
        f"try: main()\nfinally: print('LOADED', [m for m in sys.modules if m in {heavy}])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "report" in done.stdout
    assert done.stdout.rsplit("LOADED", 1)[1].strip() == "[]"
