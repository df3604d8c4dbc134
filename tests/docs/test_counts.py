"""Numbers that pages write in words: of operators, and of dialects on the wire."""

import re
from pathlib import Path

from agentmut.seams import Group, OnDemand, load, names

DOCS = Path(__file__).parents[2] / "docs"
IN_WORDS = {"Seventy-eight": 78, "seven": 7}


def test_the_page_on_mutants_counts_the_operators_that_are_not_on_demand() -> None:
    made = re.match(r"# .*\n\n(\S+) operators make", (DOCS / "mutants.md").read_text("utf-8"))
    own = [load(Group.OPERATORS, name) for name in names(Group.OPERATORS)]
    ours = [one for one in own if one.__module__.startswith("agentmut.operators.")]
    assert made and sum(not issubclass(one, OnDemand) for one in ours) == IN_WORDS[made[1]]


def test_the_page_on_limits_counts_the_dialects_of_the_wire() -> None:
    said = re.search(r"requests in \[(\w+) dialects\]", (DOCS / "limitations.md").read_text("utf-8"))
    table = (DOCS / "wire.md").read_text("utf-8").partition("## Dialects")[2].partition("\n\n")[2]
    rows = table.partition("\n\n")[0].splitlines()[2:]
    assert said and len(rows) == IN_WORDS[said[1]]
