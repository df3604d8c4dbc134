"""Runs that stand beside each other: which are chosen, and how their events are aligned."""

import pytest

from agentmut.insight.explain.side_by_side import (
    Event,
    EventKind,
    RunView,
    further_pairs,
    pairs_to_show,
    run_events,
    side_by_side,
    telling_run,
    typical_run,
)
from agentmut.nouns import Action, AgentTrace, Step


def call(tool: str, **arguments: str) -> Step:
    return Step(action=Action.CALL_TOOL, tool=tool, arguments=dict(arguments), output=f"{tool} done")


def view(trial: int, *tools: str, answer: str = "fine", outcome: str = "pass") -> RunView:
    trace = AgentTrace(steps=tuple(call(tool) for tool in tools), outputs=(answer,))
    return RunView(
        trial=trial, mutant="", outcome=outcome, reason="", seconds=1.0, tokens=0, usd=None,
        events=run_events(["hi"], trace),
    )  # fmt: skip


def told(events: tuple[Event, ...]) -> list[tuple[str, str]]:
    return [(event.kind.value, event.text) for event in events]


def test_a_run_is_told_turn_by_turn_with_its_calls_and_its_end() -> None:
    failed = Step(action=Action.CALL_TOOL, tool="pay", turn=1, arguments={"sum": 3}, error="no money")
    model = Step(action=Action.REASON, model="m", output="thinking")
    trace = AgentTrace(steps=(model, call("look", at="A-1"), failed), outputs=("found", {"paid": False}))
    assert told(run_events(["where?", {"pay": 3}, "never asked"], trace, "timeout: 30 s")) == [
        ("user", "where?"),
        ("call", 'look(at="A-1")'),
        ("result", "look done"),
        ("answer", "found"),
        ("user", '{"pay": 3}'),
        ("call", "pay(sum=3)"),
        ("result", "error: no money"),
        ("answer", '{"paid": false}'),
        ("end", "timeout: 30 s"),
    ]


def test_the_typical_run_takes_the_most_frequent_course_and_the_usual_words() -> None:
    runs = [
        view(1, "look", "pay"),
        view(2, "look", answer="all is well"),
        view(3, "look", answer="all is well indeed"),
        view(4, "look", answer="bananas are yellow"),
        view(5, "look", answer="all is well", outcome="fail"),
    ]
    assert typical_run(runs).trial == 2
    with pytest.raises(ValueError, match="no runs"):
        typical_run([])


def test_the_telling_run_is_the_failure_that_differs_most() -> None:
    original = view(1, "look")
    runs = [
        view(2, "pay", "pay", "pay", answer="bananas"),
        view(3, "look", outcome="fail"),
        view(4, "pay", outcome="fail"),
    ]
    assert telling_run(original, runs).trial == 4
    assert telling_run(original, runs[:1]).trial == 2
    with pytest.raises(ValueError, match="no runs"):
        telling_run(original, [])


def test_events_of_one_kind_and_tool_face_each_other_and_the_others_stand_alone() -> None:
    found = side_by_side("s", "typical", view(1, "look", "pay"), view(2, "look", "mail", answer="well"))
    rows = [(pair.original and pair.original.text, pair.mutant and pair.mutant.text) for pair in found.pairs]
    assert rows == [
        ("hi", "hi"),
        ("look()", "look()"),
        ("look done", "look done"),
        ("pay()", None),
        ("pay done", None),
        (None, "mail()"),
        (None, "mail done"),
        ("fine", "well"),
    ]
    assert [pair.same for pair in found.pairs] == [True] * 3 + [False] * 5


def test_a_second_pair_is_shown_only_where_it_says_more() -> None:
    originals = [view(1, "look"), view(2, "look")]
    one = pairs_to_show("s", originals, [view(3, "pay", outcome="fail")])
    assert [(pair.chosen, pair.mutant.trial) for pair in one] == [("typical", 3)]
    mutants = [
        view(3, "pay", outcome="fail"),
        view(4, "pay", outcome="fail"),
        view(5, "mail", "mail", outcome="fail"),
    ]
    two = pairs_to_show("s", originals, mutants)
    assert [(pair.chosen, pair.mutant.trial) for pair in two] == [("typical", 3), ("telling", 5)]
    assert pairs_to_show("s", [], mutants) == pairs_to_show("s", originals, []) == ()


def test_kinds_have_the_words_of_the_json() -> None:
    assert [kind.value for kind in EventKind] == ["user", "call", "result", "answer", "end"]


def test_all_other_runs_follow_beside_the_same_run_of_the_original_failures_first() -> None:
    runs = [view(number, "look", outcome="fail" if number in (5, 7) else "pass") for number in range(3, 9)]
    shown = pairs_to_show("s", [view(1, "look")], runs)
    assert [pair.mutant.trial for pair in shown] == [3]
    rest = list(further_pairs(shown, runs, 4))
    assert [pair.mutant.trial for pair in rest] == [5, 7, 4, 6]
    assert {(pair.chosen, pair.original.trial) for pair in rest} == {("another", 1)}
    assert list(further_pairs((), runs, 4)) == []
