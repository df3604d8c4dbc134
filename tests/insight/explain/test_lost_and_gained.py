"""What a survivor lost or gained: found, named, counted, and never called unchanged."""

import random
from collections import Counter
from collections.abc import Sequence

from agentmut.insight.answer_phrases import phrases, sentences
from agentmut.insight.explain.behaviour import ComparedRuns, TraceTest
from agentmut.insight.explain.lost_and_gained import LostAndGained, OriginalRuns, shown
from agentmut.insight.fingerprint import Fingerprint, fingerprint
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant_row import BehaviourChange
from benchmarks.calibration.losses import changed
from tests.insight.explain.campaigns import trace

SORRY = "I am sorry for the trouble."


def said(*answers: str, calls: Sequence[str] = ("look",)) -> list[Fingerprint]:
    return [
        fingerprint(Execution(ending=Ending.ANSWERED, trace=trace(*calls, answer=one))) for one in answers
    ]


def change(original: Sequence[Fingerprint], mutant: Sequence[Fingerprint]) -> BehaviourChange:
    found = TraceTest({"late": original}, 1).change("m", [ComparedRuns("late", mutant)])
    assert found is not None
    return found


def test_an_apology_in_54_of_60_answers_and_in_none_of_11_is_lost() -> None:
    """The case that was called unchanged: a rule dropped, "behaviour is as before"."""
    rng = random.Random(1)

    def order() -> str:
        return (
            f"Order A-{rng.randint(1000, 1002)} is {rng.choice(['late', 'on its way', 'with the carrier'])}."
        )

    original = said(*(f"{SORRY} {order()}" if i % 10 else order() for i in range(60)))
    found = change(original, said(*(order() for _ in range(11))))
    assert found.changed is True
    assert found.feature == f"answers say “{SORRY}” less often"
    (lost, *_) = found.shown
    assert (lost.baseline_runs, lost.baseline_of, lost.runs, lost.of) == (54, 60, 0, 11)
    assert found.p < 1e-6


def test_phrases_of_a_sentence_that_is_told_are_not_told_again() -> None:
    found = change(said(*[f"{SORRY} It is late."] * 30), said(*["It is late."] * 10))
    assert [one.words for one in found.shown] == [f"answers say “{SORRY}” less often"]


def test_a_call_a_repetition_an_order_and_a_field_are_lost_or_new() -> None:
    """Each is told by the feature that tells most."""
    cases = (
        (trace("look", "check"), trace("look"), "check is called less often"),
        (trace("look"), trace("look", "look"), "look is called more than once more often"),
        (
            trace("pay", "check", "pay"),
            trace("check", "pay", "pay"),
            "pay is the first tool called less often",
        ),
        (trace(answer={"id": 1, "eta": 2}), trace(answer={"id": 1}), "answers have the field eta less often"),
        (trace(("pay", {"to": "Jo"})), trace(("pay", {"to": "Al"})), 'pay is called with to="Jo" less often'),
    )
    for before, now, wanted in cases:
        original, mutant = (
            [fingerprint(Execution(ending=Ending.ANSWERED, trace=one))] * n
            for one, n in ((before, 30), (now, 10))
        )
        exact = LostAndGained(OriginalRuns([*map(shown, original)]), [*map(shown, mutant)])
        told = [one.words for one in exact.moved_features(0.03)]
        assert wanted in told, (wanted, told)


def test_what_is_only_suspicious_is_not_called_unchanged() -> None:
    """Lost in 4 of 10 runs from all of 60: too little to be shown, too much for `as before`."""
    original = said(*[f"{SORRY} It is late."] * 24, *["It is late."] * 36)
    found = change(original, said(*["It is late."] * 8))
    assert found.changed is None
    assert found.losable is not None


def test_a_phrase_that_is_told_is_cut_in_no_group_of_words() -> None:
    """The longest that all share, `bids of the whole northern region`, is cut out of `old open bids`."""
    kinds = ("old", "new", "late", "small")
    original = [f"We saw {kinds[i % 4]} open bids of the whole northern region." for i in range(32)]
    found = change(said(*original), said(*[f"All is {kinds[i % 4]}." for i in range(10)]))
    assert "answers have the words “whole northern region” less often" in [one.words for one in found.shown]


def test_numbers_make_no_other_sentence() -> None:
    assert sentences("Ticket T-1 is open.").keys() == sentences("* Ticket T-22 is open!").keys()


def test_losses_are_noticed_as_often_as_promised() -> None:
    """The section `losses` of the calibration measures it at length."""
    assert sum(changed(0.9, 0.0, i) is True for i in range(10)) >= 9
    assert sum(changed(0.6, 0.0, i) is False for i in range(10)) == 0


def test_counts_of_patterns_are_those_of_the_patterns_one_by_one() -> None:
    """The original's are counted once for all mutants, less those that the mutant takes apart or takes whole."""
    words = ["red", "blue", "green", "old", "new", "here", "there"]
    for seed in range(40):
        rng = random.Random(seed)
        runs = [[*map(shown, said(*(" ".join(rng.sample(words, 4)) for _ in range(n))))] for n in (9, 4)]
        exact = LostAndGained(OriginalRuns(runs[0]), runs[1])
        by_hand = {
            sum(1 << i for i, run in enumerate([*runs[0], *runs[1]]) if feature in run)
            for feature in set().union(*runs[0], *runs[1])
        }
        assert {one.runs for one in exact.patterns} == by_hand
        assert Counter(exact.tests.totals) == Counter(map(int.bit_count, by_hand))
        assert exact.p_value == exact.tests.adjusted(min(one.p for one in exact.patterns))


def test_letters_that_become_two_move_no_phrase() -> None:
    """A sharp s is two letters when it is folded, a capital dotted I too."""
    assert phrases("(Die STRAẞE, Nord)") == {"die", "die strasse", "nord", "strasse"}
    assert phrases("(Die Bahn) )") == {"die", "bahn", "die bahn", "bahn) ", "die bahn) "}


def test_patterns_are_counted_as_if_each_feature_were_looked_at() -> None:
    """Phrases of one run alone are counted without a look at each of them."""
    rng = random.Random(2)
    words = [f"w{i}" for i in range(60)]
    for _ in range(5):
        original, mutant = (
            [shown(one) for one in said(*(" ".join(rng.choices(words, k=9)) for _ in range(n)))]
            for n in (20, 6)
        )
        exact = LostAndGained(OriginalRuns(original), mutant)
        seen = {
            feature: tuple(feature in run for run in (*original, *mutant))
            for run in (*original, *mutant)
            for feature in run
        }
        assert sorted(exact.tests.totals) == sorted(sum(runs) for runs in set(seen.values()))
        assert sorted(exact.tests.totals) == sorted(one.original + one.mutant for one in exact.patterns)
