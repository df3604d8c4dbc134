"""Optimal stopping for the kill rule: the cheapest rule that keeps both error probabilities in their limits.

The price of a kill (and of a survival) is a Lagrange multiplier. For given prices backward induction gives
the best rule, and its value is a line in each price whose slope is that rule's error probability. Finding the
least price that meets a limit is therefore finding the top of a concave, piecewise linear function: every
rule seen so far bounds it from above by a line, the top of the bounds is the next price to try, and the
search ends at the exact kink (here: within 1e-10) after a handful of sweeps, where bisection takes forty.
"""

import math
from typing import NamedTuple

import numpy as np

from agentmut.stats.kill.induction import KILL, SURVIVE, Flags, Rule, Sweep, first_rules
from agentmut.stats.kill.sequences import Sequences

PRECISION = 1e-10
"""Relative half-width within which a price brackets its kink."""
PATIENCE = 8
"""Rounds after which the search leaps ahead. Nearly every table has settled by then."""
MOST_ROUNDS = 1000
SETTLED = 1e-9
"""Both prices have settled when a round moves neither logarithm by more than this."""


class Solution(NamedTuple):
    """The settled rule: its prices, errors and decisions, the flags flat over the states."""

    log_kill: float
    log_survive: float
    rule: Rule
    kill: Flags
    survive: Flags


def solve(chances: Sequences, false_kill: float, missed: float) -> Solution:
    """Alternate the kill price and the survive price until both settle.

    Starts from a survive price that is certainly high enough and comes down: each price rises with the
    other, so the rounds descend to the greatest settled pair, which does not depend on the start.
    """
    sweep = Sweep(chances)
    known = first_rules(chances)
    limits = (false_kill, missed)
    prices, last, start = [0.0, known[-1].cost / missed], 0.0, 0.0
    for rounds in range(MOST_ROUNDS):
        before = list(prices)
        for axis in (KILL, SURVIVE):
            prices[axis] = _least_price(sweep, known, prices, axis, limits[axis])
        if all(
            old > 0 and abs(math.log(new / old)) < SETTLED for old, new in zip(before, prices, strict=True)
        ):
            return _solution(sweep, prices, limits)
        step = math.log(before[SURVIVE] / prices[SURVIVE])
        if step < 0 < start:  # a leap went too far: below the settled pair the price rises again
            prices[SURVIVE], last, start = start, 0.0, 0.0
            continue
        start, leap = prices[SURVIVE], _leap(last, step) if rounds >= PATIENCE else 0.0
        prices[SURVIVE] *= math.exp(-leap)
        last = 0.0 if leap else step  # the step after a leap tells nothing about the next one
    raise ArithmeticError(f"the prices of the kill rule did not settle in {MOST_ROUNDS} rounds")


def _leap(last: float, step: float) -> float:
    """Return most of the remaining way of steps that shrink by a constant factor; 0 if they do not shrink."""
    factor = step / last if last > 0 else 1.0
    return 0.9 * step * factor / (1 - factor) if 0 < factor < 1 else 0.0


def _solution(sweep: Sweep, prices: list[float], limits: tuple[float, float]) -> Solution:
    swept = sweep(np.array([prices, prices]).T)
    rule = swept.rules[0]
    if rule.killed > limits[KILL] or rule.survived > limits[SURVIVE]:
        raise ArithmeticError(f"the settled kill rule errs more than its limits {limits}: {rule}")
    kill, survive = swept.kill[:, 0], swept.survive[:, 0]
    return Solution(math.log(prices[KILL]), math.log(prices[SURVIVE]), rule, kill, survive)


def _least_price(sweep: Sweep, known: list[Rule], prices: list[float], axis: int, limit: float) -> float:
    """Return the least price on `axis` at which the error on that axis is within `limit`, the other price fixed.

    Adds the rules it meets to `known`. The bracket is proved at both ends: a rule never costs more than
    never stopping, so a price of that cost over the limit is high enough. At the low end a price of
    nearly nothing is returned when even that meets the limit.
    """
    other = prices[1 - axis]
    low, high = 1e-8, known[2].cost / limit
    while True:
        top = _top(known, axis, other, limit)
        price = top if low < top < high else math.sqrt(low * high)
        pairs = np.empty((2, 2))
        pairs[axis], pairs[1 - axis] = (price * (1 - PRECISION), price * (1 + PRECISION)), other
        below, above = sweep(pairs).rules
        known += (below, above)
        if above[axis] > limit:
            low = price
        elif below[axis] <= limit and high / low > 1 + 4 * PRECISION:
            high = price
        else:
            return float(pairs[axis, 1])


def _top(known: list[Rule], axis: int, other: float, limit: float) -> float:
    """Return where the lower envelope of the known rules' lines has its maximum.

    By duality it is the lowest crossing of a rising with a falling line.
    """
    lines = np.array(known)
    slope, height = lines[:, axis] - limit, lines[:, 2] + lines[:, 1 - axis] * other
    up = slope > 0
    rise, fall = slope[up][:, None], slope[~up]
    crossing = (rise * height[~up] - fall * height[up][:, None]) / (rise - fall)
    i, j = np.unravel_index(crossing.argmin(), crossing.shape)
    return float((height[~up][j] - height[up][i]) / (rise[i, 0] - fall[j]))
