"""docs/realism.md: its table and shares are those of the committed grades, and its operators exist."""

from collections import Counter
from pathlib import Path

import pytest

from agentmut.seams.plugins import names
from benchmarks.proposals.__main__ import graded
from benchmarks.realism.__main__ import changed, main, mutants, operators_of, table, texts
from benchmarks.realism.written import counted, draw
from benchmarks.realism.written import graded as graded_by_hand

ROOT = Path(__file__).parents[2]
HELD = ROOT / "benchmarks" / "realism"
PAGE = (ROOT / "docs" / "realism.md").read_text("utf-8")
GRADES = [graded(HELD / f"grades-{n}.csv") for n in (1, 2)]


def test_the_table_is_that_of_the_grades() -> None:
    operators = operators_of(HELD / "key.csv")
    assert set(operators) == set(GRADES[0]) == set(GRADES[1])
    assert len(operators) == 200
    assert set(operators.values()) <= set(names("operators"))
    assert "\n".join(table(operators, GRADES)) in PAGE


def test_the_shares_are_those_of_the_grades(capsys: pytest.CaptureFixture[str]) -> None:
    """The goal is met, and the page says by how much."""
    assert [sum(one.values()) for one in GRADES] == [192, 189]
    assert "96.0 % (192 of 200)" in PAGE
    assert "94.5 %\n(189)" in PAGE
    files = [str(HELD / name) for name in ("key.csv", "grades-1.csv", "grades-2.csv")]
    assert main(["table", *files]) == 0
    assert "yes: 0.960, 0.945" in capsys.readouterr().out


def test_the_samples_of_whole_agents_are_those_of_the_grades() -> None:
    counts = counted(graded_by_hand())
    rows = [f"| {number} | {yes} | {100 * yes / number:.1f} % |" for yes, number in counts.values()]
    assert len(rows) == 5 and all(row in PAGE for row in rows)
    assert all(row["reason"] for row in graded_by_hand() if row["grade"] == "no")
    assert {row["operator"] for row in graded_by_hand()} <= set(names("operators"))


def test_the_same_seed_draws_the_same_mutants_of_agents_that_were_written() -> None:
    one, other = (draw(HELD / "third", 20, seed) for seed in ("a", "b"))
    assert [mutant.id for _, mutant in draw(HELD / "third", 20, "a")] == [mutant.id for _, mutant in one]
    assert one != other and len(one) == 20


def test_yes_is_counted_by_operator() -> None:
    rows = table({"1": "a", "2": "a", "3": "b"}, [{"1": True, "2": False, "3": True}, {"1": True, "2": True}])
    assert rows[2:] == ["| `a` | 2 | 1 | 2 |", "| `b` | 1 | 1 | 0 |"]


def test_a_text_that_is_missing_or_another_is_refused_with_its_source(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is missing; take it from"):
        texts(tmp_path)
    for name in ("de-conversation", "de-general"):
        (tmp_path / f"{name}.md").write_text("Sei kurz.\n", "utf-8")
    with pytest.raises(SystemExit, match="has another digest than"):
        texts(tmp_path)


@pytest.mark.parametrize("arguments", [[], ["sheet"], ["table", "key.csv"], ["sheet", ".", "--grader", "x"]])
def test_a_wrong_command_line_ends_with_2(arguments: list[str]) -> None:
    assert main(arguments) == 2


def test_a_german_prompt_gets_changes_of_structure_and_no_english_sentence() -> None:
    prompt = "Du hilfst Kunden.\n\nAntworte immer freundlich auf Deutsch.\n\nErstatte nie ohne Auftrag einer Leitung.\n"
    found = mutants(prompt)
    kinds = Counter(one.operator for one in found)
    assert kinds["prompt.drop_instruction"] and kinds["prompt.truncate"]
    added = {
        line.lstrip("+ ") for one in found for line in changed(prompt, one).splitlines() if line[:1] == "+"
    }
    assert {word for line in added for word in line.split()} <= set(prompt.split())
