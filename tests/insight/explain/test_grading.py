"""The sheet of proposals that is graded blind, and what is counted of it."""

from pathlib import Path

import pytest

from benchmarks.proposals.__main__ import counted, drawn, graded, main, sheet
from benchmarks.proposals.against import accepted, held_out, split
from benchmarks.proposals.grades import Graded, graded_rows
from benchmarks.proposals.table import kind_of, table


def test_two_graders_agree_as_counted_by_hand() -> None:
    """Of four rows both say yes twice and no once: .75 agree; by chance .5 * .75 + .5 * .25 = .5 would."""
    one = {"1": True, "2": True, "3": False, "4": False, "5": True}
    two = {"1": True, "2": True, "3": False, "4": True}
    found = counted([one, two])
    assert found.graded == 4
    assert found.shares == (0.5, 0.75)
    assert found.agreement == 0.75
    assert found.kappa == pytest.approx(0.5)
    assert counted([{"1": True}, {"1": True}]).kappa is None


def test_a_row_has_one_number_for_every_grader_and_another_place() -> None:
    rows = [{"input": str(i), "rule": "", "assertion": ""} for i in range(20)]
    first, second = sheet(rows, 1), sheet(rows, 2)
    assert [row["number"] for row in first] != [row["number"] for row in second]
    assert {row["number"]: row["input"] for row in first} == {row["number"]: row["input"] for row in second}
    assert len(drawn([*rows, *rows], Path("desk"))) == 10


def test_what_is_no_grade_is_not_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.csv"
    path.write_text("number,input,rule,assertion,grade\n1,a,b,c,Yes\n2,a,b,c,\n3,a,b,c,no\n")
    assert graded(path) == {"1": True, "3": False}
    assert main(["count", str(path)]) == 1
    assert "2 graded; yes: 0.50" in capsys.readouterr().out
    assert main([]) == 2


def test_one_sheet_has_no_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.csv"
    path.write_text("number,input,rule,assertion,grade\n1,a,b,c,Yes\n")
    assert main(["count", str(path)]) == 0
    assert capsys.readouterr().out == "1 graded; yes: 1.00 (goal 0.8); one grader, so no agreement\n"


def row(grading: str, number: str, assertion: str, *grades: bool, said: str = "", rule: str = "r") -> Graded:
    return Graded(grading, f"{grading} agents", number, said, rule, assertion, grades)


def test_what_is_kept_and_left_out_is_counted_by_hand() -> None:
    """Kept are the grades yes, yes, yes, no of two rows; of the third row one yes and one no are left out."""
    rows = [
        row("a", "1", "x: 1", True, True),
        row("a", "2", "x: 2", True, False),
        row("a", "3", "x: 3", True, False),
    ]
    found = split("a", rows, {("a", "1"): True, ("a", "2"): True, ("a", "3"): False})
    assert found == ("a", 3, 4, 1, 2)
    assert found.share == 0.75
    assert str(found) == "a            yes kept 3/4, no left out 1/2; yes among what is kept: 0.75"
    assert split("a", rows, {}).share is None


def test_a_kind_is_chosen_by_the_grades_of_other_agents() -> None:
    """`x` is accepted by a, b and c, so each pair of the others chooses it; `y` only by a: nobody chooses it."""
    rows = [row(of, "1", "x: 1", True) for of in "abc"] + [row(of, "2", "y: 1", of == "a") for of in "abc"]
    bases = {(one.grading, one.number): "rule" for one in rows}
    assert accepted(rows, bases) == {("x", "rule")}
    assert [(one.yes_kept, one.yes, one.no_left_out, one.no) for one in held_out(rows, bases)] == [
        (1, 2, 0, 0),
        (1, 1, 1, 1),
        (1, 1, 1, 1),
    ]
    assert accepted(rows, {}) == frozenset()


def test_the_kind_of_a_proposal_is_read_off_its_sheet() -> None:
    call = 'tool_called_with: {"arguments":{"seats":2},"tool":"book_seats"}'
    assert kind_of(row("a", "1", call, True, said="Book 2 seats.")) == (
        "tool_called_with",
        "user",
        "user names it",
    )
    assert kind_of(row("a", "1", call, True, said="I need seats."))[1:] == ("run", "changed only")
    end = row("a", "1", 'ends_with: "Bye!"', True, rule='End with "Bye!"')
    assert kind_of(end) == ("ends_with", "quoted", "rule")
    assert kind_of(row("a", "1", 'contains: "fine"', True, rule="look_up"))[1:] == ("run", "tool")
    line = list(table([end, end._replace(grading="b")]))[1]
    assert line == "ends_with        quoted  rule                 2/2* a 1/1, b 1/1"


def test_every_graded_row_is_read_with_the_grades_of_both_graders() -> None:
    rows = list(graded_rows())
    assert len(rows) == 40 + 60 + 60 + 60 + 50 + 51
    assert {len(one.grades) for one in rows if one.grading != "unseen2"} == {2}
