"""docs/proposals.md: its shares are those of the committed grades."""

import csv
from pathlib import Path

import pytest

from benchmarks.proposals.__main__ import counted, graded, main

ROOT = Path(__file__).parents[2]
PROPOSALS = ROOT / "benchmarks" / "proposals"
HELD = [PROPOSALS / f"grades-{n}.csv" for n in (1, 2)]
UNSEEN = [PROPOSALS / f"unseen-grades-{n}.csv" for n in (1, 2)]
LATEST = [PROPOSALS / f"unseen4-grades-{n}.csv" for n in (1, 2)]
UNGROUNDED = [PROPOSALS / f"unseen3-grades-{n}.csv" for n in (1, 2)]
FRESH = [PROPOSALS / f"fresh-grades-{n}.csv" for n in (1, 2)]
PAGE = (ROOT / "docs" / "proposals.md").read_text("utf-8")


def test_the_shares_are_those_of_the_grades(capsys: pytest.CaptureFixture[str]) -> None:
    grades = [graded(path) for path in HELD]
    assert [sum(one.values()) for one in grades] == [34, 33]
    assert counted(grades).graded == 40
    assert "85.0 % (34 of 40)" in PAGE
    assert "82.5 % (33)" in PAGE
    assert "97.5 %, kappa .91" in PAGE
    assert main(["count", *map(str, HELD)]) == 0
    assert "40 graded; yes: 0.85, 0.82 (goal 0.8); agreement 0.97, kappa 0.91" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sheets", "yes", "table", "printed"),
    [
        (LATEST, [47, 44], 1, "53 graded; yes: 0.89, 0.83 (goal 0.8); agreement 0.94, kappa 0.77"),
        (UNGROUNDED, [15, 18], 2, "51 graded; yes: 0.29, 0.35 (goal 0.8); agreement 0.94, kappa 0.87"),
        (UNSEEN, [36, 43], 3, "60 graded; yes: 0.60, 0.72 (goal 0.8); agreement 0.88, kappa 0.74"),
        (FRESH, [36, 35], 4, "60 graded; yes: 0.60, 0.58 (goal 0.8); agreement 0.98, kappa 0.97"),
    ],
)
def test_the_shares_of_agents_that_nobody_had_seen_are_those_of_the_grades(
    sheets: list[Path], yes: list[int], table: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    grades = [graded(path) for path in sheets]
    assert [sum(one.values()) for one in grades] == yes
    rejected = sum(not any(one[number] for one in grades) for number in grades[0])
    rows = PAGE.split("| rejected by both |")[table].split("\n\n")[0].splitlines()[2:]
    assert sum(int(row.split("|")[2]) for row in rows) == rejected
    missed = min(yes) < 0.8 * len(grades[0])
    assert main(["count", *map(str, sheets)]) == missed
    assert printed in capsys.readouterr().out


def test_the_page_says_the_shares_of_agents_that_nobody_had_seen() -> None:
    for said in (
        "**88.7 % (47 of 53)** | **83.0 % (44 of 53)** |",
        "the graders agree on 94.3 % of the proposals (kappa .77)",
        "| the six before, by earlier rules | 29.4 % (15 of 51) | 35.3 % (18 of 51) |",
        "| the six before those | 60.0 % (36 of 60) | 71.7 % (43 of 60) |",
        "the graders say yes to 36.8 %\n(14) and 44.7 % (17)",
    ):
        assert said in PAGE


def test_the_kinds_of_proposals_are_counted_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for beginning, said in (
        ("ends_with        quoted  rule ", "81/81*"),
        ("starts_with      quoted  rule ", "6/6*"),
        ("tool_order       -       user names it ", "21/24*"),
        ("tool_called_with user    user names it ", "56/67*"),
        ("not_contains     quoted  rule ", "29/35*"),
        ("not_contains     run     rule ", "0/10 "),
        ("states           run     tool ", "31/47*"),
        ("tool_called      -       changed only ", "5/21 "),
    ):
        (line,) = (one for one in lines if one.startswith(beginning))
        assert said in line
        assert f"{said[:-1].replace('/', ' of ')}" in PAGE


def test_what_the_present_rules_keep_stands_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forecast"]) == 0
    assert capsys.readouterr().out.rstrip() in PAGE


def test_the_shares_after_the_rules_had_changed_are_those_of_the_grades() -> None:
    found = counted([graded(PROPOSALS / f"fresh-grades-{n}.csv") for n in (3, 4)])
    assert (found.graded, [round(60 * share) for share in found.shares]) == (60, [51, 49])
    assert (round(found.agreement, 3), round(found.kappa or 0, 2)) == (0.967, 0.88)
    assert "**85.0 % (51 of 60) and 81.7 % (49)**; they agree on 96.7 %,\nkappa .88" in PAGE


def test_both_sheets_have_the_same_rows_in_another_order() -> None:
    sheets = [list(csv.DictReader(path.open(encoding="utf-8", newline=""))) for path in HELD]
    first, second = ([(row["number"], row["assertion"]) for row in sheet] for sheet in sheets)
    assert first != second
    assert sorted(first) == sorted(second)
    edges = sum(assertion.startswith(("ends_with", "starts_with")) for _, assertion in first)
    assert f"{edges} of the 40 ask how an answer begins or ends" in PAGE


def test_the_latest_sheets_have_the_same_rows_too_and_say_how_many_ask_for_an_edge() -> None:
    sheets = [list(csv.DictReader(path.open(encoding="utf-8", newline=""))) for path in LATEST]
    first, second = (
        [(row["number"], row["input"], row["rule"], row["assertion"]) for row in sheet] for sheet in sheets
    )
    assert first != second and sorted(first) == sorted(second)
    edges = sum(row[3].startswith(("ends_with", "starts_with")) for row in first)
    assert f"{edges} ask how an answer begins or ends" in PAGE


def test_the_share_that_the_author_gave_is_said_to_be_the_authors(capsys: pytest.CaptureFixture[str]) -> None:
    sheet = PROPOSALS / "unseen2-author.csv"
    grades = graded(sheet)
    assert (sum(grades.values()), len(grades)) == (35, 50)
    rows = PAGE.split("| rejected by the author |")[1].split("\n\n")[0].splitlines()[2:]
    assert sum(int(row.split("|")[2]) for row in rows) == 15
    assert "The author of the rules says yes to 70.0 % (35 of 50)" in PAGE
    assert main(["count", str(sheet)]) == 1, "the goal is missed"
    assert "50 graded; yes: 0.70 (goal 0.8)" in capsys.readouterr().out


def test_the_sheets_for_two_others_have_the_same_rows_and_no_grades() -> None:
    author, *sheets = (
        list(csv.DictReader((PROPOSALS / f"unseen2-{name}.csv").open(encoding="utf-8", newline="")))
        for name in ("author", "sheet-1", "sheet-2")
    )
    wanted = {(row["number"], row["input"], row["rule"], row["assertion"]) for row in author}
    for rows in sheets:
        assert {(row["number"], row["input"], row["rule"], row["assertion"]) for row in rows} == wanted
        assert not any(row["grade"] for row in rows)
    assert sheets[0] != sheets[1]
    bans = [row for row in author if row["grade"] == "yes" and row["assertion"] == 'not_contains: "cheap"']
    assert len(bans) == 3
    assert "Counted\nas no, they leave 64.0 %" in PAGE
