"""The list of mutants shows each change as a unified diff."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.origin import Origin
from agentmut.report.terminal.mutant_diff import unified
from agentmut.report.terminal.text_diff import Replacement, edited_diff, text_diff
from tests.processor import processor_time


def _mutant(*edits: Edit) -> Mutant:
    return Mutant(
        id="x", operator="prompt.x", version=1, operator_class=OperatorClass.PROMPT, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="x", edits=edits,
    )  # fmt: skip


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(LINES, LINES)
def test_every_difference_is_in_the_diff_and_nothing_else(before: list[str], after: list[str]) -> None:
    rows = list(text_diff(before, after))
    assert (not rows) == (before == after)
    added, removed = (Counter(row[1:] for row in rows if row[0] == sign) for sign in "+-")
    assert Counter(after) - Counter(before) == added - removed
    assert Counter(before) - Counter(after) == removed - added


def test_line_numbers_count_from_the_beginning_of_the_text() -> None:
    before = [f"line {i}" for i in range(1, 101)]
    after = [*before[:49], *before[50:]]
    assert list(text_diff(before, after)) == ["@@ -49,3 +49,2 @@", " line 49", "-line 50", " line 51"]


@given(st.lists(st.sampled_from(["a", "b", ""]), min_size=30, max_size=60), st.data())
def test_the_diff_of_edits_has_every_difference_and_the_line_numbers_of_the_whole(
    lines: list[str], data: st.DataObject
) -> None:
    text = "\n".join(lines)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=4, max_size=4)))
    put = data.draw(st.sampled_from(["", "x", "x\ny\n"]))
    edits = [Replacement(cuts[0], cuts[1], put), Replacement(cuts[2], cuts[3], put)]
    after = text[: cuts[0]] + put + text[cuts[1] : cuts[2]] + put + text[cuts[3] :]
    rows = list(edited_diff(text, edits))
    assert _patched(text.splitlines(), rows) == after.splitlines()


def _patched(before: list[str], rows: list[str]) -> list[str]:
    """What `patch` makes of the lines; it looks at the numbers of old and new lines."""
    after: list[str] = []
    at = 0
    for row in rows:
        if row.startswith("@@"):
            old, new = (part.partition(",") for part in row.split()[1:3])
            start = int(old[0][1:]) - (old[2] != "0")
            after += before[at:start]
            assert len(after) == int(new[0][1:]) - (new[2] != "0")
            at = start
        elif row[0] == "+":
            after.append(row[1:])
        else:
            assert before[at] == row[1:]
            at += 1
            after += [row[1:]] if row[0] == " " else []
    return after + before[at:]


def test_edits_in_two_documents_are_shown_with_the_documents_names() -> None:
    config = AgentConfig(context=(Document(name="a", text="one\ntwo\n"), Document(name="b", text="three")))
    edits = (
        Edit(pointer="/context/0/text", before="two", after="2", span=(4, 7)),
        Edit(pointer="/context/1/text", before="three", after="3", span=(0, 5)),
    )
    assert list(unified(Origin(config=config, file="a"), _mutant(*edits))) == [
        "@@ context @@", " one", "-two", "+2", " ", " [b]", "-three", "+3"
    ]  # fmt: skip


def test_the_diff_of_a_long_prompt_is_quick() -> None:
    text = "\n".join(f"- Rule number {i}." for i in range(20_000))
    place = text.index("- Rule number 10000.\n")
    edit = Edit(pointer="/prompt", before="- Rule number 10000.\n", after="", span=(place, place + 21))
    mutant = _mutant(edit)
    with processor_time() as used:
        assert "-- Rule number 10000." in list(
            unified(Origin(config=AgentConfig(prompt=text), file="a"), mutant)
        )
    assert used.seconds < 2.5


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
