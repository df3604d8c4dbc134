"""Means of pass^k over scenarios and quantiles of latency, on published runs and by other routes."""

import math
from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from scipy import stats

from agentmut.stats.intervals.bounded_mean import bounded_mean
from agentmut.stats.intervals.clusters import clustered_mean
from agentmut.stats.reliability.durations import latency_percentile
from agentmut.stats.reliability.repeated_runs import pass_at_k
from agentmut.stats.reliability.suite_means import mean_over_scenarios

AIRLINE = [(c, 4) for c, tasks in {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}.items() for _ in range(tasks)]
"""Passes of 4 repeats on the 50 tasks of tau-bench's airline domain, by its published gpt-4o trajectories."""


@pytest.mark.parametrize(("k", "published"), [(1, 0.420), (2, 0.273), (3, 0.220), (4, 0.200)])
def test_pass_hat_k_of_tau_bench_is_as_published(k: int, published: float) -> None:
    assert mean_over_scenarios(AIRLINE, k).estimate == pytest.approx(published, abs=5e-4)


def test_the_interval_of_the_suite_allows_for_repeats_being_alike() -> None:
    found = mean_over_scenarios(AIRLINE)
    assert [found.low, found.high] == pytest.approx([0.315, 0.525], abs=5e-4)
    runs = [float(i < c) for c, n in AIRLINE for i in range(n)]
    whole = clustered_mean(runs, [task for task in range(50) for _ in range(4)], bounds=(0, 1))
    assert [whole.interval.low, whole.interval.high] == pytest.approx([found.low, found.high])
    independent = stats.binomtest(84, 200).proportion_ci(method="wilson")
    assert (independent.high - independent.low) / (found.high - found.low) < 0.68


def test_pass_at_k_counts_the_choices_of_k_runs() -> None:
    chosen = [
        mean(any(pair) for pair in combinations([i < c for i in range(n)], 2)) for c, n in [(1, 4), (3, 4)]
    ]
    assert mean_over_scenarios([(1, 4), (3, 4)], 2, at_least_one=True).estimate == pytest.approx(mean(chosen))


def test_scenarios_that_all_agree_still_have_an_interval() -> None:
    found = mean_over_scenarios([(5, 5)] * 10)
    assert (found.estimate, found.high) == (1, 1)
    assert found.low == pytest.approx(10 / (10 + stats.norm.ppf(0.975) ** 2))


def test_scenarios_that_nearly_all_agree_have_the_exact_lower_end_of_a_proportion() -> None:
    found = mean_over_scenarios([(4, 4)] * 19 + [(0, 4)])  # estimates are 1 or 0: a proportion of scenarios
    exact = stats.binomtest(19, 20).proportion_ci(method="exact")
    assert found.low == pytest.approx(exact.low, abs=1e-6)
    assert found.method == "t or gaffke over scenarios"


def test_pass_at_k_near_1_is_covered_where_t_is_too_narrow() -> None:
    rng, n, k = np.random.default_rng(11), 30, 4
    # rates are Beta(4, 1): the mean of 1 - (1 - p)^4 is 1 - B(4, 5)/B(4, 1) = 1 - 4 * 3! 4!/8!
    true = 1 - 4 * math.factorial(3) * math.factorial(4) / math.factorial(8)
    covered = covered_by_t = 0
    for _ in range(60):
        counts = [(int(c), 8) for c in rng.binomial(8, rng.beta(4, 1, n))]
        found = mean_over_scenarios(counts, k, at_least_one=True)
        covered += found.low <= true <= found.high
        values = [pass_at_k(c, m, k) for c, m in counts]
        t = clustered_mean(values, range(n), bounds=(0, 1)).interval
        covered_by_t += t.low <= true <= t.high
    assert covered >= 56
    assert covered_by_t <= 51


def test_one_scenario_has_the_exact_interval_of_its_runs() -> None:
    exact = stats.binomtest(8, 10).proportion_ci(method="exact")
    found = mean_over_scenarios([(8, 10)], 2)
    assert found.estimate == pytest.approx(28 / 45)  # C(8, 2) / C(10, 2)
    assert [found.low, found.high] == pytest.approx([exact.low**2, exact.high**2])


def test_the_interval_of_a_latency_percentile_covers_it() -> None:
    rng = np.random.default_rng(7)
    true = -math.log(0.05)
    covered = [
        (found := latency_percentile(rng.exponential(size=200).tolist())).low <= true <= found.high
        for _ in range(400)
    ]
    assert np.mean(covered) > 0.93  # 0.95 or more, less two and a half standard errors of 400 draws


def test_few_runs_leave_a_high_latency_percentile_without_an_upper_bound() -> None:
    # 1 - 0.95^n reaches 0.975 at n = 72: the largest of fewer runs is no upper bound
    assert latency_percentile(range(1, 72)).high == math.inf
    assert latency_percentile(range(1, 74)).high == 73


def test_values_that_differ_from_one_by_rounding_have_a_bound() -> None:
    nearly = bounded_mean([1 - 2**-53] * 5)
    assert (round(nearly.low, 3), nearly.high) == (0.478, 1.0)  # 0.025 ** (1 / 5), as for values of 1
