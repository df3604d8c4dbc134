"""Coverage formulas of the AgentAssay paper, section 4: how much of an agent's behaviour a suite has seen."""

import math
from collections.abc import Sequence

from agentmut.stats.checks import check_count, check_rate


def state_coverage(states: int, scale: float) -> float:
    """Return 1 - exp(-states/scale), in [0, 1]: the state coverage of Eq. 17. It rounds to 1 from 37 scales on.

    `states` is the number of distinct abstract states seen; `scale` (lambda) the number expected for such
    agents: seeing as many gives 0.632. No states: 0. Says how many states were seen, not how many there are.

    Raises `ValueError` for a negative or fractional count, or a scale that is not positive and finite.
    """
    states = check_count("states", states)
    return -math.expm1(-states / check_rate("scale", scale, 0.0, math.inf))


def overall_coverage(dimensions: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return the weighted geometric mean of coverages in [0, 1]: Eq. 20, with the weights of Remark 4.2.

    Weights are divided by their sum; without them all count alike. A dimension of 0 makes the whole 0,
    unless its weight is 0: then it does not count.

    Raises `ValueError` for no dimension, a coverage outside [0, 1], more or fewer weights than dimensions,
    a negative weight, or weights that are all 0.
    """
    if not len(dimensions):
        raise ValueError(f"dimensions must not be empty, got {dimensions!r}")
    weights = [1.0] * len(dimensions) if weights is None else weights
    if len(weights) != len(dimensions):
        raise ValueError(f"weights must be {len(dimensions)}, one a dimension, got {len(weights)}")
    shares = [check_rate("weights", w, 0.0, 1e100, closed=True) for w in weights]
    if not any(shares):
        raise ValueError(f"weights must not all be 0, got {weights!r}")
    covered = [check_rate("dimensions", c, closed=True) for c in dimensions]
    counted = [(c, w / max(shares)) for c, w in zip(covered, shares, strict=True) if w > 0]
    if any(c == 0 for c, _ in counted):
        return 0.0
    return math.exp(sum(w * math.log(c) for c, w in counted) / sum(w for _, w in counted))


def chao1(observed: int, once: int, twice: int) -> float:
    """Return Chao's estimate of how many kinds exist, from the observed kinds: Eq. 16. At least `observed`.

    observed + f1^2/(2 f2), where `once` (f1) kinds were seen exactly once and `twice` (f2) exactly twice. With
    f2 = 0 that is no number, and observed + f1 (f1 - 1)/2 is used: the bias-corrected form
    f1 (f1 - 1)/(2 (f2 + 1)) at f2 = 0. A lower bound in expectation, and 0 for nothing observed. Source: A. Chao,
    Scandinavian J. Statistics 11 (1984) 265-270.

    Raises `ValueError` for negative or fractional counts, or once + twice > observed.
    """
    observed = check_count("observed", observed)
    once = check_count("once", once, 0, observed)
    twice = check_count("twice", twice, 0, observed - once)
    return observed + (once**2 / (2 * twice) if twice else once * (once - 1) / 2)
