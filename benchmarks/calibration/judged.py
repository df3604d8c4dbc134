"""The verdict functions themselves: the chance of every verdict, by calling them on every outcome of small designs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from agentmut.stats.kill.characteristics import chance_of, endings
from agentmut.stats.kill.rule import Decision, KillDesign, StoppedTrials, decision_table
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics
from agentmut.stats.tests.multiplicity import Correction
from agentmut.stats.tests.proportions import TwoSampleTest
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.kill_verdict import judge_stopped
from agentmut.stats.verdicts.regression import regression_verdict
from agentmut.stats.verdicts.scenario_verdict import fixed_verdict, sprt_verdict
from agentmut.stats.verdicts.suite_verdict import suite_verdict
from benchmarks.calibration.figures import Figure, Section

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Judge = Callable[[int, int], Verdict]
"""A verdict on the numbers of passes (k_b, k_c) of the baseline and of the candidate."""
LEVELS = ((0.01, 0.2), (0.1, 0.02))
"""alpha and beta: an exchange of the two breaks a promise in one of these."""
DELTA = 0.2
EPS = 1e-9


def section(*, thorough: bool) -> Section:
    """P(FAIL) and P(PASS) of the verdict functions at the worst rates of their hypotheses."""
    figures = [*_regression(thorough=thorough), *_fixed(50), *_suite(16)]
    figures += _sprt((None, 100) if thorough else (40,))
    figures += _kill((20, 50) if thorough else (20,))
    how = (
        "Exact: each verdict function is called on every outcome that its boundaries leave possible; the chances "
        "of the outcomes are summed at rates 0.002 apart. Small samples, and errors that are far from equal."
    )
    return Section("Verdict functions, called", how, tuple(figures))


def regions(judge: Judge, n_b: int, n_c: int) -> dict[Verdict, Flags]:
    """Return the tables [k_b, k_c] of each verdict, if more k_c is never worse and more k_b never better.

    A row starts where the last one ended, so about 2 (n_b + n_c) tables are judged. A row whose best candidate
    does not pass, as where the baseline leaves no room for a drop, has no PASS.
    """
    found = {verdict: np.zeros((n_b + 1, n_c + 1), dtype=bool) for verdict in Verdict}
    verdict_of, fails, passes = cache(judge), 0, 0
    for k_b in range(n_b + 1):
        while fails <= n_c and verdict_of(k_b, fails) is Verdict.FAIL:
            fails += 1
        first = n_c + 1
        if verdict_of(k_b, n_c) is Verdict.PASS:
            passes = max(passes, fails)
            while verdict_of(k_b, passes) is not Verdict.PASS:
                passes += 1
            first = passes
        found[Verdict.FAIL][k_b, :fails] = True
        found[Verdict.INCONCLUSIVE][k_b, fails:first] = True
        found[Verdict.PASS][k_b, first:] = True
    return found


def worst(region: Flags, p_b: Array, p_c: Array) -> float:
    """Return the largest chance of a set of tables over pairs of true rates."""
    n_b, n_c = region.shape[0] - 1, region.shape[1] - 1
    baseline = binom.pmf(np.arange(n_b + 1)[:, None], n_b, p_b)
    candidate = binom.pmf(np.arange(n_c + 1)[:, None], n_c, p_c)
    return float(np.einsum("ig,ig->g", baseline, region.astype(float) @ candidate).max())


SUITES = {
    ("holm", 0.1): 0.01396,
    ("bonferroni", 0.1): 0.01396,
    ("benjamini-hochberg", 0.1): 0.01434,
    ("benjamini-yekutieli", 0.1): 0.01434,
    ("holm", 0.02): 0.00295,
    ("bonferroni", 0.02): 0.00295,
    ("benjamini-hochberg", 0.02): 0.00298,
    ("benjamini-yekutieli", 0.02): 0.00295,
}
"""Correction and alpha -> chance of a false FAIL of two scenarios; without a correction it is near twice that."""


def _regression(*, thorough: bool) -> Iterator[Figure]:
    same, dropped = np.linspace(0, 1, 501), np.linspace(DELTA, 1, 401)
    n = 16 if thorough else 7  # a call that ends open plans what is needed, which takes most of the time
    tests = (TwoSampleTest.BOSCHLOO, TwoSampleTest.FISHER) if thorough else (TwoSampleTest.BOSCHLOO,)
    for test, (alpha, beta) in product(tests, LEVELS):

        def judge(
            k_b: int, k_c: int, test: TwoSampleTest = test, a: float = alpha, b: float = beta
        ) -> Verdict:
            return regression_verdict(k_b, n, k_c, n, alpha=a, beta=b, delta=DELTA, test=test).verdict

        found = regions(judge, n, n)
        label = f"regression_verdict, {test}, {n}/{n}, alpha {alpha:g}, beta {beta:g}"
        wrong = worst(found[Verdict.FAIL], same, same)
        yield Figure(f"FAIL if unchanged, {label}", wrong, f"at most {alpha:g}", alpha / 8, alpha)
        wrong = worst(found[Verdict.PASS], dropped, dropped - DELTA)
        yield Figure(f"PASS at a drop of {DELTA}, {label}", wrong, f"at most {beta:g}", beta / 2, beta)


def _fixed(n: int) -> Iterator[Figure]:
    for threshold, alpha in product((0.9,), (0.1, 0.01)):
        verdicts = [fixed_verdict(k, n, threshold, alpha).verdict for k in range(n + 1)]
        chances = binom.pmf(np.arange(n + 1), n, threshold)
        for verdict in (Verdict.FAIL, Verdict.PASS):
            wrong = float(chances[[v is verdict for v in verdicts]].sum())
            what = f"{verdict} at theta, fixed_verdict, theta {threshold:g}, n = {n}, alpha {alpha:g}"
            yield Figure(what, wrong, f"at most {alpha / 2:g}", 0.0, alpha / 2 + EPS)


def _suite(n: int) -> Iterator[Figure]:
    """Yield two scenarios at their threshold: a false FAIL of either counts, a false PASS needs both."""
    threshold = 0.8
    chances = binom.pmf(np.arange(n + 1), n, threshold)
    sure = np.zeros(n + 1)
    sure[n] = 1.0
    for alpha, correction in product((0.1, 0.02), Correction):
        single = [fixed_verdict(k, n, threshold, alpha) for k in range(n + 1)]
        table = [[suite_verdict({"a": a, "b": b}, alpha, correction).verdict for b in single] for a in single]
        verdicts = np.array(table, dtype=object)
        fails, passes = (verdicts == v for v in (Verdict.FAIL, Verdict.PASS))
        label = f"suite_verdict, {correction}, two of n = {n}, theta {threshold:g}, alpha {alpha:g}"
        wrong = float(chances @ fails @ chances)
        known = SUITES[str(correction), alpha]
        words = f"at most {alpha:g}; known: {known:g}"
        yield Figure(f"FAIL, both at theta, {label}", wrong, words, known - 1e-5, min(alpha, known + 1e-5))
        wrong = float(chances @ passes @ sure)
        most = alpha / 2
        yield Figure(f"PASS, one at theta, one at 1, {label}", wrong, f"at most {most:g}", high=most)


def walked(judge: Callable[[list[bool]], Verdict], p: float, trials: int) -> dict[Verdict, float]:
    """Return the chances of the verdicts of a test that stops at the first, from one path to each state.

    `judge` is given outcomes (true: passed). States that are open after `trials` count as INCONCLUSIVE.
    """
    ended: dict[Verdict, float] = defaultdict(float)
    alive: dict[int, tuple[float, list[bool]]] = {0: (1.0, [])}
    for _ in range(trials):
        arrived: dict[int, tuple[float, list[bool]]] = {}
        for f, (chance, path) in alive.items():
            for passed, share in ((True, p), (False, 1 - p)):
                state = f + (not passed)
                before = arrived[state][0] if state in arrived else 0.0
                arrived[state] = (before + chance * share, [*path, passed])
        alive = {}
        for f, (chance, path) in arrived.items():
            verdict = judge(path)
            if verdict is Verdict.INCONCLUSIVE:
                alive[f] = (chance, path)
            else:
                ended[verdict] += chance
    ended[Verdict.INCONCLUSIVE] = sum(chance for chance, _ in alive.values())
    return ended


def _sprt(ends: Iterable[int | None]) -> Iterator[Figure]:
    for n_max, (alpha, beta), (theta, margin) in product(ends, LEVELS, ((0.9, 0.2), (0.6, 0.3))):
        design = SprtDesign(theta, margin, alpha, beta, n_max)
        rates = (theta, Verdict.FAIL, alpha), (theta - margin, Verdict.PASS, beta)
        judge = _kept(partial(_sprt_verdict, design))  # both rates come to the same states
        for p, verdict, level in rates:
            trials = n_max or 150
            found = walked(judge, p, trials)[verdict]
            what = f"{verdict} at {p:.1f}, sprt_verdict, theta {theta:g}, margin {margin:g}, alpha {alpha:g}"
            what += f", beta {beta:g}, {trials} trials"
            yield Figure(what, found, f"at most {level:g}", level / 3, level)
            if n_max is not None:
                plain = sprt_characteristics(design, p)
                said = plain.failed if verdict is Verdict.FAIL else plain.passed
                yield Figure(
                    f"the same less what its characteristics say, {what}", found - said, "0", -EPS, EPS
                )


def _kept(judge: Callable[[tuple[bool, ...]], Verdict]) -> Callable[[list[bool]], Verdict]:
    """Return the judge, asked once about each path."""
    judged = cache(judge)
    return lambda path: judged(tuple(path))


def _sprt_verdict(design: SprtDesign, path: tuple[bool, ...]) -> Verdict:
    return sprt_verdict(design, path).verdict


def _kill(sizes: Sequence[int]) -> Iterator[Figure]:
    for n0, (alpha, beta) in product(sizes, LEVELS):
        design = KillDesign(alpha, beta, n_max=30)
        label = f"judge_stopped, n0 = {n0}, n_max 30, p = 0.9, alpha {alpha:g}, beta {beta:g}"
        fail, passing = _kill_chances(n0, design, 0.9)
        yield Figure(f"FAIL if unchanged, {label}", fail, f"at most {alpha:g}", alpha / 3, alpha)
        most = 1.35 * beta
        yield Figure(f"PASS at a drop of 0.2, {label}", passing, f"at most {most:g}", 0.0, most)
    design = KillDesign(0.01, 0.2, n_max=12)
    table = decision_table(2, 20, design)
    judge = _kept(_kill_verdict)
    for verdict, decision in ((Verdict.FAIL, Decision.KILLED), (Verdict.PASS, Decision.SURVIVED)):
        said = float(chance_of(endings(table).get(decision), 0.4).sum())
        found = walked(judge, 0.6, 12)[verdict]
        what = (
            f"{verdict} at 0.6, judge_stopped, 2/20 failed, n_max 12, alpha 0.01, beta 0.2, less the table's"
        )
        yield Figure(what, found - said, "0", -EPS, EPS)


def _kill_verdict(path: tuple[bool, ...]) -> Verdict:
    table = decision_table(2, 20, KillDesign(0.01, 0.2, n_max=12))
    return judge_stopped(table, table.verdict(not passed for passed in path)).verdict


def _kill_chances(n0: int, design: KillDesign, p: float) -> tuple[float, float]:
    """FAIL if nothing changed and PASS if the rate dropped by delta, over all baselines and endings."""
    fail = passing = 0.0
    for f0 in range(n0 + 1):
        weight = float(binom.pmf(f0, n0, 1 - p))
        if weight < 1e-8:
            continue
        table = decision_table(f0, n0, design)
        for decision, ends in endings(table).items():
            stopped = [StoppedTrials(decision, int(n), int(f)) for n, f in zip(ends.n, ends.f, strict=True)]
            verdicts = [judge_stopped(table, one).verdict for one in stopped]
            same, worse = (chance_of(ends, phi)[:, 0] for phi in (1 - p, 1 - p + design.delta))
            fail += weight * float(same[[v is Verdict.FAIL for v in verdicts]].sum())
            passing += weight * float(worse[[v is Verdict.PASS for v in verdicts]].sum())
    return fail, passing
