"""Optimal stopping for the kill rule: the cheapest rule whose two error probabilities stay below their limits.

The price of a kill (and of a survival) is a Lagrange multiplier. For given prices backward induction gives
the best rule, and its value is a line in each price whose slope is that rule's error probability. Finding the
least price that meets a limit is therefore finding the top of a concave, piecewise linear function: every
rule seen so far bounds it from above by a line, the top of the bounds is the next price to try, and the
search ends at the exact kink (here: within 1e-10) after a handful of sweeps, where bisection takes forty.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.sequences import Array, Sequences

Flags = NDArray[np.bool_]

KILL, SURVIVE = 0, 1
PRECISION = 1e-10
"""Relative half-width within which a price brackets its kink."""
SETTLED = 1e-9
"""Both prices have settled when a round moves neither logarithm by more than this."""


class Rule(NamedTuple):
    """A stopping rule's errors and cost: at prices (k, s) it is worth killed * k + survived * s + cost."""

    killed: float
    """Predictive chance of a kill although nothing changed."""
    survived: float
    """Predictive chance of a survival although the rate dropped by delta."""
    cost: float


class Solution(NamedTuple):
    """The settled rule: its prices, errors and decisions, the flags indexed [n, f]."""

    log_kill: float
    log_survive: float
    rule: Rule
    kill: Flags
    survive: Flags


class Swept(NamedTuple):
    """Backward induction at two neighbouring price pairs; flags are indexed [n, pair, f]."""

    rules: tuple[Rule, Rule]
    kill: Flags
    survive: Flags


Sweep = Callable[[Array], Swept]


def solve(chances: Sequences, false_kill: float, missed: float) -> Solution:
    """Alternate the kill price and the survive price until both settle.

    Starts from a survive price that is certainly high enough and comes down: each price rises with the
    other, so the rounds descend to the greatest settled pair, which does not depend on the start.
    """
    sweep = sweeper(chances)
    known = _first_rules(chances)
    limits = (false_kill, missed)
    prices = [0.0, known[-1].cost / missed]
    for _ in range(100):
        before = list(prices)
        for axis in (KILL, SURVIVE):
            prices[axis] = _least_price(sweep, known, prices, axis, limits[axis])
        if all(old > 0 and abs(math.log(new / old)) < SETTLED for old, new in zip(before, prices, strict=True)):
            return _solution(sweep, prices, limits)
    raise ArithmeticError("the prices of the kill rule did not settle in 100 rounds")


def _solution(sweep: Sweep, prices: list[float], limits: tuple[float, float]) -> Solution:
    swept = sweep(np.array([prices, prices]).T)
    rule = swept.rules[0]
    if rule.killed > limits[KILL] or rule.survived > limits[SURVIVE]:
        raise ArithmeticError(f"the settled kill rule errs more than its limits {limits}: {rule}")
    kill, survive = swept.kill[:, 0], swept.survive[:, 0]
    return Solution(math.log(prices[KILL]), math.log(prices[SURVIVE]), rule, kill, survive)


def _first_rules(chances: Sequences) -> list[Rule]:
    """Two rules that stop after one trial, and one that never stops: they bound both prices."""
    n_max = len(chances.cost) - 1
    paths, total = np.ones(1), float(chances.cost[0, 0])
    for n in range(1, n_max + 1):
        paths = np.append(paths, 0.0) + np.append(0.0, paths)
        total += float(paths @ chances.cost[n, : n + 1]) * (1 if n < n_max else n_max / 2)
    first = float(chances.cost[0, 0])
    return [Rule(1.0, 0.0, first), Rule(0.0, 1.0, first), Rule(0.0, 0.0, total)]


def _least_price(sweep: Sweep, known: list[Rule], prices: list[float], axis: int, limit: float) -> float:
    """The least price on `axis` at which the error on that axis is within `limit`, the other price fixed.

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
    """Where the lower envelope of the known rules' lines has its maximum.

    By duality it is the lowest crossing of a rising with a falling line.
    """
    lines = np.array(known)
    slope, height = lines[:, axis] - limit, lines[:, 2] + lines[:, 1 - axis] * other
    up = slope > 0
    rise, fall = slope[up][:, None], slope[~up]
    crossing = (rise * height[~up] - fall * height[up][:, None]) / (rise - fall)
    i, j = np.unravel_index(crossing.argmin(), crossing.shape)
    return float((height[~up][j] - height[up][i]) / (rise[i, 0] - fall[j]))


def sweeper(chances: Sequences) -> Sweep:
    """A function from two price pairs (array [axis, pair]) to the best rules at them.

    Its working arrays are laid out [n, pair, f] and are reused by each call; the results are copies.
    Ties: continuing beats killing, killing beats surviving; at the last trial killing beats leaving it
    undecided, which beats surviving. Leaving it undecided costs n_max/2 further trials.
    """
    size = len(chances.cost)
    last = size - 1
    unchanged, dropped, cost = (np.repeat(a[:, None, :], 2, axis=1) for a in chances)
    cost[last] *= last / 2
    survivable = np.where(dropped <= unchanged, dropped, np.inf)
    value, stay = np.zeros((size, 2, size + 1)), cost.copy()
    stop = np.full((size, 2, size), np.inf)
    totals, added, keep = np.zeros((size, 3, 2, size + 1)), np.empty((size, 3, 2, size)), np.empty((size, 1, 2, size))
    back = range(last - 1, -1, -1)
    steps = [(value[n + 1, :, :-1], value[n + 1, :, 1:], cost[n], stop[n], stay[n], value[n, :, :-1]) for n in back]
    sums = [(totals[n + 1, ..., :-1], totals[n + 1, ..., 1:], keep[n], added[n], totals[n, ..., :-1]) for n in back]

    def sweep(prices: Array) -> Swept:
        kills, survives = unchanged * prices[KILL][:, None], survivable * prices[SURVIVE][:, None]
        np.minimum(kills[1:], survives[1:], out=stop[1:])
        np.minimum(stop[last], cost[last], out=value[last, :, :-1])
        for left, right, toll, end, on, best in steps:
            np.add(left, right, out=on)
            np.add(on, toll, out=on)
            np.minimum(on, end, out=best)
        go = stay <= stop
        go[last] &= kills[last] > np.minimum(cost[last], survives[last])
        kill = (kills <= survives) & ~go
        survive = ~(go | kill)
        for row, part, where in ((0, unchanged, kill), (1, dropped, survive), (2, cost, go)):
            np.multiply(part, where, out=added[:, row])
        keep[:, 0] = go
        totals[last, ..., :-1] = added[last]
        for left, right, on, own, total in sums:
            np.add(left, right, out=total)
            np.multiply(total, on, out=total)
            np.add(total, own, out=total)
        first = totals[0, :, :, 0].T.tolist()
        return Swept((Rule(*first[0]), Rule(*first[1])), kill, survive)

    return sweep
