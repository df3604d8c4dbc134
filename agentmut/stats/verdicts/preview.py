"""Preview the likely verdict and cost of a run before it: exact, at assumed true pass rates."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.verdicts.scenario_verdict import FixedMethod, critical

if TYPE_CHECKING:
    from agentmut.stats.kill.characteristics import TableOf
    from agentmut.stats.kill.rule import KillDesign


class Preview(NamedTuple):
    """Chances of the three verdicts, which sum to 1, and what is spent on average.

    >>> print(Preview(0.91, 0.01, 0.08, 23.4, 2.34, "SPRT"))
    PASS 0.910, FAIL 0.010, INCONCLUSIVE 0.080; 23.4 trials, cost 2.34 (SPRT)
    """

    passed: float
    failed: float
    inconclusive: float
    trials: float
    """Mean number of trials."""
    cost: float | None
    """Mean cost in the unit of the cost per trial; None where that is unknown."""
    method: str

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", cost {self.cost:.4g}"
        chances = f"PASS {self.passed:.3f}, FAIL {self.failed:.3f}, INCONCLUSIVE {self.inconclusive:.3f}"
        return f"{chances}; {self.trials:.1f} trials{cost} ({self.method})"


def preview_fixed(
    rate: float,
    n: int,
    threshold: float,
    alpha: float = 0.05,
    method: FixedMethod = "clopper-pearson",
    cost_per_trial: float | None = None,
    family: int = 1,
) -> Preview:
    """Preview `fixed_verdict` on `n` trials that pass at `rate`, by sums over the binomial.

    As one of `family` scenarios FAIL takes alpha/family (Bonferroni; Holm's correction fails at least as often), PASS
    still alpha. n = 0 is INCONCLUSIVE for certain.

    Raises `ValueError` for a rate outside [0, 1], a negative or infinite cost, and what `fixed_verdict` refuses.
    """
    from scipy.stats import binom

    rate, n = check_rate("rate", rate, closed=True), check_count("n", n)
    level = check_rate("alpha", alpha) / check_count("family", family, 1)
    fail_at = critical(n, threshold, level, method).fail_at
    pass_at = critical(n, threshold, alpha, method).pass_at
    failed, passed = float(binom.cdf(fail_at, n, rate)), float(binom.sf(pass_at - 1, n, rate))
    named = f"{method}, n={n}, threshold {threshold:g}"
    return _preview(passed, failed, float(n), cost_per_trial, named)


def preview_sprt(rate: float, design: SprtDesign, cost_per_trial: float | None = None) -> Preview:
    """Preview the sequential test on trials that pass at `rate`: see `sprt_characteristics`.

    Raises `ValueError` for a rate outside [0, 1] or a negative or infinite cost.
    """
    from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics

    characteristics = sprt_characteristics(design, check_rate("rate", rate, closed=True))
    named = f"SPRT, {design.boundaries} boundaries, threshold {design.threshold:g}"
    return _preview(
        characteristics.passed, characteristics.failed, characteristics.trials, cost_per_trial, named
    )


def preview_regression(
    rate: float,
    drop: float,
    n0: int,
    design: "KillDesign | None" = None,
    cost_per_trial: float | None = None,
    table_of: "TableOf | None" = None,
) -> Preview:
    """Preview the kill rule on trials that pass at max(0, rate - drop), after a baseline of `n0` trials at `rate`.

    FAIL is KILLED, PASS is SURVIVED; UNDECIDED and UNTESTABLE are INCONCLUSIVE. Averages over the draw of the
    baseline, whose own trials are not counted. A second or so at n0 = 100: pass a caching `table_of` to share
    the decision tables. No `design`: the default one.

    Raises `ValueError` for rate or drop outside [0, 1], n0 < 1, a design out of range, a negative or infinite
    cost.
    """
    from agentmut.stats.kill.characteristics import operating_characteristics
    from agentmut.stats.kill.rule import DEFAULT_DESIGN, decision_table

    rate, used = check_rate("rate", rate, closed=True), DEFAULT_DESIGN if design is None else design
    characteristics = operating_characteristics(n0, used, rate, drop, table_of or decision_table)
    return _preview(
        characteristics.survived,
        characteristics.killed,
        characteristics.trials,
        cost_per_trial,
        f"kill rule, n0={n0}",
    )


def preview_suite(scenarios: Mapping[str, Preview]) -> Preview:
    """Preview the suite verdict (AgentAssay, Eq. 12) over independent scenarios, each at its own level.

    PASS if all pass: the product of their chances. FAIL if any fails: 1 - product of (1 - failed). Trials and
    costs add up; the cost is None if one is. For a suite at level alpha give m scenarios alpha/m each
    (Bonferroni); Holm's adjustment fails at least as often. Scenarios that tend to fail together fail a suite
    less often than this says, and pass it more often.

    Raises `ValueError` for an empty suite.
    """
    if not scenarios:
        raise ValueError("scenarios must name at least one scenario, got none")
    previews = list(scenarios.values())
    passed, failed = math.prod(p.passed for p in previews), 1 - math.prod(1 - p.failed for p in previews)
    costs = [p.cost for p in previews if p.cost is not None]
    cost = sum(costs) if len(costs) == len(previews) else None
    trials, named = sum(p.trials for p in previews), f"suite of {len(previews)}"
    return Preview(passed, failed, max(0.0, 1 - passed - failed), trials, cost, named)


def _preview(passed: float, failed: float, trials: float, per_trial: float | None, method: str) -> Preview:
    if per_trial is not None and not 0 <= float(per_trial) < math.inf:
        raise ValueError(f"cost_per_trial must be at least 0 and finite, got {per_trial!r}")
    cost = None if per_trial is None else per_trial * trials
    return Preview(passed, failed, max(0.0, 1 - passed - failed), trials, cost, method)
