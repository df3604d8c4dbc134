"""The page that maps questions to functions names functions that exist."""

import importlib
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
NAMED = sorted(
    set(re.findall(r"`((?:[a-z_0-9]+\.)+[A-Za-z_0-9]+)`", PAGE))
    - {"statistics.suite_share", "mutation.proxy"}
)


@pytest.mark.parametrize("name", NAMED)
def test_a_function_that_the_page_names_exists_and_is_documented(name: str) -> None:
    module, _, function = name.rpartition(".")
    if module.startswith("agentmut"):
        importlib.import_module(name)
        return
    found = getattr(importlib.import_module(f"agentmut.stats.{module}"), function)
    assert found.__doc__


def test_the_page_names_all_that_it_lists() -> None:
    assert len(NAMED) > 50
