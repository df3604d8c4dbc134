"""The interval of a score: unchanged mutants that count as killed, grades, and scores at the edges, by hand."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from agentmut.stats.kill.rule import Decision, KillDesign, decision_table
from agentmut.stats.score.false_kills import (
    DRAWS,
    false_kill_bound,
    families_of,
    rank_limit,
    rank_statistics,
    simes_bound,
)
from agentmut.stats.score.grades import Grade, grades, hommel
from agentmut.stats.score.kill_p_value import KillTest, SuiteTest, kill_levels
from agentmut.stats.score.mutant_evidence import JudgedMutant, clearing_tables, spread_levels
from agentmut.stats.score.mutation_score import mutation_score, paper_score
from tests.stats.judged_mutants import KILLED, SURVIVED, TEN, UNDECIDED, TableOf, one

DEMO = next(
    (
        path
        for parent in Path(__file__).parents
        if (path := parent / "shared/data/demo-campaign/result.json").exists()
    ),
    None,
)


def test_simes_bound_by_hand() -> None:
    p = np.array([0.0005, 0.004, 0.02, 0.04])
    # all four, no others: .0005 <= .01/4 rejects; the last three: .01/3, .02/3, .01 reject none
    assert simes_bound(p, 0, 0.01) == 3
    # with 100 others: .0005 > .01/104
    assert simes_bound(p, 100, 0.01) == 4
    assert simes_bound(np.array([]), 5, 0.01) == 0
    assert simes_bound(np.array([1e-6, 1e-6]), 5, 0.01) == 0


def test_the_chance_of_a_kill_at_a_level_is_at_least_that_level_on_average(table_of: TableOf) -> None:
    tests = tuple(KillTest(f"s{i}", table_of(i, 50, TEN)) for i in range(10))
    grid, (family,) = families_of([JudgedMutant(SURVIVED, tests)] * 3)
    assert family.others == 3
    assert family.chances.shape == (len(grid), DRAWS)
    assert (np.diff(family.chances, axis=0) >= 0).all()
    assert (family.chances.mean(axis=1) >= grid * (1 - 1e-9)).all()
    assert 0 < grid[0] < grid[-1] <= 0.05


def test_the_rank_test_of_one_table_agrees_with_counting_by_hand(table_of: TableOf) -> None:
    # one level only: the statistic of k kills is the mean tail of the binomial at that level
    table = table_of(0, 50, TEN)
    grid, (family,) = families_of([one(SURVIVED, table)] * 20)
    counts = np.zeros((1, len(grid)), dtype=int)
    counts[0, -1] = 2
    by_hand = binom.sf(1, 20, np.minimum(family.chances[-1], 1)).mean()
    assert rank_statistics(counts, 20, family.chances) == pytest.approx([by_hand])


def test_unchanged_mutants_are_rejected_as_often_as_asked(table_of: TableOf) -> None:
    tests = tuple(KillTest(f"s{i}", table_of(i, 50, TEN)) for i in range(10))
    _, (family,) = families_of([JudgedMutant(SURVIVED, tests)] * 30)
    limit, rng = rank_limit([family], 0.05), np.random.default_rng(5)
    rows = []
    for _ in range(4000):
        draw = family.chances[:, rng.integers(DRAWS)]
        levels = np.searchsorted(draw, rng.random(30))
        rows.append(np.bincount(levels, minlength=len(draw) + 1)[:-1].cumsum())
    rejected = float((rank_statistics(np.array(rows), 30, family.chances) < limit).mean())
    assert 0.02 < rejected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)


def test_strong_kills_cannot_be_false_and_weak_ones_may(table_of: TableOf) -> None:
    tables = [table_of(i, 50, TEN) for i in (0, 1, 2)]

    def campaign(strong: int, weak: int) -> list[JudgedMutant]:
        states = [kill_levels(tables[0]).trials[0]] * strong + [kill_levels(tables[0]).trials[-1]] * weak
        rest = tuple(KillTest(f"s{i}", table) for i, table in enumerate(tables[1:]))
        killed = [JudgedMutant(KILLED, (KillTest("a", tables[0], n), *rest)) for n in states]
        return [*killed, *[JudgedMutant(SURVIVED, (KillTest("a", tables[0]), *rest))] * 10]

    assert false_kill_bound(campaign(10, 0), 0.025) <= 2
    assert false_kill_bound(campaign(10, 0), 0.025) <= false_kill_bound(campaign(10, 3), 0.025)
    assert 1 <= false_kill_bound(campaign(0, 3), 0.025) <= 3
    assert false_kill_bound(campaign(0, 0), 0.025) == 0


def test_a_share_for_the_suite_adds_false_kills(table_of: TableOf) -> None:
    tests = tuple(KillTest(name, table_of(10, 100, KillDesign(0.01))) for name in "ab")
    with_share = [JudgedMutant(KILLED, tests, SuiteTest(0.1, math.log(11), killed=True))] * 30
    with_share += [JudgedMutant(SURVIVED, tests, SuiteTest(0.1))] * 30
    without = [m._replace(suite=SuiteTest(0.0)) for m in with_share]
    more, fewer = false_kill_bound(with_share, 0.025), false_kill_bound(without, 0.025)
    assert more > fewer > 0
    _, (family,) = families_of(with_share)
    assert float(family.chances[-1].mean()) >= 0.1
    certain = [m._replace(suite=SuiteTest(0.1, math.log(1e5), m.suite.killed)) for m in with_share]
    assert false_kill_bound(certain, 0.025) < more


def test_mixed_families_are_scored_together(table_of: TableOf) -> None:
    first, second = table_of(10, 100, KillDesign()), table_of(5, 50, KillDesign())
    mutants = [one(KILLED, first)] * 8 + [one(SURVIVED, first)] * 4
    mixed = [*mutants, JudgedMutant(UNDECIDED, (KillTest("a", first), KillTest("b", second)))]
    score = mutation_score(mixed, no_coverage=2)
    assert score is not None
    assert score.interval.n == 15
    assert score.interval.estimate == 8 / 14
    assert score.interval.low < 8 / 15
    assert score.interval.high >= 9 / 15  # the undecided one may have been killed


def test_the_stored_demo_campaign_gives_three_false_kills_and_two_missed(table_of: TableOf) -> None:
    if DEMO is None:
        pytest.skip("the stored campaign is not here")
    rows = {
        name: mutation_score(*_stored(name, table_of))
        for name in ("", "prompt.drop_instruction", "tool.remove")
    }
    found = {
        name: (s.false_kills, s.missed, round(s.interval.low, 2), round(s.interval.high, 2))
        for name, s in rows.items()
        if s
    }
    assert found == {
        "": (3, 2, 0.43, 0.61),
        "prompt.drop_instruction": (2, 2, 0.31, 0.56),
        "tool.remove": (0, 0, 0.86, 0.86),
    }
    mutants, _ = _stored("", table_of)
    p_values = [m.p_value for m in mutants]
    given = grades(p_values, [m.decision is KILLED for m in mutants])
    assert [given.count(grade) for grade in Grade] == [11, 2, 2]
    assert max(p for p in p_values if p < 1) == pytest.approx(0.0285, abs=1e-4)


def _stored(operator: str, table_of: TableOf) -> tuple[list[JudgedMutant], int]:
    """The mutants of the stored campaign that an operator made, and how many no scenario reaches."""
    assert DEMO is not None
    result = json.loads(DEMO.read_text())
    base = {b["scenario"]: (b["trials"] - b["passes"], b["trials"]) for b in result["baseline"]}
    rows = [m for m in result["mutants"] if m["intent"] == "degrade" and m["operator"].startswith(operator)]
    reached = [m for m in rows if m["evidence"]]
    return [_judged(m, result["decision_tables"], base, table_of) for m in reached], len(rows) - len(reached)


def _judged(
    row: Mapping[str, Any],
    tables: Sequence[Mapping[str, Any]],
    base: Mapping[str, tuple[int, int]],
    table_of: TableOf,
) -> JudgedMutant:
    """A stored mutant. At alpha/12 all ten scenarios reach it, at alpha/8 the six that were tried."""
    tried = {item["scenario"]: item for item in row["evidence"]}
    level = tables[row["evidence"][0]["table"]]["alpha"]
    family = {12: 10, 8: 6, 5: 5, 2: 2, 1: 1}[round(0.05 / level)]
    names = [*tried, *(name for name in base if name not in tried)][:family]
    at = {name: item["trials"] for name, item in tried.items() if item["decision"] == "killed"}
    tests = [KillTest(n, table_of(*base[n], KillDesign(level)), at.get(n, 0)) for n in names]
    return JudgedMutant(Decision(row["status"]), tuple(tests))


def test_survival_speaks_of_the_drop_that_is_asked_for(table_of: TableOf) -> None:
    coarse, fine = table_of(1, 20, KillDesign(0.01, 0.1, 0.5)), table_of(2, 50, KillDesign(0.01, 0.1, 0.2))
    tests = (KillTest("a", coarse, weight=0.4), KillTest("a", fine, weight=0.6))
    assert clearing_tables(tests) == {"a": fine}
    assert clearing_tables(tests, 0.5) == {"a": coarse}
    assert clearing_tables(tests, 0.3) == {"a": fine}
    assert clearing_tables(tests, 0.1) == {}
    mutants = [JudgedMutant(SURVIVED, tests)] * 20
    by = {drop: mutation_score(mutants, resolution=drop) for drop in (None, 0.2, 0.5)}
    assert by[None] == by[0.2]
    assert by[0.5] is not None and by[0.2] is not None
    assert by[0.5].missed >= 1


def test_a_kill_in_any_stage_is_divided_by_the_weight_of_its_stage(table_of: TableOf) -> None:
    coarse, fine = table_of(1, 20, KillDesign(0.01, 0.1, 0.5)), table_of(2, 50, KillDesign(0.01, 0.1, 0.2))
    at = kill_levels(coarse).trials[0]
    killed = JudgedMutant(KILLED, (KillTest("a", coarse, at, 0.4), KillTest("a", fine, 0, 0.6)))
    level = kill_levels(coarse).at(at)
    assert killed.p_value == pytest.approx(level + kill_levels(fine).attained(level / 0.4 * 0.6))


def test_a_kill_without_a_known_state_has_the_largest_p_value(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    assert one(KILLED, table).p_value == kill_levels(table).levels[-1]
    assert one(KILLED, table)._replace(known=0.001).p_value == 0.001
    assert one(SURVIVED, table)._replace(known=0.001).p_value == 1.0


def test_draws_of_different_scenarios_spread_as_if_independent() -> None:
    columns = [spread_levels(dimension, 512) for dimension in range(6)]
    assert np.abs(np.corrcoef(columns) - np.eye(6)).max() < 0.1
    assert all(sorted(column) == sorted(columns[0]) for column in columns)


def test_mutants_without_coverage_are_survivors_for_certain(table_of: TableOf) -> None:
    score = mutation_score([one(KILLED, table_of(0, 50, TEN), 2)] * 5, no_coverage=5)
    assert score is not None
    assert (score.interval.low, score.interval.estimate, score.interval.high) == (0.5, 0.5, 0.5)
    alone = mutation_score([], no_coverage=3)
    assert alone is not None
    assert (alone.interval.low, alone.interval.estimate, alone.interval.high) == (0.0, 0.0, 0.0)


def test_a_score_of_nothing_is_undefined() -> None:
    assert mutation_score([]) is None


def test_all_undecided_gives_no_estimate_and_the_whole_range(table_of: TableOf) -> None:
    score = mutation_score([one(UNDECIDED, table_of(10, 100, KillDesign()))] * 4)
    assert score is not None
    assert (score.interval.estimate, score.interval.low, score.interval.high) == (None, 0.0, 1.0)


def test_one_survivor_can_never_be_certified(table_of: TableOf) -> None:
    # a drop of .2 is missed with chance about .1, more than .025
    score = mutation_score([one(SURVIVED, table_of(10, 100, KillDesign()))])
    assert score is not None
    assert (score.interval.low, score.interval.high) == (0.0, 1.0)


def test_a_perfect_score_of_weak_kills_is_never_printed_bare(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    score = mutation_score([one(KILLED, table, kill_levels(table).trials[-1])] * 20)
    assert score is not None
    assert score.interval.low < 1
    assert str(score).endswith(f"up to {score.false_kills} false kills, 0 missed")


def test_five_thousand_mutants_in_many_families_are_scored(table_of: TableOf) -> None:
    tables = {f"s{i}": table_of(i, 50, KillDesign(alpha=0.05 / 12)) for i in range(12)}
    families = [tuple(KillTest(n, tables[n]) for n in list(tables)[: 2 + i % 10]) for i in range(100)]
    verdicts = (KILLED, KILLED, SURVIVED)
    score = mutation_score([JudgedMutant(verdicts[i % 3], families[i % 100]) for i in range(5000)])
    assert score is not None
    assert score.interval.low < 2 / 3 < score.interval.high


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


def test_impossible_counts_and_levels_are_refused(table_of: TableOf) -> None:
    table = table_of(78, 100, KillDesign())
    with pytest.raises(ValueError, match="no_coverage must be"):
        mutation_score([], no_coverage=-1)
    with pytest.raises(ValueError, match=r"gamma must be in \(0, 1\), got 1"):
        mutation_score([one(SURVIVED, table)], gamma=1)
    with pytest.raises(ValueError, match="must be killed, survived or undecided"):
        mutation_score([one(Decision.CONTINUE, table)])
    with pytest.raises(ValueError, match="on a scenario or more"):
        mutation_score([JudgedMutant(KILLED, ())])


def test_an_undecided_mutant_without_scenarios_widens_the_bounds_and_adds_no_error_rate() -> None:
    table = decision_table(10, 100)
    alone = mutation_score([one(SURVIVED, table)])
    with_it = mutation_score([one(SURVIVED, table), JudgedMutant(UNDECIDED, ())])
    assert alone is not None and with_it is not None
    assert (with_it.interval.estimate, with_it.interval.n) == (0.0, 2)
    assert with_it.interval.high >= 0.5  # the undecided one may have been killed
    assert with_it.false_kills == alone.false_kills == 0


def test_hommel_rejects_what_every_simes_test_of_a_closed_family_rejects() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        p_values = rng.beta(0.2, 1, 5).tolist()
        assert hommel(p_values, 0.05) == [_in_all_rejected(p_values, i) for i in range(5)]


def _in_all_rejected(p_values: Sequence[float], i: int) -> bool:
    @cache
    def rejected(members: tuple[int, ...]) -> bool:
        rising = sorted(p_values[j] for j in members)
        return any(p <= 0.05 * rank / len(rising) for rank, p in enumerate(rising, 1))

    others = [j for j in range(len(p_values)) if j != i]
    return all(rejected((i, *more)) for size in range(5) for more in combinations(others, size))


def test_grades_by_hand() -> None:
    # the first is certain: .0001 <= .05/5; of the rest .009 is strong, .03 moderate, and survivors have no grade
    p_values, killed = [0.0001, 0.02, 0.009, 0.03, 1.0], [True, True, True, True, False]
    assert hommel(p_values, 0.05)[0] is True
    found = grades([0.0001, 0.04, 0.009, 1.0, 1.0, 1.0, 1.0], [True, True, True, *[False] * 4])
    assert found[:4] == [Grade.CERTAIN, Grade.MODERATE, Grade.STRONG, None]
    assert grades(p_values, killed)[4] is None
