"""Figures over several agents: means with a jackknife over agents, weights and predictions that others teach."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from benchmarks.validity.collect import Collected
from benchmarks.validity.figures import Correlation, Floats, sizes
from benchmarks.validity.suites import Measured, faults, mutants, share

EVERY, SIZES = [0, 1, 2, 3], [0, 2, 3]
"""Columns of `features`: all, and those without the score."""
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Predicted(NamedTuple):
    """What a regression on the other agents says of one agent's sub-suites."""

    agent: str
    guess: Floats
    """The predicted share of test faults that each sub-suite finds."""
    found: Floats
    by_size: Floats
    """The same, predicted from the numbers of scenarios and checks alone, without the score."""
    plain: float
    """The mean share of development faults that the other agents' sub-suites find."""

    @property
    def median_error(self) -> float:
        """Return the median absolute error of the regression."""
        return float(np.median(abs(self.guess - self.found)))

    @property
    def size_error(self) -> float:
        """Return the median absolute error of the regression without the score."""
        return float(np.median(abs(self.by_size - self.found)))

    @property
    def plain_error(self) -> float:
        """Return the median absolute error of a constant."""
        return float(np.median(abs(self.plain - self.found)))


def over_agents(values: Sequence[float], most: float = 1.0) -> Correlation:
    """Return the mean of the agents' values with a jackknife interval of 95 % (Student's t, agents - 1 degrees).

    `most` is the largest possible value. Agents without a value are left out.
    """
    kept = np.array([value for value in values if np.isfinite(value)])
    if len(kept) < 2:
        return Correlation(*[float("nan")] * 3)
    left_out = (kept.sum() - kept) / (len(kept) - 1)
    error = np.sqrt((len(kept) - 1) / len(kept) * ((left_out - left_out.mean()) ** 2).sum())
    reach = float(student.ppf(0.975, len(kept) - 1) * error)
    mean = float(kept.mean())
    return Correlation(mean, max(-most, mean - reach), min(most, mean + reach))


def mean_weights(learned: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean weight of each class over the agents that have mutants of it."""
    groups = sorted({group for one in learned for group in one})
    return {group: float(np.mean([one[group] for one in learned if group in one])) for group in groups}


def features(suites: Sequence[Measured], found: Collected) -> Floats:
    """Return what a regression predicts from: 1, score, and the logarithms of scenarios and checks."""
    score = share(suites, mutants(found))
    return np.column_stack([np.ones(len(suites)), score, np.log(sizes(suites))])


def predictions(agents: Sequence[Collected], suites: Sequence[Sequence[Measured]]) -> list[Predicted]:
    """Return a prediction for each agent. It learns from the development faults of the other agents alone."""
    told = []
    for out, found in enumerate(agents):
        rest = [i for i in range(len(agents)) if i != out]
        x = np.vstack([features(suites[i], agents[i]) for i in rest])
        y = np.concatenate([_share(agents[i], suites[i], "development") for i in rest])
        own = features(suites[out], found)
        guess, by_size = (_learned(x[:, used], y, own[:, used]) for used in (EVERY, SIZES))
        truth = _share(found, suites[out], "test")
        told.append(Predicted(found.agent, guess, truth, by_size, float(y.mean())))
    return told


def _learned(x: Floats, y: Floats, own: Floats) -> Floats:
    guess: Floats = np.clip(own @ np.linalg.lstsq(x, y, rcond=None)[0], 0, 1)
    return guess


def calibration(told: Sequence[Predicted]) -> Iterator[tuple[float, float, Floats]]:
    """Yield bounds of predicted shares, and the shares that were found where so much was predicted."""
    guess = np.concatenate([one.guess for one in told])
    found = np.concatenate([one.found for one in told])
    for low, high in pairwise(BINS):
        inside = (guess >= low) & ((guess < high) | (high == BINS[-1]))
        yield low, high, found[inside]


def _share(found: Collected, suites: Sequence[Measured], split: str) -> Floats:
    return share(suites, faults(found, split))
