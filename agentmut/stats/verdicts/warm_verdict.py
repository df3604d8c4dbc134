"""PASS, FAIL or INCONCLUSIVE for one scenario against a threshold, sequentially and with the help of earlier trials."""

import math
from collections.abc import Sequence

from agentmut.stats.intervals.proportion import descriptive, wilson
from agentmut.stats.sequential.sprt import SprtState
from agentmut.stats.sequential.warm_start import WarmSprt
from agentmut.stats.three_valued import Judgement, Verdict
from agentmut.stats.verdicts.scenario_verdict import further_sprt

METHOD = "SPRT, strict boundaries, warm start"


def warm_verdict(test: WarmSprt, trials: Sequence[bool]) -> Judgement:
    """Return the verdict of outcomes in launch order (true: it passed); those behind the verdict are not read.

    `p_fail` is exp(-largest evidence of FAIL so far), valid at any time. The interval is Wilson's: descriptive.
    `needed` is that of the same test without earlier trials. Raises `ValueError` for more trials than the test
    has, and for outcomes that are neither true nor false.
    """
    verdict, n, failures = None, 0, 0
    path = [0]
    for passed in trials:
        if passed not in (True, False):
            raise ValueError(f"passed must be true or false, got {passed!r}")
        n, failures = n + 1, failures + (not passed)
        path.append(failures)
        verdict = test.crossed(n, failures)
        if verdict is not None:
            break
    peak = max(0.0, float(test.evidence_of_fail(range(n + 1), path).max()))
    p_fail = min(math.exp(-peak), test.design.alpha if verdict is Verdict.FAIL else 1.0)
    open_ = verdict is None and n > 0
    needed = further_sprt(test.design, SprtState(n, failures, peak)) if open_ else None
    reason = _reason(test, n, failures, verdict)
    interval = descriptive(wilson(n - failures, n, 1 - test.design.alpha))
    return Judgement(verdict or Verdict.INCONCLUSIVE, reason, p_fail, interval, n, needed, METHOD)


def _reason(test: WarmSprt, n: int, failures: int, verdict: Verdict | None) -> str:
    design = test.design
    if n == 0:
        return f"no trials, so nothing is known about {design.threshold:g}"
    against, for_ = float(test.evidence_of_fail(n, failures)), float(test.evidence_of_pass(n, failures))
    seen = f"{n - failures} of {n} passed ({1 - failures / n:.2f})"
    below = f"{against:.2f} for a pass rate below {design.threshold:g} (FAIL at {design.upper:.2f})"
    above = f"{for_:.2f} for a pass rate above {design.alternative:g} (PASS at {-design.lower:.2f})"
    phrases = {Verdict.FAIL: below, Verdict.PASS: above, None: f"{above}, {below}"}
    return f"{seen}; log evidence {phrases[verdict]}"
