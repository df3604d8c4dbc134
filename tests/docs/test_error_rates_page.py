"""The page on error rates counts what the calibration tables have: each promise that fails is named."""

from benchmarks.calibration.in_words import TABLES, page, sections
from tests.docs.test_every_block import DOCS

TABLE = """# Calibration

## Kill rule

| figure | measured | promised | |
| --- | --- | --- | --- |
| false kills | 0.04 | at most 0.05 | holds |
| false kills, odd | 0.07 | at most 0.05 | **FAILS** |
| trials | 12 | - |  |

## Words only

Nothing here.
"""


def test_the_page_begins_as_its_command_prints_it_and_the_tables_have_what_it_counts() -> None:
    """Its counts are renewed by `make slow`, which writes the tables."""
    made, written = page(TABLES.read_text()), (DOCS / "error-rates.md").read_text()
    assert written.partition("**")[0] == made.partition("**")[0]
    assert written.partition("| ---")[0].count("\n") > 20
    assert len(list(sections(TABLES.read_text()))) > 15


def test_what_holds_and_what_fails_is_counted_and_named() -> None:
    (only,) = sections(TABLE)
    assert (only.title, only.held, only.told) == ("Kill rule", 1, 1)
    assert only.failed == ("false kills, odd: 0.07, promised at most 0.05",)
    assert "**1 of 2 promised figures hold.** These do not:" in page(TABLE)
