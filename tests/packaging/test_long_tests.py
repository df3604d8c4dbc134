"""The list of long tests names tests that are there: a line of a test that was renamed would mark nothing."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = [line for line in (ROOT / "tests" / "long.txt").read_text().splitlines() if line and line[0] != "#"]


@pytest.mark.parametrize("line", LINES)
def test_a_long_test_is_there(line: str) -> None:
    file, _, test = line.partition("::")
    assert (ROOT / file).is_file()
    assert not test or f"def {test.partition('[')[0]}" in (ROOT / file).read_text()
