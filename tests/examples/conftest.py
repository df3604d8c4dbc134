"""Commands are forked from a process that has imported everything: see tests/testdata/warm_cli.py."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def warm_commands(warm: None) -> None:
    """For all tests of this folder."""
