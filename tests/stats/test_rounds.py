"""Rounds: their layout, replay of stored trials, what is ruled out, and validity at the worst true rate."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.kill.characteristics import operating_characteristics
from agentmut.stats.kill.rounds import ROUNDS, Round, design_in, replayed, rounds_to, ruled_out
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table, level_for

TEN = KillDesign(level_for(10))


@cache
def table(round_: Round, failures: int = 0) -> KillTable:
    return decision_table(failures, round_.baseline, design_in(round_, TEN))


def test_the_standard_rounds_end_with_the_drop_that_is_asked_for() -> None:
    assert [(r.delta, r.baseline) for r in rounds_to(0.2)] == [(0.75, 20), (0.5, 30), (0.3, 50), (0.2, 100)]
    assert [r.weight for r in rounds_to(0.2)] == pytest.approx([0.4, 0.2, 0.2, 0.2])
    assert [(r.delta, r.baseline) for r in rounds_to(0.4)] == [(0.75, 20), (0.5, 30), (0.4, 50)]
    assert [(r.delta, r.baseline) for r in rounds_to(0.1)][-1] == (0.1, 200)


def test_a_drop_as_large_as_the_first_round_is_the_plain_rule() -> None:
    assert rounds_to(0.75) == (Round(0.75, 20, 1.0),)
    assert rounds_to(0.9) == (Round(0.9, 20, 1.0),)


def test_no_round_has_more_baseline_than_the_user_allows() -> None:
    assert [r.baseline for r in rounds_to(0.2, 25)] == [20, 25, 25, 25]
    assert [r.baseline for r in rounds_to(0.2, 10)] == [10, 10, 10, 10]


@given(st.floats(0.01, 0.94), st.one_of(st.none(), st.integers(1, 300)))
def test_weights_sum_to_one_and_rounds_get_finer(delta: float, baseline: int | None) -> None:
    rounds = rounds_to(delta, baseline)
    assert sum(r.weight for r in rounds) == pytest.approx(1)
    assert all(a.delta > b.delta and a.baseline <= b.baseline for a, b in pairwise(rounds))
    assert rounds[-1].delta == delta


@pytest.mark.parametrize(("delta", "baseline"), [(0.0, None), (0.95, None), (0.2, 0)])
def test_impossible_rounds_are_refused(delta: float, baseline: int | None) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        rounds_to(delta, baseline)


@pytest.mark.parametrize(("number", "trials"), [(0, 2), (1, 4), (2, 7), (3, 11)])
def test_a_flawless_mutant_clears_a_scenario_in_so_many_trials(number: int, trials: int) -> None:
    found = replayed(table(ROUNDS[number]), "0" * 40)
    assert (found.decision, found.n, found.f) == (Decision.SURVIVED, trials, 0)


def test_three_failures_of_three_kill_in_the_first_round() -> None:
    first = table(ROUNDS[0])
    assert replayed(first, "11") == (Decision.CONTINUE, 2, 2)
    assert replayed(first, "111") == (Decision.KILLED, 3, 3)


@settings(max_examples=60, deadline=None)  # the first use of a table computes it
@given(st.text("01", max_size=60), st.text("01", max_size=20), st.sampled_from(ROUNDS), st.integers(0, 3))
def test_what_follows_a_decision_changes_nothing(
    outcomes: str, more: str, round_: Round, failures: int
) -> None:
    the_table = table(round_, failures)
    found = replayed(the_table, outcomes)
    assert replayed(the_table, outcomes[: found.n]) == found
    if found.decision is not Decision.CONTINUE:
        assert replayed(the_table, outcomes + more) == found
    stopped = the_table.verdict(o == "1" for o in outcomes)
    assert (stopped.decision, stopped.n, stopped.f) == found


def test_a_drop_is_ruled_out_where_every_scenario_has_cleared_it() -> None:
    assert ruled_out([0.2, 0.5, 0.3]) == 0.5
    assert ruled_out([0.2, None]) is None
    assert ruled_out([]) is None


@pytest.mark.parametrize("round_", ROUNDS)
def test_a_round_keeps_its_level_at_every_true_rate(round_: Round) -> None:
    """Exact, on a grid of pass rates; the level is that of one of ten scenarios in this round."""
    design, table_of = design_in(round_, TEN), cache(decision_table)
    for p in (0.999, 0.99, 0.96, 0.9, 0.8, 0.6):
        found = operating_characteristics(round_.baseline, design, p, 0.0, table_of)
        assert found.killed <= design.alpha


def test_all_rounds_together_kill_unchanged_mutants_at_most_at_alpha() -> None:
    """One scenario at 0.9, 4,000 mutants with a growing baseline each: at most .05 within three standard errors."""
    rng, one, tables = np.random.default_rng(7), KillDesign(0.05), cache(decision_table)
    killed = 0
    for _ in range(4000):
        baseline, trials = (
            rng.random(100) < 0.1,
            "".join("01"[x] for x in (rng.random(100) < 0.1).astype(int)),
        )
        killed += any(
            replayed(
                tables(int(baseline[: r.baseline].sum()), r.baseline, design_in(r, one)), trials
            ).decision
            is Decision.KILLED
            for r in ROUNDS
        )
    assert killed / 4000 <= 0.05 + 3 * (0.05 * 0.95 / 4000) ** 0.5
