"""The graded sheets, each row with its set, its agent's prompt, and the grades of all who graded it."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from agentmut._base import canonical_json

HERE = Path(__file__).parent
SHEETS = (
    ("known", "known", ("grades-1", "grades-2")),
    ("fresh", "fresh", ("fresh-grades-1", "fresh-grades-2")),
    ("fresh again", "fresh", ("fresh-grades-3", "fresh-grades-4")),
    ("unseen", "unseen", ("unseen-grades-1", "unseen-grades-2")),
    ("unseen2", "unseen2", ("unseen2-author",)),
    ("unseen3", "unseen3", ("unseen3-grades-1", "unseen3-grades-2")),
)
"""The name of a grading, the set of agents that was graded, and the files of its graders."""


class Graded(NamedTuple):
    """A proposal with its grades."""

    grading: str
    agents: str
    number: str
    input: str
    rule: str
    assertion: str
    grades: tuple[bool, ...]
    """One for each grader: True is yes."""

    @property
    def evaluator(self) -> str:
        """Return the name of the evaluator."""
        return self.assertion.partition(":")[0]

    @property
    def argument(self) -> str:
        """Return the evaluator's argument as JSON."""
        return self.assertion.partition(": ")[2]


def graded_rows() -> Iterator[Graded]:
    """Yield the rows of every graded sheet."""
    for grading, agents, files in SHEETS:
        rows: dict[str, dict[str, str]] = {}
        grades: defaultdict[str, list[bool]] = defaultdict(list)
        for file in files:
            with (HERE / f"{file}.csv").open(encoding="utf-8", newline="") as sheet:
                for row in csv.DictReader(sheet):
                    rows[row["number"]] = row
                    grades[row["number"]].append(row["grade"].strip().lower() == "yes")
        for number, row in sorted(rows.items(), key=lambda one: int(one[0])):
            said, rule, assertion = row["input"], row["rule"], row["assertion"]
            yield Graded(grading, agents, number, said, rule, assertion, tuple(grades[number]))


@cache
def prompts(agents: str) -> dict[str, str]:
    """Return the prompt by input, of the agents of a set; empty for `known`, whose agents stand elsewhere."""
    found = {}
    for folder in sorted(path for path in (HERE / agents).glob("*") if (path / "scenarios.yaml").exists()):
        for one in yaml.safe_load((folder / "scenarios.yaml").read_text("utf-8")):
            turns = one.get("turns", [one.get("input")])
            said = " / ".join(turn if isinstance(turn, str) else canonical_json(turn) for turn in turns)
            found[said] = (folder / "prompt.md").read_text("utf-8")
    return found
