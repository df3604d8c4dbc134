"""Has a service drifted between a baseline and later trials, in all scenarios together, and when?

The evidence is a Bayes factor over all trials, those of mutants too. Without a drift a scenario has one rate of
failures for the original, before and after, and a lane (a mutant on a scenario) has one. With a drift the rates of all
move by the same s at one time: the end of the baseline, or a later split. What is not known besides is averaged:

- the original's rate on a scenario, which comes from one distribution over scenarios. Without such a distribution the
  factor would take regression to the mean for a drift: kills, and the trials that are to confirm them, gather on
  scenarios whose baseline was lucky. The distribution is the same for all scenarios and is averaged over last: its
  mean is as uncertain as all baselines together leave it;
- how most mutants differ from the original, by the same e on all scenarios. So mutants that are a little worse
  everywhere are no drift;
- how many lanes fail like most on their scenario, near that rate, or at any other rate.

Trials go where earlier outcomes led them, and stop by what they show. A permutation of outcomes would be wrong for
such trials; a likelihood is not, since the rule that chose them cancels. Were the rates drawn as assumed, the factor
would reach b in at most 1/b of the steady campaigns, whenever it is looked at (Ville's inequality). Rates are what they
are, so the level is measured: see `MEASURED` and the section "in real life: drift" of the calibration.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_count
from agentmut.stats.sequential.lane_shift import (
    FALLS,
    RISES,
    log_chance,
    log_lanes,
    log_sum,
    moved_by,
    typical,
)

if TYPE_CHECKING:
    import numpy as np

    from agentmut.stats.kill.sequences import Array

SPLITS = 12
"""Split points, equally spaced over the later trials; the first is the end of the baseline."""
AT_THE_BASELINE = 0.4
"""Prior weight of a shift at the end of the baseline; the later splits share the rest."""
OF_FALLS = 0.9
"""Prior weight of falls of the pass rate."""
DIFFERENT = 0.1
"""Prior chance that most mutants differ from the original alike, on all scenarios."""
OF_A_TRIAL = 0.5
"""What a trial of a mutant counts beside the original's: some of these mutants are a little worse."""
MEANS, SIZES = 10.0, (4.0, 16.0, 64.0, 256.0, 1024.0)
"""Grid of the distribution of rates over scenarios: how many means for the root of the number of scenarios, and what
their spread is worth in trials. The mean of many rates is known more closely, so the grid has to be finer."""
MARGIN = 0.02
"""How far the mean of such a distribution stays from 0 and 1, as an arc sine of the root."""
POINTS = 64
"""Points of the grid of the original's rate."""
NOTHING = 1e-300
"""Added to a mean before its logarithm, since a mean may be too small for a float."""
LIKELY = 0.95
"""The posterior weight of the split points that may be the time of the shift."""
MEASURED = 0.2
"""A factor of b is taken for a p-value of 0.2 / b: chosen by simulation, so that a factor of 4 names a drift in at
most 0.05 of steady campaigns (sections "in real life: drift" and "a drift named of a steady service")."""


class LaterTrials(NamedTuple):
    """Trials after the baseline, in the order of their time."""

    lanes: Sequence[tuple[str, str]]
    """Scenario and mutant of each lane; the mutant is empty for the original."""
    where: "Sequence[int] | np.ndarray"
    """The lane of each trial, as an index."""
    failed: "Sequence[bool] | np.ndarray"


class Shift(NamedTuple):
    """What the trials say about a shift of the pass rate."""

    log_evidence: float
    """The logarithm of the Bayes factor for a shift; any real number."""
    change: float
    """The change of the original's pass rate, as a mean over scenarios; negative for a fall."""
    earliest: int
    """Later trials before the shift, at least."""
    latest: int
    """Later trials before the shift, at most."""

    @property
    def p(self) -> float:
        """Return the p-value of no shift, in (0, 1]; see `MEASURED`."""
        return min(1.0, MEASURED * math.exp(-self.log_evidence))


def find_shift(baseline: Mapping[str, tuple[int, int]], later: LaterTrials) -> Shift | None:
    """Return the shift between a baseline, (failures, trials) by scenario, and later trials.

    Trials on scenarios without a baseline are left out. None if no other trial is later.
    Raises `ValueError` for a count of failures outside [0, trials].
    """
    import numpy as np

    for failures, trials in baseline.values():
        check_count("failures", failures, 0, check_count("trials", trials))
    known = {name: counts for name, counts in baseline.items() if counts[1]}
    counted = _Counts.from_trials(later, known)
    if not counted.total:
        return None
    population = _Population.from_baselines(list(known.values()))
    different = np.log([1 - DIFFERENT] + [DIFFERENT / len(_ALIKE[1:])] * len(_ALIKE[1:]))[:, None]
    drifting, steady = different, different
    for scenario in _alike(known, counted):
        evidence = _of_scenario(population, scenario.baseline, scenario.seen)
        drifting, steady = drifting + scenario.number * evidence[0], steady + scenario.number * evidence[1]
    log_evidence = log_sum(drifting.reshape(*drifting.shape[:2], -1)) - log_sum(steady.ravel())
    log_evidence = log_evidence + log_lanes(counted.scenarios, counted.failed, counted.trials)
    return _shift(log_evidence, counted, known)


