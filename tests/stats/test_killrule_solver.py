"""The kill rule written down plainly, for comparison: dictionaries, recursion backwards, bisection.

It shares no function with the code under test but the safety factor.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution

from agentmut.stats.kill.rule import KillDesign, decision_table
from agentmut.stats.kill.safety import safety_factor


class Chances(NamedTuple):
    unchanged: dict[tuple[int, int], float]
    dropped: dict[tuple[int, int], float]
    cost: dict[tuple[int, int], float]


class SlowTable(NamedTuple):
    decisions: dict[tuple[int, int], str]
    false_kill: float
    missed: float


def divergence(a: float, b: float) -> float:
    return a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))


@cache
def chances(f0: int, n0: int, delta: float, n_max: int) -> Chances:
    a, b = f0 + 0.5, n0 - f0 + 0.5
    i = np.arange(160)
    posterior = beta_distribution(a, b)
    weights = np.diff(posterior.cdf(np.sin(np.pi / 2 * np.arange(161) / 160) ** 2))
    rates = np.sin(np.pi / 2 * (i + 0.5) / 160) ** 2
    phi = (f0 + 0.5) / (n0 + 1)
    drops = [d for d in (delta, 1.5 * delta, 2 * delta, 3 * delta) if d < 0.95]
    shares = np.array([delta / d for d in drops])
    shares /= shares.sum()

    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    def m(n: int, f: int, d: float) -> float:
        psi = np.clip(np.minimum(rates + d, 1 - 0.02 * (1 - rates)), 1e-4, 1 - 1e-4)
        return float(np.sum(weights * psi**f * (1 - psi) ** (n - f)))

    unchanged, dropped, cost = {}, {}, {}
    for n in range(n_max + 1):
        for f in range(n + 1):
            m0 = math.exp(log_beta(a + f, b + n - f) - log_beta(a, b))
            c0 = max(2, 2 / divergence(min(phi, 0.999), min(phi + delta, 0.999))) ** -0.5
            price = c0 * m0 / 2
            for d, v in zip(drops, shares, strict=True):
                if phi + d < 0.995:
                    price += v * max(2, 2.4 / divergence(min(phi + d, 0.999), phi)) ** -0.5 * m(n, f, d) / 2
            unchanged[n, f], dropped[n, f], cost[n, f] = m0, m(n, f, delta), price
    return Chances(unchanged, dropped, cost)


def best_rule(c: Chances, n_max: int, kill_price: float, survive_price: float) -> SlowTable:
    decisions: dict[tuple[int, int], str] = {}
    value: dict[tuple[int, int], float] = {}
    false_kill: dict[tuple[int, int], float] = {}
    missed: dict[tuple[int, int], float] = {}
    for n in range(n_max, -1, -1):
        for f in range(n + 1):
            state, after = (n, f), ((n + 1, f), (n + 1, f + 1))
            kill, survive = kill_price * c.unchanged[state], survive_price * c.dropped[state]
            if n == n_max:
                options = [(kill, "killed"), (n_max / 2 * c.cost[state], "undecided"), (survive, "survived")]
            else:
                go = c.cost[state] + value[after[0]] + value[after[1]]
                options = [(go, "continue"), (kill, "killed"), (survive, "survived")]
            if n == 0:
                options = options[:1]
            value[state], decision = min(options, key=lambda option: option[0])
            decisions[state] = decision
            go_on = decision == "continue"
            false_kill[state] = sum(false_kill[s] for s in after) if go_on else 0.0
            missed[state] = sum(missed[s] for s in after) if go_on else 0.0
            if decision == "killed":
                false_kill[state] = c.unchanged[state]
            if decision == "survived":
                missed[state] = c.dropped[state]
    return SlowTable(decisions, false_kill[0, 0], missed[0, 0])


def slow_table(
    f0: int, n0: int, alpha: float, beta: float, delta: float, n_max: int, factor: float = 0.95
) -> SlowTable:
    c = chances(f0, n0, delta, n_max)
    log_kill, log_survive = math.inf, math.log(1000.0)

    def kill_error(price: float) -> float:
        return best_rule(c, n_max, math.exp(price), math.exp(log_survive)).false_kill

    def miss_error(price: float) -> float:
        return best_rule(c, n_max, math.exp(log_kill), math.exp(price)).missed

    for _ in range(30):
        before = (log_kill, log_survive)
        log_kill = bisect(kill_error, factor * alpha)
        log_survive = bisect(miss_error, 0.95 * beta)
        if max(abs(log_kill - before[0]), abs(log_survive - before[1])) < 1e-9:
            return best_rule(c, n_max, math.exp(log_kill), math.exp(log_survive))
    raise AssertionError("did not settle")


def bisect(error: Callable[[float], float], limit: float) -> float:
    low, high = -10.0, 20.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (low, middle) if error(middle) <= limit else (middle, high)
    return high


@pytest.mark.parametrize(
    ("f0", "n0", "alpha", "beta", "delta"),
    [
        (3, 40, 0.05, 0.10, 0.20),
        (20, 50, 0.01, 0.10, 0.20),
        (0, 100, 0.05, 0.10, 0.20),
        (5, 60, 0.20, 0.02, 0.25),  # asymmetric both ways: a swap of alpha and beta,
        (5, 60, 0.02, 0.20, 0.25),  # or of the two prices, changes these
        (45, 60, 0.05, 0.10, 0.15),  # phi + 2 delta beyond .995: two drops add nothing
        (10, 40, 0.05, 0.10, 0.40),  # 3 delta beyond .95: left out
    ],
)
def test_the_fast_solver_agrees_with_plain_bisection(
    f0: int, n0: int, alpha: float, beta: float, delta: float
) -> None:
    fast = decision_table(f0, n0, KillDesign(alpha, beta, delta, n_max=14))
    slow = slow_table(f0, n0, alpha, beta, delta, n_max=14, factor=safety_factor(n0, alpha, usual=False))
    assert slow.false_kill <= 0.95 * alpha
    assert slow.missed <= 0.95 * beta
    alive = {(0, 0)}
    while alive:
        for state in alive:
            assert fast.decide(*state) == slow.decisions[state], state
        going = [s for s in alive if slow.decisions[s] == "continue"]
        alive = {(n + 1, f + failed) for n, f in going for failed in (0, 1)}


def test_a_table_whose_prices_settle_slowly_is_found_too() -> None:
    # plain rounds need about 150 here: each goes a seventh of the remaining way
    table = decision_table(26, 107)
    neighbours = decision_table(25, 107), decision_table(27, 107)
    assert neighbours[0].log_kill > 0
    for n in (20, 50, 100):
        low, high = sorted(t.kill_at[n] for t in neighbours)
        assert low <= table.kill_at[n] <= high
