"""Backward induction: the cheapest stopping rule at given prices of a kill and of a survival."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.kill.sequences import Array, Sequences, row

Flags = NDArray[np.bool_]

KILL, SURVIVE = 0, 1


class Rule(NamedTuple):
    """A stopping rule's errors and cost: at prices (k, s) it is worth killed * k + survived * s + cost."""

    killed: float
    """Predictive chance of a kill although nothing changed."""
    survived: float
    """Predictive chance of a survival although the rate dropped by delta."""
    cost: float


class Swept(NamedTuple):
    """The best rules at two price pairs; flags are indexed [state, pair]."""

    rules: tuple[Rule, Rule]
    kill: Flags
    survive: Flags


def first_rules(chances: Sequences) -> list[Rule]:
    """Return two rules that stop after one trial, and one that never stops: they bound both prices."""
    n_max = last_trial(chances)
    paths, first = np.ones(1), float(chances.cost[0])
    total = first
    for n in range(1, n_max + 1):
        paths = np.append(paths, 0.0) + np.append(0.0, paths)
        total += float(paths @ chances.cost[row(n)]) * (1 if n < n_max else n_max / 2)
    return [Rule(1.0, 0.0, first), Rule(0.0, 1.0, first), Rule(0.0, 0.0, total)]


def last_trial(chances: Sequences) -> int:
    """Return n_max, from the (n_max + 1)(n_max + 2)/2 states."""
    return (math.isqrt(8 * len(chances.cost) + 1) - 3) // 2


class Sweep:
    """Backward induction for two price pairs at a time. Call it with prices as an array [axis, pair].

    Ties: continuing beats killing, killing beats surviving; at the last trial killing beats leaving it
    undecided, which beats surviving. Leaving it undecided costs n_max/2 further trials. Surviving is not
    offered where the trials are likelier under the drop than under no change: without that, at small alpha,
    a mutant far worse than the drop would survive, being unlikely under both.

    Working arrays are [state, pair] and are reused by the next call. The loops only run over views made
    here, two or three numpy calls a trial: that is what the speed of a table depends on.
    """

    def __init__(self, chances: Sequences) -> None:
        self.n_max = last_trial(chances)
        self.unchanged, self.dropped, self.cost = (np.repeat(a[:, None], 2, axis=1) for a in chances)
        self.cost[row(self.n_max)] *= self.n_max / 2
        self.survivable = np.where(self.dropped <= self.unchanged, self.dropped, np.inf)
        self.stop, self.stay = np.empty_like(self.cost), self.cost.copy()
        self.value, self.paths, self.going = (np.ones_like(self.cost) for _ in range(3))
        self._back = [self._backward_views(n) for n in range(self.n_max - 1, -1, -1)]
        self._forth = [self._forward_views(n) for n in range(self.n_max)]

    def __call__(self, prices: Array) -> Swept:
        """Return the cheapest rules at the two pairs of prices."""
        states = (len(self.cost), 1)
        kills = self.unchanged * np.tile(prices[KILL], states)
        survives = self.survivable * np.tile(prices[SURVIVE], states)
        self._induct(kills, survives)
        go = self.stay <= self.stop
        end = row(self.n_max)
        go[end] &= kills[end] > np.minimum(self.cost[end], survives[end])
        kill = (kills <= survives) & ~go
        survive = ~(go | kill)
        return Swept(self._rules(go, kill, survive), kill, survive)

    def _induct(self, kills: Array, survives: Array) -> None:
        """Fill `value` and `stay` from the last trial back to the first."""
        np.minimum(kills, survives, out=self.stop)
        self.stop[0] = np.inf
        end = row(self.n_max)
        np.minimum(self.stop[end], self.cost[end], out=self.value[end])
        for left, right, toll, stop, stay, value in self._back:
            np.add(left, right, out=stay)
            np.add(stay, toll, out=stay)
            np.minimum(stay, stop, out=value)

    def _rules(self, go: Flags, kill: Flags, survive: Flags) -> tuple[Rule, Rule]:
        """Return the errors and cost of the two rules, from the number of paths that reach each state."""
        self.going[:] = go
        for here, going, live, left, right, after in self._forth:
            np.multiply(here, going, out=live)
            np.add(left, right, out=after)
        parts = (self.unchanged * kill, self.dropped * survive, self.cost * go)
        below, above = ([float(self.paths[:, pair] @ part[:, pair]) for part in parts] for pair in (0, 1))
        return Rule(*below), Rule(*above)

    def _backward_views(self, n: int) -> tuple[Array, ...]:
        after = self.value[row(n + 1)]
        here = (a[row(n)] for a in (self.cost, self.stop, self.stay, self.value))
        return tuple(view.reshape(-1) for view in (after[:-1], after[1:], *here))

    def _forward_views(self, n: int) -> tuple[Array, ...]:
        """Return views of the next states, with as many failures or one more: `live` sits between two zeros."""
        here, going, after = (
            a.reshape(-1) for a in (self.paths[row(n)], self.going[row(n)], self.paths[row(n + 1)])
        )
        padded = np.zeros(len(here) + 4)
        return here, going, padded[2:-2], padded[:-2], padded[2:], after