def _shift(log_evidence: "Array", counted: "_Counts", baseline: Mapping[str, tuple[int, int]]) -> Shift:
    import numpy as np

    splits = counted.splits
    joint = log_evidence + np.log(_prior(len(splits)))
    evidence = float(np.logaddexp.reduce(joint.ravel()))
    posterior = np.exp(joint - evidence)
    by_split = posterior.sum(axis=1)
    order = np.argsort(-by_split)
    likely = np.sort(order[: 1 + int(np.searchsorted(np.cumsum(by_split[order]), LIKELY))])
    following = splits[likely[-1] + 1 :]
    latest = int(following[0]) if len(following) else counted.total
    change = float(posterior.sum(axis=0) @ _mean_moved(baseline))
    return Shift(evidence, -change, int(splits[max(0, likely[0] - 1)]), latest)


def _prior(splits: int) -> "Array":
    """Return the prior weight of each split (rows) and shift (columns)."""
    import numpy as np

    of_splits = np.full(splits, (1 - AT_THE_BASELINE) / max(1, splits - 1))
    of_splits[0] = AT_THE_BASELINE if splits > 1 else 1.0
    of_shifts = [OF_FALLS / len(FALLS)] * len(FALLS) + [(1 - OF_FALLS) / len(RISES)] * len(RISES)
    return np.asarray(of_splits[:, None] * np.array(of_shifts))


def _mean_moved(baseline: Mapping[str, tuple[int, int]]) -> "Array":
    """Return how far each shift moves the original's failure rate, as a mean over scenarios."""
    import numpy as np

    rates = np.array([(f + 0.5) / (n + 1) for f, n in baseline.values()])[:, None]
    return np.asarray((moved_by(rates, np.array(FALLS + RISES)) - rates).mean(axis=0))


class _SplitCounts(NamedTuple):
    """The later trials on a scenario, before each split, and in all (the last element)."""

    failed: "Array"
    trials: "Array"
    of_mutants: tuple[float, float]
    """Failures and trials of the mutants that fail like most."""
    after: "Array"
    """Share of the mutants' trials after each split."""


class _Counts(NamedTuple):
    """Failures and trials of each lane before each split, and in all: rows are lanes, the last column is all."""

    splits: "np.ndarray"
    total: int
    originals: Mapping[str, tuple["Array", "Array"]]
    """By scenario: the lane of the original."""
    scenarios: "np.ndarray"
    """The scenario of each mutant's lane."""
    failed: "Array"
    trials: "Array"
    weights: "Array"
    """The chance of each mutant's lane to fail like most on its scenario."""
    rows: Mapping[str, list[int]]
    """By scenario: the rows of its mutants' lanes."""

    @classmethod
    def from_trials(cls, later: LaterTrials, known: Mapping[str, object]) -> "_Counts":
        """Return the counts of the lanes whose scenario has a baseline, cumulated at each split of the trials."""
        import numpy as np

        usable = np.array([name in known for name, _ in later.lanes], dtype=bool)
        where = np.asarray(later.where, dtype=int)
        counts = usable[where]
        where, failures = where[counts], np.asarray(later.failed, dtype=float)[counts]
        splits = np.unique(np.linspace(0, len(where), SPLITS, endpoint=False).astype(int))
        part = np.searchsorted(splits, np.arange(len(where)), side="right")
        columns = len(splits) + 1  # the first of them is empty, since nothing is before the first split
        at, size = where * columns + part, len(later.lanes) * columns
        per = [np.bincount(at, weights, size).reshape(-1, columns) for weights in (failures, None)]
        f, n = (np.cumsum(each, axis=1, dtype=float) for each in per)
        originals = {name: (f[i], n[i]) for i, (name, mutant) in enumerate(later.lanes) if not mutant}
        lanes = [i for i, (_, mutant) in enumerate(later.lanes) if mutant and n[i, -1]]
        scenarios = np.array([later.lanes[i][0] for i in lanes], dtype=str)
        weights = typical(scenarios, f[lanes], n[lanes])
        rows: dict[str, list[int]] = {}
        for row, lane in enumerate(lanes):
            rows.setdefault(later.lanes[lane][0], []).append(row)
        return cls(splits, len(where), originals, scenarios, f[lanes], n[lanes], weights, rows)

    def on(self, scenario: str) -> _SplitCounts:
        """Return what was seen on a scenario."""
        import numpy as np

        none = np.zeros(len(self.splits) + 1)
        here = np.array(self.rows.get(scenario, ()), dtype=int)
        weights, trials = self.weights[here], self.trials[here]
        of_mutants = float(weights @ self.failed[here, -1]), float(weights @ trials[:, -1])
        after = 1 - trials.sum(axis=0)[:-1] / max(1.0, float(trials[:, -1].sum()))
        return _SplitCounts(*self.originals.get(scenario, (none, none)), of_mutants, after)


