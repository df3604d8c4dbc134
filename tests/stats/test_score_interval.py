from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table
from agentmut.stats.score.mutation_score import (
    POINTS,
    Group,
    Judged,
    Rates,
    family_rates,
    mutation_score,
    paper_score,
    score_interval,
    table_rates,
)
from benchmarks.calibration.false_kills import kill_probability, survive_probability

TableOf = Callable[[int, int, KillDesign], KillTable]


def constant(false_kill: float, missed: float) -> Rates:
    return Rates(np.full(POINTS, false_kill), np.full(POINTS, missed))


def test_with_known_rates_the_bounds_are_binomial_quantiles() -> None:
    # F: .975-quantile of Bin(20, .05) is 3, then of Bin(20 - 12 + 3 = 11, .05) is 2, of Bin(10, .05) is 2
    # M: .975-quantile of Bin(12 + 2 + 1, .1) is 4, of Bin(12 + 2 + 4 + 1, .1) is 5, of Bin(20, .1) is 5
    assert [binom.ppf(0.975, m, 0.05) for m in (20, 11, 10)] == [3, 2, 2]
    assert [binom.ppf(0.975, m, 0.1) for m in (15, 19, 20)] == [4, 5, 5]
    score = score_interval([Group(12, 6, 2, constant(0.05, 0.1))])
    assert score is not None
    assert (score.false_kills, score.missed) == (2, 5)
    assert (score.interval.low, score.interval.high) == (10 / 20, 19 / 20)
    assert score.interval.estimate == 12 / 18
    assert (score.interval.level, score.interval.n) == (0.95, 20)


def test_nothing_killed_does_not_mean_that_nothing_has_dropped() -> None:
    # one of three may have dropped and been missed (chance .1), two hardly (chance .01 < .025)
    score = score_interval([Group(0, 3, 0, constant(0.05, 0.1))])
    assert score is not None
    assert (score.interval.low, score.interval.high) == (0.0, 1 / 3)


def test_a_sure_rule_leaves_only_the_undecided_open() -> None:
    score = score_interval([Group(5, 3, 2, constant(0.0, 0.0))])
    assert score is not None
    assert (score.interval.low, score.interval.high) == (0.5, 0.7)


def test_mutants_without_coverage_are_survivors_for_certain() -> None:
    score = score_interval([Group(5, 0, 0, constant(0.0, 0.5))], no_coverage=5)
    assert score is not None
    assert (score.interval.low, score.interval.estimate, score.interval.high) == (0.5, 0.5, 0.5)


def test_only_mutants_without_coverage_score_zero() -> None:
    score = score_interval([], no_coverage=3)
    assert score is not None
    assert (score.interval.low, score.interval.estimate, score.interval.high) == (0.0, 0.0, 0.0)


def test_a_score_of_nothing_is_undefined() -> None:
    assert score_interval([]) is None
    assert mutation_score([]) is None


def test_all_undecided_gives_no_estimate_and_the_whole_range() -> None:
    score = score_interval([Group(0, 0, 4, constant(0.05, 0.1))])
    assert score is not None
    assert (score.interval.estimate, score.interval.low, score.interval.high) == (None, 0.0, 1.0)


def test_a_perfect_score_is_never_printed_bare(table_of: TableOf) -> None:
    score = score_interval([Group(20, 0, 0, table_rates(table_of(10, 100, KillDesign())))])
    assert score is not None
    assert score.interval.low < 1
    assert str(score) == "1.0000 [0.9500, 1.0000] (95% kill rule, n=20); up to 1 false kills, 0 missed"


