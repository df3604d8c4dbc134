"""The page on frameworks says what the kit found, and nothing else."""

from pathlib import Path

from agentmut.plugins import Group, names
from tests.frameworks.kit import FOUND
from tests.frameworks.matrix import page

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"


def test_the_page_is_made_of_what_the_kit_found() -> None:
    assert PAGE.read_text("utf-8") == page(FOUND), "make frameworks"


def test_what_the_kit_found_is_of_adapters_that_there_are() -> None:
    assert {path.stem for path in FOUND.glob("*.json")} <= set(names(Group.ADAPTERS))
