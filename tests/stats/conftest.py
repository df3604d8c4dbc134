"""Decision tables are shared by all tests of the run: each is computed once."""

from collections.abc import Callable
from functools import cache

import pytest

from agentmut.stats.kill.rule import KillDesign, KillTable, decision_table


@pytest.fixture(scope="session")
def table_of() -> Callable[[int, int, KillDesign], KillTable]:
    return cache(decision_table)