class _AlikeScenarios(NamedTuple):
    """Scenarios that show exactly the same, and so are the same evidence."""

    baseline: tuple[int, int]
    seen: _SplitCounts
    number: int
    """How many they are."""


def _alike(known: Mapping[str, tuple[int, int]], counted: _Counts) -> Iterable[_AlikeScenarios]:
    """Return what the scenarios show, each sight once: of thousands with a trial or two, nearly all are alike."""
    groups: dict[tuple[object, ...], _AlikeScenarios] = {}
    for name, baseline in known.items():
        seen = counted.on(name)
        key = (
            *baseline,
            seen.of_mutants,
            *(each.tobytes() for each in (seen.failed, seen.trials, seen.after)),
        )
        before = groups.get(key)
        groups[key] = _AlikeScenarios(baseline, seen, 1 + (before.number if before else 0))
    return groups.values()


_ALIKE = (0.0, 0.02, 0.05, 0.12, 0.3, -0.05)
"""By how much the failure rate of most mutants may differ from the original's."""


def _of_scenario(
    population: "_Population", baseline: tuple[int, int], seen: _SplitCounts
) -> tuple["Array", "Array"]:
    """Return the log chance of what a scenario shows: with a drift by split, shift and e, and without one by e.

    The last axis of both has the distributions of the population.
    """
    import numpy as np

    f, n = baseline[0] + seen.failed[:, None, None], baseline[1] + seen.trials[:, None, None]
    rate = _rates(baseline, (float(seen.failed[-1]), float(seen.trials[-1])))
    alike = moved_by(rate, np.array(_ALIKE)[:, None])
    f_mutants, n_mutants = (OF_A_TRIAL * each for each in seen.of_mutants)
    without = log_chance(f[-1], n[-1], rate) + log_chance(f_mutants, n_mutants, alike)
    shifts = np.array(FALLS + RISES)[:, None]
    moved = log_chance(f[-1] - f[:-1], n[-1] - n[:-1], moved_by(rate, shifts))
    original = (log_chance(f[:-1], n[:-1], rate) + moved)[:, :, None, :]
    mutants = moved_by(alike, seen.after[:, None, None, None] * shifts[:, None])
    density = population.density(rate)
    return _log_means(original + log_chance(f_mutants, n_mutants, mutants), density), _log_means(
        without, density
    )


def _log_means(logs: "Array", density: "Array") -> "Array":
    """Return the log of the mean of exp(logs) over the points of the last axis, for each column of `density`."""
    import numpy as np

    most = logs.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - most) @ density + NOTHING) + most)


class _Population(NamedTuple):
    """The distributions that failure rates over scenarios may have, each as likely: Beta(a, b)."""

    a: "Array"
    b: "Array"

    @classmethod
    def from_baselines(cls, baselines: Sequence[tuple[int, int]]) -> "_Population":
        """Return the distributions for baselines of (failures, trials): means on a grid around the observed rates."""
        import numpy as np

        count = max(24, round(MEANS * math.sqrt(len(baselines))))
        angles = [(math.asin(math.sqrt((f + 0.5) / (n + 1))), 1.5 / math.sqrt(n + 1)) for f, n in baselines]
        low, high = min(a - wide for a, wide in angles), max(a + wide for a, wide in angles)
        means = np.sin(np.linspace(max(MARGIN, low), min(math.pi / 2 - MARGIN, high), count)) ** 2
        sizes = np.array(SIZES)
        return cls(np.outer(means, sizes).ravel(), np.outer(1 - means, sizes).ravel())

    def density(self, rate: "Array") -> "Array":
        """Return the weight of each point of a grid of rates (rows) in each distribution, up to a factor."""
        import numpy as np
        from scipy.special import betaln

        logs = np.log(rate)[:, None] * (self.a - 1) + np.log1p(-rate)[:, None] * (self.b - 1)
        logs = logs - betaln(self.a, self.b) + 0.5 * np.log(rate * (1 - rate))[:, None]  # denser at the edges
        return np.asarray(np.exp(logs - logs.max()))


def _rates(*seen: tuple[float, float]) -> "Array":
    """Return rates around those that were seen; they are equally spaced in the arc sine of the root."""
    import numpy as np

    angles = [(math.asin(math.sqrt((f + 0.5) / (n + 1))), 3 / math.sqrt(n + 1)) for f, n in seen]
    low, high = min(a - wide for a, wide in angles), max(a + wide for a, wide in angles)
    grid = np.linspace(max(0.0, low), min(math.pi / 2, high), POINTS)
    return moved_by(np.sin(grid) ** 2, np.zeros(1))
