"""The list of mutants shows each change as a unified diff."""

import time
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from agentmut.config import AgentConfig
from agentmut.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.origin import Origin
from agentmut.report.mutants import _diff, unified

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(LINES, LINES)
def test_every_difference_is_in_the_diff_and_nothing_else(before: list[str], after: list[str]) -> None:
    rows = list(_diff(before, after))
    assert (not rows) == (before == after)
    added, removed = (Counter(row[1:] for row in rows if row[0] == sign) for sign in "+-")
    assert Counter(after) - Counter(before) == added - removed
    assert Counter(before) - Counter(after) == removed - added


def test_line_numbers_count_from_the_beginning_of_the_text() -> None:
    before = [f"line {i}" for i in range(1, 101)]
    after = [*before[:49], *before[50:]]
    assert list(_diff(before, after)) == ["@@ -49,3 +49,2 @@", " line 49", "-line 50", " line 51"]


def test_the_diff_of_a_long_prompt_is_quick() -> None:
    text = "\n".join(f"- Rule number {i}." for i in range(20_000))
    place = text.index("- Rule number 10000.\n")
    edit = Edit(pointer="/prompt", before="- Rule number 10000.\n", after="", span=(place, place + 21))
    mutant = Mutant(
        id="x",
        operator="prompt.drop_instruction",
        version=1,
        operator_class=OperatorClass.PROMPT,
        intent=Intent.DEGRADE,
        reach=Reach.SENT,
        description="drop",
        edits=(edit,),
    )
    began = time.perf_counter()
    assert "-- Rule number 10000." in list(unified(Origin(config=AgentConfig(prompt=text), file="a"), mutant))
    assert time.perf_counter() - began < 0.5


def test_a_flow_is_shown_a_line_for_each_edge_and_label() -> None:
    flow: dict[str, JsonValue] = {
        "max_steps": 25,
        "edges": [["a", "b"], ["b", "c"], ["c", "__end__"]],
        "handoffs": {"a": {"to_b": "b"}},
    }
    edit = Edit(pointer="/orchestration/edges/1", before=["b", "c"], after=None)
    mutant = Mutant(
        id="x",
        operator="orchestration.remove_edge",
        version=1,
        operator_class=OperatorClass.ORCHESTRATION,
        intent=Intent.DEGRADE,
        reach=Reach.RAN,
        description="remove",
        edits=(edit,),
    )
    rows = list(unified(Origin(config=AgentConfig(orchestration=flow), file="a"), mutant))
    assert rows == ["@@ orchestration @@", " edges: a, b", "-edges: b, c", " edges: c, __end__"]
