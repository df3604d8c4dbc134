"""Correlations of scores with the faults that are found, and how well the share of found faults is predicted."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from benchmarks.validity.collect import Collected
from benchmarks.validity.suites import Measured, faults, mutants, share

DRAWS = 200
"""Draws of the bootstrap over mutants and faults."""
Floats = np.ndarray


class Correlation(NamedTuple):
    """Spearman's correlation, sizes held constant, with a bootstrap interval of 95 % over mutants and faults."""

    rho: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.rho:.2f} [{self.low:.2f}, {self.high:.2f}]" if np.isfinite(self.rho) else "-"


def sizes(suites: Sequence[Measured]) -> Floats:
    """Return scenarios and checks of the sub-suites, sub-suites x 2."""
    return np.array([[suite.scenarios, suite.checks] for suite in suites], dtype=float)


def partial(x: Floats, y: Floats, given: Floats) -> float:
    """Return Spearman's partial correlation: of the ranks' residuals after linear regression on ranks of `given`."""
    ranks = [rankdata(column) for column in (x, y, *given.T)]
    base = np.column_stack([np.ones(len(x)), *ranks[2:]])
    left = [r - base @ np.linalg.lstsq(base, r, rcond=None)[0] for r in ranks[:2]]
    scale = float(np.sqrt((left[0] ** 2).sum() * (left[1] ** 2).sum()))
    return float((left[0] * left[1]).sum()) / scale if scale > 1e-9 else float("nan")


def correlation(
    suites: Sequence[Measured],
    scored: Floats,
    sought: Floats,
    rng: "np.random.Generator",
    weights: Floats | None = None,
) -> Correlation:
    """Return the correlation of the score on the `scored` mutants with the share of the `sought` faults.

    Both are places of variants; `weights` are those of the mutants.
    """
    if not len(scored) or not len(sought):
        return Correlation(*[float("nan")] * 3)
    given, weight = sizes(suites), np.ones(len(scored)) if weights is None else weights
    told = np.array([suite.noticed for suite in suites], dtype=float)

    def once(m: Floats, f: Floats) -> float:
        score = told[:, scored[m]] @ weight[m] / max(float(weight[m].sum()), 1e-9)
        return partial(score, told[:, sought[f]].mean(axis=1), given)

    def again(places: Floats) -> Floats:
        return rng.integers(0, len(places), len(places))

    drawn = [once(again(scored), again(sought)) for _ in range(DRAWS)]
    low, high = np.nanquantile(drawn, [0.025, 0.975]) if np.isfinite(drawn).any() else (np.nan, np.nan)
    return Correlation(once(np.arange(len(scored)), np.arange(len(sought))), float(low), float(high))


def of_coverage(suites: Sequence[Measured], found: Collected, sought: Floats) -> tuple[float, float]:
    """Return the partial correlations of coverage with found faults: given the sizes, and given the score, too."""
    covered = np.array([suite.coverage for suite in suites])
    score = share(suites, mutants(found))
    told, given = share(suites, sought), sizes(suites)
    return partial(covered, told, given), partial(covered, told, np.column_stack([given, score]))


def class_weights(found: Collected, suites: Sequence[Measured]) -> dict[str, float]:
    """Return a weight for each operator class from the development faults, shrunk half way to equal weights."""
    development = faults(found, "development")
    groups = sorted({one.group for one in found.variants if one.split == "mutant"})
    rho = {}
    for group in groups:
        own = mutants(found, group)
        value = (
            partial(share(suites, own), share(suites, development), sizes(suites))
            if len(development)
            else 0.0
        )
        rho[group] = max(0.0, value) if np.isfinite(value) else 0.0
    most = max(rho.values(), default=0.0) or 1.0
    return {group: 0.5 + 0.5 * value / most for group, value in rho.items()}
