"""The page of a mutant shows runs side by side: what differs is marked, and the runs have a limit of size."""

import re
from collections.abc import Iterator

from agentmut.insight import Event, EventKind, MutantRuns, RunView, side_by_side
from agentmut.nouns import AssertionSuggestion, Basis, EvaluatorSpec, Rate
from agentmut.report.html import html_report
from agentmut.report.html.mutant_pages import Assertion, mutant_pages
from agentmut.report.html.run_lines import run_head, run_lines, runs_within
from agentmut.report.view import Extra
from tests.report.test_html_report import EVIL, result

USER = (EventKind.USER, "Where is it?")


def event(kind: EventKind, text: str) -> Event:
    return Event(kind=kind, text=text, tool=text.partition("(")[0] if kind is EventKind.CALL else "")


def run(trial: int, *events: tuple[EventKind, str], outcome: str = "pass", reason: str = "") -> RunView:
    return RunView(
        trial=trial, mutant="", outcome=outcome, reason=reason, seconds=1.25, tokens=1_200, usd=0.002,
        events=tuple(event(kind, text) for kind, text in events),
    )  # fmt: skip


ORIGINAL = run(1, USER, (EventKind.CALL, 'look(at="A-1")'), (EventKind.ANSWER, "It is on its way."))
MUTANT = run(
    7,
    USER,
    (EventKind.CALL, 'look(at="B-1")'),
    (EventKind.CALL, "pay()"),
    (EventKind.ANSWER, "It is lost."),
    outcome="fail",
    reason="no 'way' in the answer",
)


def runs(mutant: str = "aaaa0001", further: int = 1, stored: int = 9) -> MutantRuns:
    first = side_by_side("refund", "typical", ORIGINAL, MUTANT)
    rest = (side_by_side("refund", "another", ORIGINAL, run(8 + n, USER)) for n in range(further))
    return MutantRuns(mutant=mutant, pairs=(first, *rest), stored=stored)


def test_words_and_arguments_that_differ_are_marked_each_on_its_side() -> None:
    lines = run_lines(side_by_side("refund", "typical", ORIGINAL, MUTANT))
    told = [
        [None if cell is None else [(kind.value, text) for kind, text in cell.pieces] for cell in line[:2]]
        for line in lines
    ]
    assert told == [
        [[("=", "Where is it?")], [("=", "Where is it?")]],
        [[("=", 'look(at="'), ("-", "A"), ("=", '-1")')], [("=", 'look(at="'), ("+", "B"), ("=", '-1")')]],
        [None, [("+", "pay()")]],
        [[("=", "It is "), ("-", "on its way"), ("=", ".")], [("=", "It is "), ("+", "lost"), ("=", ".")]],
    ]
    assert [line.same for line in lines] == [True, False, False, False]


def test_a_run_is_headed_by_its_trial_outcome_time_tokens_and_cost() -> None:
    assert run_head(MUTANT) == "trial 7 · fail · 1.2 s · 1,200 tokens · $0.0020"
    assert run_head(MUTANT.model_copy(update={"usd": None})).endswith("1,200 tokens · cost unknown")
    assert run_head(MUTANT.model_copy(update={"tokens": 0})) == "trial 7 · fail · 1.2 s"


def test_the_page_has_the_runs_of_the_mutants_that_it_lists() -> None:
    found = (runs(), runs("bbbb0002"))
    page = html_report(result(), Extra(runs=found, no_runs="Two have room."), frozenset({"aaaa0001"}))
    assert re.findall(r'<template data-mutant="(\w+)">', page) == ["aaaa0001"]
    assert "<ins>lost</ins>" in page and "<del>on its way</del>" in page
    assert "The mutant fails:</strong> no &#39;way&#39; in the answer" in page
    assert "2 of the 9 stored runs of the mutant" in page
    assert "1 of 1 mutant" in page and "Two have room." in page
    assert "<template" not in html_report(result())