def test_rates_of_a_scenario_are_those_of_its_table(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    rates = table_rates(table)
    middle = float(beta(10.5, 90.5).median())
    assert float(np.median(rates.false_kill)) == pytest.approx(kill_probability(table, middle), abs=1e-3)
    assert float(np.median(rates.missed)) == pytest.approx(survive_probability(table, middle + 0.2), abs=2e-3)


def test_draws_of_different_scenarios_spread_as_if_independent(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    columns = [table_rates(table, dimension).false_kill for dimension in range(4)]
    assert np.abs(np.corrcoef(columns) - np.eye(4)).max() < 0.1
    assert [c.mean() for c in columns] == pytest.approx([columns[0].mean()] * 4, rel=0.03)


def test_a_family_may_be_killed_by_any_scenario_and_survives_only_in_all() -> None:
    bound = family_rates([constant(0.02, 0.1), constant(0.03, 0.3)])
    assert bound.false_kill[0] == pytest.approx(0.05)
    assert bound.missed[0] == 0.3


def test_a_share_for_the_suite_adds_its_level_to_the_false_kills(table_of: TableOf) -> None:
    rates = [table_rates(table_of(10, 100, KillDesign(0.01)), dimension) for dimension in range(2)]
    alone, shared = family_rates(rates), family_rates(rates, suite_level=0.025)
    assert float((shared.false_kill - alone.false_kill).mean()) == pytest.approx(0.025)
    added = (shared.false_kill - alone.false_kill) / alone.false_kill  # the same share of each draw, not flat
    assert added.min() == pytest.approx(added.max())
    assert shared.missed.tolist() == alone.missed.tolist()
    assert family_rates([constant(0.0, 0.1)] * 2, 0.02).false_kill[0] == 0.02
    with pytest.raises(ValueError, match=r"suite_level must be in \(0, 1\), got -0.1"):
        family_rates(rates, suite_level=-0.1)


def test_mutants_with_and_without_a_share_for_the_suite_are_scored_together(table_of: TableOf) -> None:
    family = {name: table_of(10, 100, KillDesign(0.01)) for name in "ab"}
    without = mutation_score([Judged(Decision.KILLED, family)] * 60)
    mixed = mutation_score(
        [Judged(Decision.KILLED, family)] * 30 + [Judged(Decision.KILLED, family, 0.1)] * 30
    )
    assert without is not None and mixed is not None
    assert mixed.interval.n == 60
    assert mixed.false_kills > without.false_kills


def test_the_papers_score_is_a_plain_ratio_with_wilsons_interval() -> None:
    score = paper_score(20, 2, 14)
    assert score is not None
    # Wilson for 14 of 18: (14/18 + z^2/36 -+ z sqrt(14/18 4/18 / 18 + z^2/1296)) / (1 + z^2/18), z = 1.959964
    assert score.estimate == pytest.approx(14 / 18)
    assert (score.low, score.high) == pytest.approx((0.547854, 0.909991), abs=1e-6)
    assert paper_score(3, 3, 0) is None
    assert paper_score(0, 0, 0) is None
    impossible: list[Any] = [(20, 21, 0), (20, 2, 19), (-1, 0, 0), (20, 2, 1.5)]
    for bad in impossible:
        with pytest.raises(ValueError, match="must be a whole number"):
            paper_score(*bad)


def test_mutants_are_grouped_by_family(table_of: TableOf) -> None:
    one, two = table_of(10, 100, KillDesign()), table_of(5, 50, KillDesign())
    single = [Judged(Decision.KILLED, {"a": one})] * 8 + [Judged(Decision.SURVIVED, {"a": one})] * 4
    expected = score_interval([Group(8, 4, 0, table_rates(one))])
    assert mutation_score(single) == expected
    mixed = [*single, Judged(Decision.UNDECIDED, {"a": one, "b": two})]
    score = mutation_score(mixed, no_coverage=2)
    assert score is not None
    assert score.interval.n == 15
    assert expected is not None
    assert score.interval.low < expected.interval.low


def test_five_thousand_mutants_in_many_families_are_scored_quickly(table_of: TableOf) -> None:
    tables = {f"s{i}": table_of(i, 50, KillDesign(alpha=0.05 / 12)) for i in range(12)}
    families = [{name: tables[name] for name in list(tables)[: 2 + i % 10]} for i in range(100)]
    verdicts = (Decision.KILLED, Decision.KILLED, Decision.SURVIVED)
    score = mutation_score([Judged(verdicts[i % 3], families[i % 100]) for i in range(5000)])
    assert score is not None
    assert score.interval.low < 2 / 3 < score.interval.high


@pytest.mark.parametrize(
    ("p", "mutants"),
    [(0.95, {0.0: 40}), (0.9, {0.0: 20, 0.2: 20}), (0.8, {0.0: 10, 0.1: 10, 0.4: 20}), (0.9, {0.2: 50})],
)
def test_the_interval_covers_the_share_of_worse_mutants(
    p: float, mutants: dict[float, int], table_of: TableOf
) -> None:
    rng, n0, runs, total = np.random.default_rng(11), 100, 300, sum(mutants.values())
    rates = cache(lambda f0: table_rates(table_of(f0, n0, KillDesign())))

    @cache
    def chances(f0: int, drop: float) -> list[float]:
        table = table_of(f0, n0, KillDesign())
        killed, survived = (of(table, 1 - p + drop) for of in (kill_probability, survive_probability))
        return [killed, survived, max(0.0, 1 - killed - survived)]

    covered = 0
    for f0 in rng.binomial(n0, 1 - p, runs).tolist():
        counts = np.zeros(3, dtype=int)
        for drop, number in mutants.items():
            counts += rng.multinomial(number, chances(f0, drop))
        k, s, u = counts.tolist()
        score = score_interval([Group(k, s, u, rates(f0))])
        assert score is not None
        worse = sum(n for drop, n in mutants.items() if drop > 0) / total
        much_worse = sum(n for drop, n in mutants.items() if drop >= 0.2) / total
        covered += score.interval.low <= worse and score.interval.high >= much_worse
    assert covered / runs >= 0.95 - 0.025  # two standard errors of the simulation


def test_impossible_counts_and_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="killed must be a whole number of at least 0, got -1"):
        score_interval([Group(-1, 0, 0, constant(0.05, 0.1))])
    with pytest.raises(ValueError, match="no_coverage must be"):
        score_interval([], no_coverage=-1)
    with pytest.raises(ValueError, match=r"gamma must be in \(0, 1\), got 1"):
        score_interval([Group(1, 0, 0, constant(0.05, 0.1))], gamma=1)
    with pytest.raises(ValueError, match="must be killed, survived or undecided"):
        mutation_score([Judged(Decision.CONTINUE, {"a": decision_table(78, 100)})])
    with pytest.raises(ValueError, match="on a scenario or more"):
        mutation_score([Judged(Decision.KILLED, {})])


def test_an_undecided_mutant_without_scenarios_widens_the_bounds_and_adds_no_error_rate() -> None:
    table = decision_table(10, 100)
    alone = mutation_score([Judged(Decision.SURVIVED, {"a": table})])
    with_it = mutation_score([Judged(Decision.SURVIVED, {"a": table}), Judged(Decision.UNDECIDED, {})])
    assert alone is not None and with_it is not None
    assert (with_it.interval.estimate, with_it.interval.n) == (0.0, 2)
    assert with_it.interval.high >= 0.5  # the undecided one may have been killed
    assert with_it.false_kills == alone.false_kills == 0
