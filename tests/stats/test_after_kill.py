"""Runs after a kill: they tell without bias what a CI job sees, whatever the rate at which it fails."""

from collections import Counter

import pytest
from scipy.stats import binom

from agentmut.stats.score.after_kill import AfterKill
from agentmut.stats.score.redness import TriedScenario, passes_needed, red_chances


def endings(needed: int, runs: int) -> Counter[AfterKill]:
    """Count the sequences of passes and failures by the place where the job has its colour."""
    alive, ended = Counter({AfterKill(needed, runs): 1}), Counter[AfterKill]()
    while alive:
        following: Counter[AfterKill] = Counter()
        for job, ways in alive.items():
            for failed in (False, True):
                after = job.after(failed=failed)
                (following if after.due else ended)[after] += ways
        alive = following
    return ended


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("most", [1, 2, 5, 10, 20])
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.85, 0.99])
def test_every_job_up_to_the_largest_is_estimated_without_bias(
    threshold: float, most: int, rate: float
) -> None:
    ended = endings(passes_needed(threshold, most), most)
    chances = {job: ways * rate**job.passes * (1 - rate) ** job.failures for job, ways in ended.items()}
    assert sum(chances.values()) == pytest.approx(1)
    for runs in range(1, most + 1):
        needed = passes_needed(threshold, runs)
        mean = sum(chance * (job.green(needed, runs) or 0.0) for job, chance in chances.items())
        assert mean == pytest.approx(binom.sf(needed - 1, runs, rate), abs=1e-12)
        assert all(job.green(needed, runs) is not None for job in ended)


def test_a_job_of_ten_runs_takes_two_to_ten() -> None:
    assert {job.trials for job in endings(9, 10)} == set(range(2, 11))


def test_runs_that_are_too_few_tell_nothing() -> None:
    begun = AfterKill(9, 10, passes=3, failures=1)
    assert begun.green(1, 1) is None
    killed = [TriedScenario(3, 10, 0.9, after=begun), TriedScenario(50, 50, 0.9)]
    assert [red.interval.estimate for red in red_chances(killed, [1, 10])] == [None, None]
    over = AfterKill(9, 10, passes=1, failures=2)
    assert over.green(18, 20) is None  # 20 runs may fail twice


def test_a_killing_scenario_counts_by_the_runs_after_the_kill_alone() -> None:
    green = AfterKill(9, 10, passes=9, failures=1)
    once, often = red_chances([TriedScenario(9, 20, 0.9, after=green), TriedScenario(40, 50, 0.9)], [1, 10])
    assert once.interval.estimate == pytest.approx(1 - 8 / 9 * 0.8)
    other = red_chances([TriedScenario(40, 50, 0.9)], [10])[0].interval.estimate
    assert often.interval.estimate == other
