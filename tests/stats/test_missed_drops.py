"""Missed drops under the score: by hand, by other ways of counting, and after rounds."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from agentmut.stats.kill.characteristics import chance_of, decision_probability, endings
from agentmut.stats.kill.rounds import ROUNDS, design_in
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table
from agentmut.stats.score.kill_p_value import KillTest, kill_levels
from agentmut.stats.score.missed_drops import POINTS, Survivors, fast_until, most_missed, survivors_of
from agentmut.stats.score.mutant_evidence import JudgedMutant
from tests.stats.judged_mutants import KILLED, SURVIVED, TEN, UNDECIDED, TableOf, one


def constant(missed: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.full(POINTS, missed)


def test_with_known_rates_the_missed_are_a_binomial_quantile() -> None:
    # .975-quantile of Bin(12 + 2 + 1, .1) is 4, of Bin(12 + 2 + 4 + 1, .1) is 5, of Bin(20, .1) is 5
    assert [binom.ppf(0.975, m, 0.1) for m in (15, 19, 20)] == [4, 5, 5]
    assert most_missed([Survivors(12, 2, 6, constant(0.1))], 0.975) == 5


def test_fast_kills_are_no_chances_to_miss() -> None:
    # with 12 kills that could not have been missed: .975-quantile of Bin(2 + 1, .1) is 2, of Bin(2 + 2 + 1, .1) too
    assert [binom.ppf(0.975, m, 0.1) for m in (3, 5)] == [2, 2]
    assert most_missed([Survivors(0, 2, 6, constant(0.1))], 0.975) == 2


def test_nothing_killed_does_not_mean_that_nothing_has_dropped() -> None:
    # one of three may have dropped and been missed (chance .1), two hardly (chance .01 < .025)
    assert most_missed([Survivors(0, 0, 3, constant(0.1))], 0.975) == 1


def test_a_kill_is_fast_before_the_first_survival_and_within_a_quarter_of_the_chance() -> None:
    table = decision_table(0, 50, TEN)
    first = min(n for n in range(101) if table.survive_at[n] >= 0)
    last = fast_until(table)
    assert 0 < last < first == 11
    by = {n: _walk(table, 0.2, n)[0] for n in range(1, first)}
    assert by[last] <= 0.25
    assert last == first - 1 or by[last + 1] > 0.25 or last + 1 not in kill_levels(table).trials


def test_the_chance_of_a_missed_drop_is_that_among_those_without_a_fast_kill() -> None:
    # the original never failed, so that the lower limit of its failure rate is 0 and the drop makes it .2
    table = decision_table(0, 50, TEN)
    fast, _ = _walk(table, 0.2, fast_until(table))
    _, survived = _walk(table, 0.2, 100)
    (group,) = survivors_of([one(SURVIVED, table)])
    assert group.missed == pytest.approx(constant(survived / (1 - fast)), rel=1e-9)


def _walk(table: KillTable, rate: float, n_max: int, begun: tuple[int, int] = (0, 0)) -> tuple[float, float]:
    """Chances of a kill and of a survival within so many trials, by following the trials one by one.

    `begun`: the trials before the first, and their failures.
    """
    alive, killed, survived = {begun[1]: 1.0}, 0.0, 0.0
    for n in range(begun[0] + 1, n_max + 1):
        arrived: dict[int, float] = {}
        for f, chance in alive.items():
            arrived[f] = arrived.get(f, 0.0) + chance * (1 - rate)
            arrived[f + 1] = arrived.get(f + 1, 0.0) + chance * rate
        killed += sum(c for f, c in arrived.items() if f >= table.kill_at[n])
        survived += sum(c for f, c in arrived.items() if f <= table.survive_at[n])
        alive = {f: c for f, c in arrived.items() if table.survive_at[n] < f < table.kill_at[n]}
    return killed, survived


def test_a_larger_drop_is_missed_less_often_even_without_a_fast_kill(table_of: TableOf) -> None:
    for f0, design in ((0, TEN), (2, TEN), (10, TEN), (5, KillDesign()), (25, KillDesign(0.025))):
        table = table_of(f0, 50, design)
        rates = np.linspace(f0 / 50 + 0.01, 0.98, 60)
        ends = endings(table)[KILLED]
        early = chance_of(ends, rates)[ends.n <= fast_until(table)].sum(axis=0)
        ratio = decision_probability(table, SURVIVED, rates) / (1 - early)
        assert (np.diff(ratio) <= 1e-12).all()


def rounds_of(table_of: TableOf, *failures: int) -> tuple[KillTable, ...]:
    """The tables of a scenario of ten in each round, from the failures of its growing baseline."""
    return tuple(
        table_of(f0, each.baseline, design_in(each, TEN)) for f0, each in zip(failures, ROUNDS, strict=True)
    )


def left_after(tables: Sequence[KillTable], rates: Sequence[float]) -> list[tuple[float, float]]:
    """At each rate, the chance that no table kills within the fast trials, and that the last one survives then."""
    until, found = fast_until(*tables), []
    left = Counter(
        sum(outcomes)
        for outcomes in product((False, True), repeat=until)
        if all(table.verdict(outcomes).decision is not KILLED for table in tables)
    )
    for rate in rates:
        chances = {f: number * rate**f * (1 - rate) ** (until - f) for f, number in left.items()}
        survived = sum(c * _walk(tables[-1], rate, 100, (until, f))[1] for f, c in chances.items())
        found.append((sum(chances.values()), survived))
    return found


def test_with_rounds_a_kill_by_the_table_of_any_round_is_fast(table_of: TableOf) -> None:
    # the first twenty trials of the original all pass, a tenth of the later ones fail: three failures kill at once,
    # and the finest table asks for more
    tables = rounds_of(table_of, 0, 1, 3, 8)
    tests = tuple(KillTest("a", table, 0, each.weight) for table, each in zip(tables, ROUNDS, strict=True))
    first = kill_levels(tables[0]).trials[0]
    assert first <= fast_until(*tables)
    assert tables[-1].verdict([True] * first).decision is Decision.CONTINUE
    killed = JudgedMutant(KILLED, (tests[0]._replace(killed_at=first), *tests[1:]))
    (group,) = survivors_of([killed, JudgedMutant(SURVIVED, tests)])
    assert (group.slow, group.survived) == (0, 1)
    (alone,) = survivors_of([JudgedMutant(KILLED, tests[-1:]), JudgedMutant(SURVIVED, tests[-1:])])
    assert alone.slow == 1
    # a kill of a finer round than the score speaks of may be slow
    (coarse,) = survivors_of([JudgedMutant(KILLED, (*tests[:3], tests[3]._replace(killed_at=5)))], 0.3)
    assert coarse.slow == 1


def test_the_chance_of_a_missed_drop_after_rounds_is_that_without_a_fast_kill_in_any(
    table_of: TableOf,
) -> None:
    # the original never failed, so that the lower limit of its failure rate is 0 and the drop makes it .2
    tables = rounds_of(table_of, 0, 0, 0, 0)
    ((unkilled, survived),) = left_after(tables, [0.2])
    tests = tuple(KillTest("a", table, 0, each.weight) for table, each in zip(tables, ROUNDS, strict=True))
    (group,) = survivors_of([JudgedMutant(SURVIVED, tests)])
    assert group.missed == pytest.approx(constant(survived / unkilled), rel=1e-9)


def test_a_larger_drop_is_missed_less_often_after_rounds_too(table_of: TableOf) -> None:
    for failures in ((0, 0, 0, 0), (0, 1, 3, 8), (2, 2, 3, 4)):
        tables = rounds_of(table_of, *failures)
        least = failures[-1] / 100 + 0.01
        found = left_after(tables, np.linspace(least, 0.9, 8).tolist())
        ratio = [survived / unkilled for unkilled, survived in found]
        assert (np.diff(ratio) <= 1e-12).all()


def test_slow_kills_count_among_the_chances_to_miss(table_of: TableOf) -> None:
    table = table_of(0, 50, TEN)
    last = fast_until(table)
    slow = next(n for n in kill_levels(table).trials if n > last)
    fast = [one(KILLED, table, 2)] * 3
    (group,) = survivors_of([*fast, one(KILLED, table, slow), one(KILLED, table), one(UNDECIDED, table)])
    # a kill at an unknown trial may be slow
    assert (group.slow, group.undecided, group.survived) == (
        2,
        1,
        0,
    )
