"""PASS, FAIL or INCONCLUSIVE for one scenario against a threshold: with a fixed number of trials, or sequential.

AgentAssay (arXiv 2603.02601), Eq. 4, compares a two-sided 1 - alpha interval with the threshold: FAIL if its upper
end is below, PASS if its lower end is not. With Wilson's interval, as printed there, FAIL at alpha = 0.05 errs in up
to 16 % of the cases at a threshold of 0.99 (17 trials), and in 20 % at 0.80 after one trial; with Clopper and
Pearson's each side errs in at most alpha/2, at every n.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from agentmut.stats.checks import check_count, check_name, check_rate, is_number
from agentmut.stats.intervals.proportion import Interval, descriptive, proportion_interval, wilson
from agentmut.stats.sequential.further_trials import LIKELY, MOST
from agentmut.stats.sequential.sprt import TIE, SprtDesign, SprtState, check_threshold
from agentmut.stats.tests.multiplicity import ROUNDING
from agentmut.stats.three_valued import Judgement, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

FixedMethod = Literal["clopper-pearson", "wilson"]


class PValues(NamedTuple):
    """Doubled one-sided p-values against the threshold, each in [0, 1]."""

    fail: "NDArray[np.float64]"
    """The p-value of a rate of at least the threshold: FAIL if at most alpha."""
    passing: "NDArray[np.float64]"
    """The p-value of a rate below the threshold: PASS if at most alpha."""


class Critical(NamedTuple):
    """The numbers of passes that decide, for each number of trials."""

    fail_at: "NDArray[np.int64]"
    """Greatest number of passes that is FAIL; -1 where none is."""
    pass_at: "NDArray[np.int64]"
    """Least number of passes that is PASS; n + 1 where none is."""


def fixed_verdict(
    k: int, n: int, threshold: float, alpha: float = 0.05, method: FixedMethod = "clopper-pearson"
) -> Judgement:
    """Return the verdict on `k` passes in `n` trials, n being fixed beforehand (Eq. 4).

    `p_fail` = 2 P(X <= k | threshold), at most 1: FAIL exactly if it is at most alpha, which is the same as an
    upper end below the threshold. PASS likewise, by the other tail. With `wilson` both are those of the score
    test, whose inversion Wilson's interval is.

    `needed` are the further trials after which the verdict on all trials is reached with a chance of 80 % if the
    rate is k/n; None beyond 10,000, as for k/n close to the threshold. They are for orientation, and for the size
    of a new test: the level holds for one look, at an n fixed beforehand. Adding trials after looking and judging
    all of them again may exceed it, as `needed` depends on the outcome. To go on looking, use `sprt_verdict`.

    No trials: INCONCLUSIVE with p_fail 1. A threshold of 1 can fail but never pass.

    Raises `ValueError` for counts that are no counts, k > n, a threshold outside (0, 1], alpha outside (0, 1) or
    an unknown method.
    """
    k = check_count("k", k, 0, check_count("n", n))
    _check_rule(threshold, alpha, method)
    p_fail, p_pass = (float(p) for p in p_values(k, n, threshold, method))
    interval = proportion_interval(k, n, 1 - alpha, method)
    verdict = Verdict.FAIL if p_fail <= alpha else Verdict.PASS if p_pass <= alpha else Verdict.INCONCLUSIVE
    open_ = verdict is Verdict.INCONCLUSIVE and n > 0
    needed = _further_fixed(k, n, threshold, alpha, method) if open_ else None
    return Judgement(
        verdict, _fixed_reason(verdict, k, threshold, interval), p_fail, interval, n, needed, method
    )


def sprt_verdict(design: SprtDesign, trials: SprtState | Iterable[bool]) -> Judgement:
    """Return the verdict of a sequential test on its state, or on outcomes (true: it passed) in launch order.

    FAIL says that the rate is below the threshold, PASS that it is above threshold - margin. Before the last
    trial an open test is INCONCLUSIVE. Outcomes behind the verdict are not read and not counted.

    `p_fail` is exp(-peak), valid at any time, with `strict` boundaries. With `wald` ones it is
    (1 - beta) exp(-peak) once the ratio has risen above 0: that is what those boundaries compare with alpha, and
    as approximate as they are. The trials stop as soon as it falls to alpha: a suite that adjusts for m
    scenarios needs designs at alpha/m.

    The interval is Wilson's at level 1 - alpha: descriptive, since stopping early changes its coverage. `needed`
    are the further trials by which the test ends with a chance of 80 % if the rate is the observed one, n_max
    aside (None: more than 10,000, or no trials yet). Going on past n_max is safe with `strict` boundaries.

    Raises `ValueError` for outcomes that are neither true nor false, and for a state that no trials lead to: impossible
    counts, a peak that is NaN, negative or below the present log-ratio.
    """
    state = _checked_state(design, trials) if isinstance(trials, SprtState) else design.run(trials)
    n, k = state.n, state.n - state.failures
    verdict = state.verdict or Verdict.INCONCLUSIVE
    interval = descriptive(wilson(k, n, 1 - design.alpha))
    needed = further_sprt(design, state) if verdict is Verdict.INCONCLUSIVE and n else None
    method = f"SPRT, {design.boundaries} boundaries"
    return Judgement(
        verdict, _sprt_reason(design, state), _sprt_p_fail(design, state), interval, n, needed, method
    )


def p_values(k: "ArrayLike", n: "ArrayLike", threshold: float, method: FixedMethod) -> PValues:
    """Return the two p-values of `k` passes in `n` trials; arrays are broadcast.

    Monotone in k. For ranges of counts that are known to be right: nothing is checked here.
    """
    return PValues(_p_fail(k, n, threshold, method), _p_passing(k, n, threshold, method))


def _p_fail(k: "ArrayLike", n: "ArrayLike", threshold: float, method: FixedMethod) -> "Floats":
    import numpy as np
    from scipy.special import bdtr, ndtr

    k, n = np.asarray(k), np.asarray(n)
    below = ndtr(_z(k, n, threshold)) if method == "wilson" else bdtr(k, n, threshold)
    # Eq. 4 is strict for FAIL: an interval that ends on the threshold is inconclusive, so alpha is just missed, by
    # more than the slack that a suite allows for rounding.
    found: Floats = np.minimum(1.0, 2 * below * (1 + 4 * ROUNDING))
    return found


def _p_passing(k: "ArrayLike", n: "ArrayLike", threshold: float, method: FixedMethod) -> "Floats":
    import numpy as np
    from scipy.special import bdtrc, ndtr

    k, n = np.asarray(k), np.asarray(n)
    if method == "wilson":
        above = ndtr(-_z(k, n, threshold))
    else:
        above = np.where(k == 0, 1.0, bdtrc(np.maximum(k - 1, 0), n, threshold))
    found: Floats = np.minimum(1.0, 2 * above)
    return found


def _z(k: "NDArray[Any]", n: "NDArray[Any]", threshold: float) -> "Floats":
    import numpy as np

    spread = np.sqrt(n * threshold * (1 - threshold))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(k == n * threshold, 0.0, (k - n * threshold) / spread)


def critical(n: "ArrayLike", threshold: float, alpha: float, method: FixedMethod) -> Critical:
    """Return what `fixed_verdict` needs to decide at each `n`, by bisection on its p-values.

    Raises `ValueError` for a threshold outside (0, 1], alpha outside (0, 1) or an unknown method.
    """
    import numpy as np

    _check_rule(threshold, alpha, method)
    trials = np.asarray(n, dtype=np.int64)
    fail, undecided = np.full_like(trials, -1), trials.copy()
    open_, passing = np.zeros_like(trials), trials + 1
    while np.any(undecided - fail > 1) or np.any(passing - open_ > 1):
        left, right = (fail + undecided) // 2, (open_ + passing) // 2
        fails = (left < 0) | (_p_fail(np.maximum(left, 0), trials, threshold, method) <= alpha)
        passes = _p_passing(right, trials, threshold, method) <= alpha
        fail, undecided = np.where(fails, left, fail), np.where(fails, undecided, left)
        open_, passing = np.where(passes, open_, right), np.where(passes, right, passing)
    return Critical(fail, passing)


def _check_rule(threshold: float, alpha: float, method: str) -> None:
    check_threshold(threshold)
    check_rate("alpha", alpha)
    check_name("method", method, get_args(FixedMethod))


def _checked_state(design: SprtDesign, state: SprtState) -> SprtState:
    n = check_count("n", state.n, 0, design.n_max)
    least = max(0.0, design.log_ratio(n, check_count("failures", state.failures, 0, n)))
    if not (is_number(state.peak) and state.peak >= least - TIE):
        raise ValueError(
            f"peak must be at least {least:g}, the log-ratio of the state or 0, got {state.peak!r}"
        )
    return state


def _further_fixed(k: int, n: int, threshold: float, alpha: float, method: FixedMethod) -> int | None:
    """Return the least m at which k + Binomial(m, k/n) passes in n + m trials decide with a chance of `LIKELY`."""
    import numpy as np
    from scipy.stats import binom

    first, size = 1, 64
    while first <= MOST:
        more = np.arange(first, min(first + size, MOST + 1))
        bound = critical(n + more, threshold, alpha, method)
        chance = binom.cdf(bound.fail_at - k, more, k / n) + binom.sf(bound.pass_at - k - 1, more, k / n)
        if np.any(chance >= LIKELY):
            return int(more[np.argmax(chance >= LIKELY)])
        first, size = first + size, 2 * size
    return None


def _sprt_p_fail(design: SprtDesign, state: SprtState) -> float:
    wald = design.boundaries == "wald" and state.peak > 0
    p = state.p_value * (1 - design.beta if wald else 1.0)
    # A log-ratio that ties with the boundary fails, although its p-value may exceed alpha by a last digit.
    return min(p, design.alpha) if state.verdict is Verdict.FAIL else p


def further_sprt(design: SprtDesign, state: SprtState) -> int | None:
    """Return the least m by which the test, going on from `state`, has ended with a chance of `LIKELY`."""
    from agentmut.stats.sequential.sprt_characteristics import stops

    for stop in stops(design, 1 - state.failures / state.n, state.n, state.failures):
        if stop.alive <= 1 - LIKELY:
            return stop.n - state.n
        if stop.n - state.n == MOST:
            break
    return None


def _fixed_reason(verdict: Verdict, k: int, threshold: float, interval: Interval) -> str:
    if interval.estimate is None:
        return f"no trials, so nothing is known about {threshold:g}"
    where = {Verdict.PASS: "not above", Verdict.FAIL: "above", Verdict.INCONCLUSIVE: "inside"}[verdict]
    low, high = _apart(threshold, interval.low, interval.high)
    return f"{k} of {interval.n} passed ({interval.estimate:.2f}); {threshold:g} is {where} [{low}, {high}]"


def _apart(threshold: float, *bounds: float) -> tuple[str, ...]:
    """Return the bounds with two digits, or as many as tell them from the threshold; at most six."""
    for digits in range(2, 7):
        shown = tuple(f"{bound:.{digits}f}" for bound in bounds)
        is_apart = (float(text) != threshold for text in shown)
        if all(apart or abs(b - threshold) < 1e-9 for apart, b in zip(is_apart, bounds, strict=True)):
            break
    return shown


def _sprt_reason(design: SprtDesign, state: SprtState) -> str:
    if state.n == 0:
        return f"no trials, so nothing is known about {design.threshold:g}"
    k, ratio = state.n - state.failures, design.log_ratio(state.n, state.failures)
    seen = f"{k} of {state.n} passed ({k / state.n:.2f}); log-ratio {ratio:.2f} is"
    if state.verdict is Verdict.FAIL:
        return f"{seen} not below {design.upper:.2f}: evidence of a pass rate below {design.threshold:g}"
    if state.verdict is Verdict.PASS:
        return f"{seen} not above {design.lower:.2f}: evidence of a pass rate above {design.alternative:g}"
    end = "" if state.verdict is None else ", and no trial is left"
    return f"{seen} between {design.lower:.2f} and {design.upper:.2f}{end}"