def test_what_a_run_says_stays_text() -> None:
    evil = run(7, (EventKind.USER, EVIL), (EventKind.ANSWER, EVIL * 500), outcome="fail", reason=EVIL)
    one = MutantRuns(mutant="aaaa0001", pairs=(side_by_side(EVIL, "typical", ORIGINAL, evil),), stored=1)
    page = html_report(result(), Extra(runs=(one,)))
    assert page.count("<script") == 2 and "<img" not in page
    assert len(page) < len(html_report(result())) + 30_000


def suggestion(why: str = "the answer says hello") -> AssertionSuggestion:
    return AssertionSuggestion(
        id="c87b75bb",
        scenario="refund",
        evaluator=EvaluatorSpec(name="contains", argument="hello"),
        why=why,
        mutants=("aaaa0001", "eeee0005"),
        baseline=Rate(held=48, of=50),
        held_out=Rate(held=24, of=25),
        mutant=Rate(held=0, of=19),
        margin=0.7,
        generality=0.5,
        basis=Basis.RULE,
    )


def test_an_assertion_is_ready_to_be_copied_with_its_file_and_line() -> None:
    extra = Extra(assertions=(suggestion(),), where={"refund": "scenarios/refunds.yaml:8"})
    (page,) = mutant_pages(extra, ["bbbb0002", "aaaa0001"])
    assert (page.mutant, page.runs, len(page.assertions)) == ("aaaa0001", None, 1)
    assert page.assertions[0] == Assertion(
        why="The answer says hello",
        held_out="24/25",
        kills=1,
        scenario="refund",
        where="scenarios/refunds.yaml:8",
        yaml="- contains: hello",
        pytest='assert "hello" in trace.text.casefold()',
        firm=True,
    )
    written = html_report(result(), extra)
    assert "<code>scenarios/refunds.yaml:8</code>, scenario <code>refund</code>" in written
    assert written.count("- contains: hello</pre>") == 2  # on the card, and on the page of the mutant


def test_what_only_differs_stands_apart_and_is_not_ready_to_be_copied() -> None:
    seen = suggestion().model_copy(update={"basis": Basis.SEEN})
    written = html_report(result(), Extra(assertions=(seen,), where={"refund": "scenarios/refunds.yaml:8"}))
    assert "Seen to differ: a person must decide whether the agent is right" in written
    assert written.count("- contains: hello</pre>") == 1  # not on the card
    assert "would have killed it" not in written and "Assertion as YAML" not in written


def test_the_words_of_an_assertion_stay_text() -> None:
    page = html_report(result(), Extra(assertions=(suggestion(EVIL),), where={"refund": EVIL}))
    assert page.count("<script") == 2 and "<img" not in page


def long_runs(read: list[str]) -> Iterator[MutantRuns]:
    """Each pair of runs has 2 events of 1,000 characters: 2,320 with the marks around them."""
    one, other = (run(n, (EventKind.ANSWER, letter * 1_000)) for n, letter in ((1, "a"), (2, "b")))
    pairs = tuple(side_by_side("s", chosen, one, other) for chosen in ("typical", "another", "another"))
    for name in ("m1", "m2", "m3", "m4"):
        read.append(name)
        yield MutantRuns(mutant=name, pairs=pairs, stored=3)


def test_the_typical_pair_of_each_mutant_has_room_before_any_further_pair() -> None:
    found = runs_within(long_runs([]), 4 * 2_320 + 3 * 2_320 + 1)
    assert [(one.mutant, len(one.pairs)) for one in found] == [("m1", 3), ("m2", 2), ("m3", 1), ("m4", 1)]


def test_no_run_is_read_once_the_room_is_used_up() -> None:
    read: list[str] = []
    found = runs_within(long_runs(read), 2 * 2_320)
    assert [(one.mutant, len(one.pairs)) for one in found] == [("m1", 1), ("m2", 1)]
    assert read == ["m1", "m2", "m3"]
