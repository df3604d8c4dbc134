"""The page on error rates counts what the calibration tables have: each promise that fails is named."""

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.calibration import in_words, tables
from benchmarks.calibration.__main__ import report
from benchmarks.calibration.figures import Figure, Section
from benchmarks.calibration.in_words import as_csv, page
from benchmarks.calibration.pictures import Dot, Plot, plots, svg
from benchmarks.calibration.strips import promises, shares
from benchmarks.calibration.tables import INDEX, Result, Row, Table, read, table_of, write
from tests.docs.test_every_block import DOCS

SECTION = Section(
    "Kill rule",
    "By hand.",
    (
        Figure("false kills", 0.04, "at most 0.05", high=0.05),
        Figure("false kills, odd", 0.07, "at most 0.05", high=0.05),
        Figure("false kills, drawn", 0.051, "at most 0.05", high=0.05, error=0.002),
        Figure("trials", 12, "-"),
    ),
)
TABLE = table_of(SECTION, "Commit abc")


def test_the_page_and_its_plots_are_what_the_command_writes_from_the_files() -> None:
    stored = read()
    assert (DOCS / "error-rates.md").read_text() == page(stored)
    assert len(stored) > 15 and all(table.made and table.how for table in stored)
    assert (DOCS / "pictures" / "promises.svg").read_text() == promises(stored)
    assert "(pictures/promises.svg)" in page(stored)


def test_the_folder_has_the_files_of_its_index_and_no_others() -> None:
    folder = DOCS / "calibration"
    assert {path.name for path in folder.iterdir()} == {INDEX, *(table.file for table in read())}


def test_a_table_is_read_as_it_was_written_and_takes_the_place_of_its_section(tmp_path: Path) -> None:
    other = Table("Watching", "Commit abc", "By hand.", (Row("a", "1", "", "-", Result.NONE),))
    write([TABLE, other], tmp_path)
    assert read(tmp_path) == (TABLE, other)
    renewed = TABLE._replace(made="Commit def", rows=TABLE.rows[:1])
    write([renewed], tmp_path)
    assert read(tmp_path) == (renewed, other)


def test_one_run_stores_its_sections_and_then_writes_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setattr(tables, "write", done.extend)
    monkeypatch.setattr(in_words, "write", lambda: done.append("page"))
    report(SECTION, "the command", write=False)
    assert not done
    report(SECTION, "the command", write=True)
    (table, page_written) = done
    assert isinstance(table, Table) and table.rows == TABLE.rows and page_written == "page"
    assert table.made.startswith("Commit ") and table.made.endswith(", by `the command`")


def test_what_holds_and_what_fails_is_counted_and_named() -> None:
    text = page([TABLE])
    assert "**2 of 3 promised figures hold.** 1 of them are beyond the" in text
    assert "- **Kill rule**, false kills, odd: 0.07, promised at most 0.05.\n" in text
    assert "| [Kill rule](calibration/kill-rule.csv) | 2 of 3 | 1 |" in text


def test_all_files_as_one_have_a_row_a_figure() -> None:
    head, *rows = as_csv([TABLE]).splitlines()
    assert head == "section,figure,measured,error,promised,result"
    assert rows == [
        "Kill rule,false kills,0.04,,at most 0.05,holds",
        'Kill rule,"false kills, odd",0.07,,at most 0.05,fails',
        'Kill rule,"false kills, drawn",0.051,0.002,at most 0.05,holds within its error',
        "Kill rule,trials,12,,-,",
    ]


def test_the_plot_of_all_promises_has_the_share_of_each_upper_bound() -> None:
    assert shares(TABLE) == pytest.approx((0.8, 1.4, 1.02))
    drawn = promises([TABLE])
    assert [f'cx="{x}"' in drawn for x in ("747.5", "933.0", "815.5")] == [
        True
    ] * 3  # 500 + 464 * share / 1.5
    far = TABLE._replace(rows=(Row("kills", "0.2", "", "at most 0.05", Result.FAILS),))
    with pytest.raises(ValueError, match=r"Kill rule: a figure is more than 1\.5 of its promise"):
        promises([far])


def test_a_plot_has_a_dot_for_each_figure_and_a_line_at_the_promise() -> None:
    made = {plot.name: plot for plot in plots(read())}
    assert len(made["false-kills"].dots) == 181  # baselines of 20 to 200 trials
    assert made["drops-noticed"].dots[0] == (0.99, 0.911)
    for plot in made.values():
        drawn = svg(plot)
        names = Counter(each.tag.rpartition("}")[2] for each in ElementTree.fromstring(drawn))
        assert names["circle"] == len(plot.dots) and names["line"] == 3
        assert (DOCS / "pictures" / f"{plot.name}.svg").read_text() == drawn
        assert f"(pictures/{plot.name}.svg)" in (DOCS / "error-rates.md").read_text()


def test_a_figure_beyond_the_plot_is_an_error_and_no_dot_at_its_border() -> None:
    plot = Plot("kills", "Kills.", "trials", "chance", (Dot(1, 0.07),), 0.05, 0.06)
    with pytest.raises(ValueError, match=r"kills: 0\.07 is outside of 0\.0 to 0\.06"):
        svg(plot)
    with pytest.raises(ValueError, match="none of its figures"):
        svg(plot._replace(dots=()))
    middle = svg(plot._replace(dots=(Dot(20, 0.03), Dot(40, 0.0))))
    # (240 - 56) / 2 + 16 and 240 - 40
    assert 'cx="56.0" cy="108.0"' in middle and 'cx="624.0" cy="200.0"' in middle
