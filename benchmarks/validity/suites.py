"""Random sub-suites of a pool: what each scores on the mutants, and which share of the faults it finds."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

from benchmarks.validity.collect import Collected, Variant

LEVEL = 0.05
"""The level at which a variant is noticed, divided by the scenarios of the sub-suite, as the kill rule does."""
Chosen = Mapping[str, "np.ndarray"]
"""A sub-suite: the columns of the checks that are used, by scenario."""
Draw = Callable[["np.random.Generator", Mapping[str, int]], Chosen]


class Measured(NamedTuple):
    """One sub-suite."""

    scenarios: int
    checks: int
    coverage: float
    """Share of the pool's tools that its scenarios call."""
    noticed: "np.ndarray"
    """For each variant of the agent, whether it is noticed."""


@lru_cache(maxsize=100_000)
def p_value(failed: int, runs: int, failed_before: int, runs_before: int) -> float:
    """Return Fisher's one-sided p-value of more failures than before."""
    every, bad = runs + runs_before, failed + failed_before
    return float(hypergeom.sf(failed - 1, every, bad, runs))


def noticed(original: Mapping[str, "np.ndarray"], variant: Variant, chosen: Chosen) -> bool:
    """Return whether a scenario fails more often than with the original: a run passes where all its checks hold."""
    for scenario, columns in chosen.items():
        after = variant.held.get(scenario)
        if after is None:  # no run of it was evidence
            continue
        before = original[scenario]
        failed, failed_before = (int((~rows[:, columns].all(axis=1)).sum()) for rows in (after, before))
        if p_value(failed, len(after), failed_before, len(before)) <= LEVEL / len(chosen):
            return True
    return False


def whole(found: Collected) -> Measured:
    """Return what all scenarios with all checks notice."""
    return measure(found, {name: np.arange(rows.shape[1]) for name, rows in found.original.items()})


def measure(found: Collected, chosen: Chosen) -> Measured:
    """Return what a sub-suite notices."""
    every = frozenset[str]().union(*found.tools.values())
    called = frozenset[str]().union(*(found.tools[name] for name in chosen))
    told = np.array([noticed(found.original, one, chosen) for one in found.variants])
    return Measured(len(chosen), sum(map(len, chosen.values())), len(called) / max(1, len(every)), told)


def free(rng: "np.random.Generator", pool: Mapping[str, int]) -> Chosen:
    """Draw a sub-suite of any size: scenarios, and of each at least one check."""
    names = rng.choice(list(pool), size=int(rng.integers(2, len(pool) + 1)), replace=False)
    return {name: _some(rng, pool[name], int(rng.integers(1, pool[name] + 1))) for name in names}


def equal(rng: "np.random.Generator", pool: Mapping[str, int]) -> Chosen:
    """Draw half of the scenarios with three checks for two scenarios: all sub-suites are of one size."""
    names = list(rng.choice(list(pool), size=len(pool) // 2, replace=False))
    second = set(rng.permutation([name for name in names if pool[name] > 1])[: len(names) // 2])
    return {name: _some(rng, pool[name], 2 if name in second else 1) for name in names}


def same_scenarios(rng: "np.random.Generator", pool: Mapping[str, int]) -> Chosen:
    """Draw one check of each scenario of the pool: assertions alone differ."""
    return {name: _some(rng, count, 1) for name, count in pool.items()}


DESIGNS: Mapping[str, Draw] = {
    "any size": free,
    "equal size": equal,
    "same scenarios": same_scenarios,
}


def drawn(found: Collected, design: str, number: int, seed: int) -> list[Measured]:
    """Measure so many sub-suites of a design, seeded by agent and design."""
    rng = np.random.default_rng([seed, sum(map(ord, found.agent + design))])
    pool = {name: rows.shape[1] for name, rows in found.original.items()}
    return [measure(found, DESIGNS[design](rng, pool)) for _ in range(number)]


def share(suites: Sequence[Measured], wanted: "np.ndarray") -> "np.ndarray":
    """Return the share of the wanted variants that each sub-suite notices."""
    return np.array([suite.noticed[wanted].mean() for suite in suites])


def mutants(found: Collected, group: str = "") -> "np.ndarray":
    """Return the places of the mutants among the variants: of one operator class, or of all."""
    wanted = (one.split == "mutant" and group in ("", one.group) for one in found.variants)
    return np.flatnonzero(list(wanted))


def faults(found: Collected, split: str = "") -> "np.ndarray":
    """Return the places of the faults among the variants: `development`, `test`, or both."""
    wanted = (one.split != "mutant" and split in ("", one.split) for one in found.variants)
    return np.flatnonzero(list(wanted))


def _some(rng: "np.random.Generator", count: int, size: int) -> "np.ndarray":
    return np.sort(rng.choice(count, size=min(size, count), replace=False))
