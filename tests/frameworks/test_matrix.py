"""The page on frameworks says what the kit found, and nothing else."""

import tomllib
from pathlib import Path

import pytest

from agentmut.seams.plugins import Group, names
from tests.frameworks.kit import FOUND
from tests.frameworks.matrix import GUIDES, page

pytestmark = pytest.mark.framework

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "frameworks.md"


def test_the_page_is_made_of_what_the_kit_found() -> None:
    assert PAGE.read_text("utf-8") == page(FOUND), "make frameworks"


def test_the_kit_has_run_agents_of_every_adapter_that_runs_them_here() -> None:
    outside = {"http"}  # an agent in another process, of which there is no framework to name
    assert {path.stem for path in FOUND.glob("*.json")} == set(names(Group.ADAPTERS)) - outside


def test_every_adapter_that_the_kit_has_run_has_its_page_and_its_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {path.stem for path in FOUND.glob("*.json")} == set(GUIDES)
    for _, guide, extra in GUIDES.values():
        assert (ROOT / "docs" / guide.partition("#")[0]).is_file()
        assert not extra or extra in extras
