"""The present rules against the grades: which graded proposals they still make, and what would be said of new agents.

`bases.csv` has the ground (`agentmut.nouns.Basis`) of every graded proposal in runs of its agents by the present rules;
empty where it is not even seen to differ any more. Rows of agents without a run are left out. `forecast` reads it.
"""

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.proposals.grades import HERE, Graded, graded_rows
from benchmarks.proposals.mined import found_on, inputs_of

FILE = HERE / "bases.csv"
ENOUGH = 0.8
GRADINGS = 2
Key = tuple[str, str]
"""A grading and the number of a row."""


class Split(NamedTuple):
    """Grades of one grading, by what became of the proposals."""

    grading: str
    yes_kept: int
    yes: int
    no_left_out: int
    no: int

    @property
    def share(self) -> float | None:
        """Return the share of yes among the grades of what is still proposed; None where nothing is."""
        kept = self.yes_kept + self.no - self.no_left_out
        return self.yes_kept / kept if kept else None

    def __str__(self) -> str:
        share = "none" if self.share is None else f"{self.share:.2f}"
        return (
            f"{self.grading:12} yes kept {self.yes_kept}/{self.yes}, no left out {self.no_left_out}/{self.no}; "
            f"yes among what is kept: {share}"
        )


def split(grading: str, rows: Iterable[Graded], kept: Mapping[Key, bool]) -> Split:
    """Count the grades of a grading's rows; a row without an entry is left out."""
    counts = {(grade, stays): 0 for grade in (True, False) for stays in (True, False)}
    for row in rows:
        for grade in row.grades:
            counts[grade, kept.get((row.grading, row.number), False)] += 1
    yes, no = (counts[grade, True] + counts[grade, False] for grade in (True, False))
    return Split(grading, counts[True, True], yes, counts[False, False], no)


def held_out(rows: Sequence[Graded], bases: Mapping[Key, str]) -> Iterator[Split]:
    """Yield each grading, by the kinds that the gradings of the other agents accept.

    A kind is an evaluator and a ground. It is accepted if its share of yes is at least `ENOUGH` in `GRADINGS` of
    the gradings of other agents. So the choice of kinds has not seen the grades that it is judged by. The
    conditions of a ground have: they were written by one who had read all of them.
    """
    for grading in dict.fromkeys(row.grading for row in rows):
        own = [row for row in rows if row.grading == grading]
        others = [row for row in rows if row.agents != own[0].agents]
        chosen = accepted(others, bases)
        kept = {_key(row): (row.evaluator, bases.get(_key(row), "")) in chosen for row in own}
        yield split(grading, own, kept)


def accepted(rows: Iterable[Graded], bases: Mapping[Key, str]) -> frozenset[tuple[str, str]]:
    """Return the kinds with enough yes in enough gradings; what is not proposed at all is no kind."""
    found: defaultdict[tuple[str, str], defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if basis := bases.get(_key(row), ""):
            found[row.evaluator, basis][row.grading] += row.grades
    return frozenset(
        kind
        for kind, by in found.items()
        if sum(sum(grades) >= ENOUGH * len(grades) for grades in by.values()) >= GRADINGS
    )


def _key(row: Graded) -> Key:
    return row.grading, row.number


def kept_bases() -> dict[Key, str]:
    """Return the ground of every graded proposal."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {(row["grading"], row["number"]): row["basis"] for row in csv.DictReader(file)}


def forecast() -> int:
    """Print what the present rules keep of each grading, and what kinds chosen on other agents keep."""
    bases = kept_bases()
    rows = [row for row in graded_rows() if _key(row) in bases]
    kept = {key: basis not in ("", "seen") for key, basis in bases.items()}
    print("The present rules (their author had read these grades):")
    for grading in dict.fromkeys(row.grading for row in rows):
        print(f"  {split(grading, (row for row in rows if row.grading == grading), kept)}")
    print("Kinds chosen by the grades of other agents alone:")
    for one in held_out(rows, bases):
        print(f"  {one}")
    return 0


def against(folders: Iterable[Path]) -> int:
    """Write `bases.csv` from finished runs of the graded agents to standard output."""
    mined: dict[tuple[str, str, str], str] = {}
    tried: set[str] = set()
    for folder in folders:
        mined |= found_on(folder)
        tried |= inputs_of(folder)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("grading", "number", "basis"))
    for row in graded_rows():
        if row.input in tried:
            writer.writerow((row.grading, row.number, mined.get((row.input, row.rule, row.assertion), "")))
    return 0
