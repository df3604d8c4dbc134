"""The page on the Python API lists the public names, and every one of them can be imported."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import agentmut

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
ROWS = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
LISTED = {name for row in ROWS for name in re.findall(r"`(\w+)`", row)}
PUBLIC: list[str] = getattr(agentmut, "__all__")  # noqa: B009  # the stub does not show it
OLD_NAMES = {
    "agentmut.config": "AgentConfig",
    "agentmut.trace": "AgentTrace",
    "agentmut.scenario": "Scenario",
    "agentmut.mutant": "Candidate",
    "agentmut.protocols": "SuiteSpec",
    "agentmut.relation": "FollowUp",
    "agentmut.tools": "ToolSpec",
    "agentmut.mcp": "watch",
    "agentmut.stopping": "SequentialStopping",
}


def test_the_page_lists_the_public_names_and_no_others() -> None:
    assert set(PUBLIC) == LISTED


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(agentmut, name) is not None


@pytest.mark.parametrize(("module", "name"), OLD_NAMES.items())
def test_a_module_path_of_0_1_0_gives_the_same_object(module: str, name: str) -> None:
    assert getattr(importlib.import_module(module), name) is getattr(agentmut, name)


def test_a_moved_module_keeps_its_own_spec() -> None:
    moved = importlib.import_module("agentmut.config")
    assert moved.__name__ == "agentmut.nouns.config"
    assert moved.__spec__ is not None
    assert moved.__spec__.name == "agentmut.nouns.config"


@pytest.mark.process
def test_a_moved_module_still_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "agentmut.mcp_proxy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "give the command of the tool server" in done.stderr
    assert done.returncode != 0


def test_a_name_that_never_was_is_an_import_error() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("agentmut.nothing")
