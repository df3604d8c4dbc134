"""The page on error rates counts what the calibration tables have: each promise that fails is named."""

from collections import Counter
from xml.etree import ElementTree

import pytest

from benchmarks.calibration.in_words import TABLES, as_csv, page, sections
from benchmarks.calibration.pictures import Dot, Plot, plots, svg
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


def test_the_tables_are_data_with_a_row_a_figure() -> None:
    head, *rows = as_csv(TABLE).splitlines()
    assert head == "section,figure,measured,promised,result"
    assert rows == [
        "Kill rule,false kills,0.04,at most 0.05,holds",
        'Kill rule,"false kills, odd",0.07,at most 0.05,fails',
        "Kill rule,trials,12,-,",
    ]


def test_a_plot_has_a_dot_for_each_figure_and_a_line_at_the_promise() -> None:
    made = {plot.name: plot for plot in plots(TABLES.read_text())}
    assert len(made["false-kills"].dots) == 181  # baselines of 20 to 200 trials
    assert made["drops-noticed"].dots[0] == (0.99, 0.911)
    for plot in made.values():
        root = ElementTree.fromstring(svg(plot))
        names = Counter(each.tag.rpartition("}")[2] for each in root)
        assert names["circle"] == len(plot.dots) and names["line"] == 3
        assert (DOCS / "pictures" / f"{plot.name}.svg").is_file()
        assert f"(pictures/{plot.name}.svg)" in (DOCS / "error-rates.md").read_text()


def test_a_figure_beyond_the_plot_is_an_error_and_no_dot_at_its_border() -> None:
    plot = Plot("kills", "Kills.", "trials", "chance", (Dot(1, 0.07),), 0.05, 0.06)
    with pytest.raises(ValueError, match=r"kills: 0\.07 is outside of 0\.0 to 0\.06"):
        svg(plot)
    with pytest.raises(ValueError, match="none of its figures"):
        svg(plot._replace(dots=()))
    middle = svg(plot._replace(dots=(Dot(20, 0.03), Dot(40, 0.0))))
    assert (
        'cx="56.0" cy="108.0"' in middle and 'cx="624.0" cy="200.0"' in middle
    )  # (240 - 56) / 2 + 16 and 240 - 40
