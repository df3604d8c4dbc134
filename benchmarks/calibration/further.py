"""`needed`: the chance that the proposed further trials settle a verdict, if the observed rates are the true ones."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import binom

from agentmut.stats.kill.rule import Decision, decision_table
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.kill_verdict import judge_stopped
from agentmut.stats.verdicts.regression import regression_verdict
from agentmut.stats.verdicts.scenario_verdict import fixed_verdict, sprt_verdict
from benchmarks.calibration.figures import Figure, Section

FIXED = ((47, 50, 0.85), (45, 50, 0.85), (38, 50, 0.85))
"""Passes, trials, threshold."""
REGRESSIONS = ((45, 50, 8, 10), (45, 50, 9, 10), (47, 50, 14, 20))
"""Passes and trials of the baseline and of the candidate."""
SEQUENTIAL = ((0.9, 0.2, 2, 9), (0.8, 0.2, 3, 9))
"""Threshold, margin, failures and trials so far of a test that is still open."""
KILLS = ((10, 100, 2, 8), (10, 100, 0, 5), (5, 50, 1, 6))
"""Failures and trials of the baseline and of the mutant."""
ABOUT = (0.8, 0.9)


def section(*, thorough: bool) -> Section:
    """Return fixed samples, regressions, the sequential test and the kill rule."""
    regressions = REGRESSIONS if thorough else REGRESSIONS[:1]
    figures = [_fixed(*case) for case in FIXED]
    figures += [f for case in regressions for f in _regression(*case)]
    figures += [f for case in SEQUENTIAL for f in _sprt(*case)]
    figures += [f for case in KILLS for f in _kill(*case)]
    how = (
        "Exact: the verdict is asked about every outcome of the further trials; sequential tests by following "
        "every open state."
    )
    return Section("Further trials that a verdict asks for", how, tuple(figures))


def ended(is_open: Callable[[int, int], bool], rate: float, n: int, f: int, more: int) -> float:
    """Return the chance that a test in state (n, f) ends within `more` trials that fail at `rate`."""
    alive = {f: 1.0}
    for trial in range(n + 1, n + more + 1):
        arrived: dict[int, float] = {}
        for failures, chance in alive.items():
            arrived[failures] = arrived.get(failures, 0.0) + chance * (1 - rate)
            arrived[failures + 1] = arrived.get(failures + 1, 0.0) + chance * rate
        alive = {failures: chance for failures, chance in arrived.items() if is_open(trial, failures)}
    return 1 - sum(alive.values())


def _fixed(k: int, n: int, threshold: float) -> Figure:
    more = fixed_verdict(k, n, threshold).needed or 0
    found = np.arange(more + 1)
    verdicts = [fixed_verdict(k + int(j), n + more, threshold).verdict for j in found]
    settled = [verdict is not Verdict.INCONCLUSIVE for verdict in verdicts]
    chance = float(binom.pmf(found, more, k / n)[settled].sum())
    what = f"fixed_verdict on {k} of {n}, theta {threshold:g}: settled after {more} more"
    return Figure(what, chance, "about 0.8", *ABOUT)


def _regression(k_b: int, n_b: int, k_c: int, n_c: int) -> Iterator[Figure]:
    """Yield how often a plan of `needed` more runs settles a regression; it asks for more than the exact tests do.

    Once FAIL and PASS meet no outcome is open, so the chance may jump from below 0.9 to 1 with one trial more.
    """
    needed = regression_verdict(k_b, n_b, k_c, n_c).needed or 0
    what = f"regression_verdict on {k_c}/{n_c} against {k_b}/{n_b}: settled after"
    yield Figure(
        f"{what} {needed} more", _settled(k_b, n_b, k_c, n_c, needed), "at least about 0.8", low=0.75
    )
    fewer = needed * 2 // 3
    yield Figure(f"{what} two thirds, {fewer} more", _settled(k_b, n_b, k_c, n_c, fewer), "-")


def _settled(k_b: int, n_b: int, k_c: int, n_c: int, more: int) -> float:
    """Few passes fail, many pass: the open outcomes are a run, found by bisection from both sides."""

    def verdict(j: int) -> Verdict:
        return regression_verdict(k_b, n_b, k_c + j, n_c + more).verdict

    fails = _least(lambda j: verdict(j) is not Verdict.FAIL, more)
    passes = _least(lambda j: verdict(j) is Verdict.PASS, more)
    return float(binom.cdf(fails - 1, more, k_c / n_c) + binom.sf(passes - 1, more, k_c / n_c))


def _least(holds: Callable[[int], bool], most: int) -> int:
    """Return the least j in 0..most with `holds`, which then stays; most + 1 if there is none."""
    low, high = 0, most + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _sprt(threshold: float, margin: float, f: int, n: int) -> Iterator[Figure]:
    design = SprtDesign(threshold, margin, 0.05, 0.1, None)
    more = sprt_verdict(design, [True] * (n - f) + [False] * f).needed or 0
    what = f"sprt_verdict, theta {threshold:g}, margin {margin:g}, {f} of {n} failed: settled"
    yield from _around(lambda m, g: design.decide(m, g) is None, f / n, (n, f, more), what)


def _kill(f0: int, n0: int, f: int, n: int) -> Iterator[Figure]:
    table = decision_table(f0, n0)
    stopped = table.verdict([False] * (n - f) + [True] * f)
    if stopped.decision is not Decision.CONTINUE:
        raise ValueError(f"{f} of {n} failures must be an open state of {f0}/{n0}, got {stopped}")
    more = judge_stopped(table, stopped).needed or 0
    what = f"judge_stopped, {f} of {n} failed, {f0}/{n0} of the baseline: settled"
    yield from _around(lambda m, g: table.decide(m, g) is Decision.CONTINUE, f / n, (n, f, more), what)


def _around(
    is_open: Callable[[int, int], bool], rate: float, state: tuple[int, int, int], what: str
) -> Iterator[Figure]:
    n, f, more = state
    chance = ended(is_open, rate, n, f, more)
    yield Figure(f"{what} after {more} more", chance, "at least 0.8", 0.8 - 1e-9)
    chance = ended(is_open, rate, n, f, more - 1)
    yield Figure(f"{what} after {more - 1} more", chance, "below 0.8", 0.0, 0.8)
