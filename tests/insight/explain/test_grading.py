"""The sheet of proposals that is graded blind, and what is counted of it."""

from pathlib import Path

import pytest

from benchmarks.proposals.__main__ import counted, drawn, graded, main, sheet


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
