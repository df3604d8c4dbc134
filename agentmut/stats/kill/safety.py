"""How far below alpha the kill rule aims, so that its false-kill rate stays below alpha at every true rate.

The rule's error is limited on average over what the baseline leaves uncertain. At the least favourable true
rate it is larger, the more so the smaller the baseline and the smaller alpha. The factors were found by exact
dynamic programming for delta 0.2, beta 0.1 and n_max 100: the largest hundredth, at most 0.95, at which the
supremum over all true rates is within alpha, lowered a little where the supremum jumps between neighbouring
baseline sizes (it does, the counts being whole numbers).
"""

from bisect import bisect_right

ALPHAS = (0.0, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.05 / 12, 0.005, 0.05 / 8, 0.01, 0.05 / 3, 0.025, 0.05)
FACTORS = {
    1: (0.10, 0.18, 0.18, 0.18, 0.18, 0.18, 0.18, 0.18, 0.18, 0.18, 0.18, 0.18, 0.18),
    5: (0.30, 0.43, 0.47, 0.49, 0.49, 0.49, 0.50, 0.50, 0.52, 0.56, 0.57, 0.57, 0.64),
    10: (0.40, 0.53, 0.58, 0.63, 0.63, 0.63, 0.63, 0.63, 0.64, 0.65, 0.69, 0.70, 0.73),
    15: (0.45, 0.61, 0.62, 0.63, 0.65, 0.68, 0.71, 0.71, 0.72, 0.73, 0.75, 0.77, 0.83),
    20: (0.50, 0.64, 0.67, 0.69, 0.71, 0.73, 0.75, 0.75, 0.76, 0.78, 0.81, 0.87, 0.93),
    25: (0.50, 0.69, 0.71, 0.73, 0.75, 0.76, 0.78, 0.78, 0.79, 0.82, 0.89, 0.93, 0.95),
    30: (0.50, 0.71, 0.74, 0.75, 0.76, 0.79, 0.81, 0.81, 0.83, 0.89, 0.93, 0.95, 0.95),
    35: (0.50, 0.72, 0.74, 0.75, 0.77, 0.83, 0.86, 0.86, 0.90, 0.93, 0.95, 0.95, 0.95),
    40: (0.50, 0.74, 0.75, 0.78, 0.80, 0.85, 0.90, 0.90, 0.93, 0.95, 0.95, 0.95, 0.95),
    50: (0.50, 0.76, 0.78, 0.82, 0.86, 0.92, 0.93, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95),
    70: (0.50, 0.82, 0.87, 0.90, 0.92, 0.92, 0.93, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95),
    100: (0.50, 0.89, 0.89, 0.89, 0.89, 0.89, 0.89, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95),
    101: (0.50, 0.87, 0.87, 0.87, 0.87, 0.87, 0.87, 0.92, 0.92, 0.92, 0.92, 0.92, 0.92),
}
"""Baseline size -> factor by alpha. Both are rounded down to an entry, which errs on the safe side."""


OTHER_DESIGNS = 0.85
"""Further factor for any other beta, delta or n_max: from delta = 0.05 on the largest excess was 1.16."""


def safety_factor(n0: int, alpha: float, *, usual: bool = True) -> float:
    """Return the share of alpha that the rule may use at a baseline of `n0` trials; from 0.08 to 0.95.

    0.95 from n0 = 40 to 100 for alpha of 0.01 and more, 0.92 beyond: there 0.95 let the supremum exceed alpha by up
    to 1.3 % at six sizes. `usual` says that beta, delta and n_max are those that the factors were found for;
    otherwise the rule keeps a wider distance. Below n0 = 20 and below alpha = 1e-4 the factors are deliberately
    coarse and low: campaigns use no such baselines and levels.
    """
    size = max(n for n in FACTORS if n <= n0)
    column = bisect_right(ALPHAS, alpha * (1 + 1e-9)) - 1
    return FACTORS[size][column] * (1.0 if usual else OTHER_DESIGNS)
