"""Has a service drifted between a baseline and later trials, in all scenarios together, and when?

The statistic is the largest of the stratified scores over a few split points of the later trials: failures after the
split less those expected, sum_j (g_j - m_j F_j / N_j), over the root of the hypergeometric variances (Mantel and
Haenszel, J. Nat. Cancer Inst. 22 (1959) 719-748). Its null distribution is found by permuting the outcomes of each
scenario, baseline included, so that scenarios may differ in their rates.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from agentmut.stats.kill.sequences import Array

SPLITS = 5
"""Split points, equally spaced over the later trials; the first is the end of the baseline."""
PERMUTATIONS = 999
OF_THE_BASELINE = 0.8
"""Share of the level for a shift at the end of the baseline; the rest is for the later splits (union bound)."""
OF_FALLS = 0.9
"""Share of the level for falls of the pass rate, which kill mutants falsely; the rest is for rises (union bound)."""
AS_LIKELY = 4.0
"""Split points whose squared score is within so much of the best may be the time of the shift: about 95 %."""
LEAST = 10
"""Later trials below which nothing is tested."""


class Shift(NamedTuple):
    """What the trials say about a shift of the pass rate."""

    p: float
    """The p-value of no shift, from 1 / (`PERMUTATIONS` + 1) to 1; both directions count."""
    change: float
    """The change of the pass rate at the best split, as a mean over scenarios; negative for a fall."""
    earliest: int
    """Later trials before the shift, at least."""
    latest: int
    """Later trials before the shift, at most."""


def find_shift(
    baseline: Mapping[str, tuple[int, int]],
    later: Sequence[tuple[str, bool]],
    rng: "np.random.Generator",
) -> Shift | None:
    """Return the shift between a baseline, (failures, trials) by scenario, and later trials, (scenario, failed).

    Later trials are in the order of their launches. None for fewer than `LEAST` of them, or if all outcomes are alike.
    """
    import numpy as np

    strata = _Strata.of(baseline, later)
    splits = np.unique(np.linspace(0, len(later), SPLITS, endpoint=False).astype(int))
    scale = strata.scale(splits) if len(later) >= LEAST else np.zeros(1)
    if not scale.all():
        return None
    observed = strata.scores(strata.outcomes[None, :], splits)[0] / scale
    null = strata.scores(strata.permuted(rng), splits) / scale
    best = int(np.abs(observed).argmax())
    p = min(
        1.0,
        *(
            each
            for sign, share in ((1, OF_FALLS), (-1, 1 - OF_FALLS))
            for each in _p_values(sign * null, sign * observed, share)
        ),
    )
    near = splits[observed**2 >= observed[best] ** 2 - AS_LIKELY]
    following = splits[splits > near[-1]]
    latest = int(following[0]) if len(following) else len(later)
    earliest = int(splits[max(0, int(np.searchsorted(splits, near[0])) - 1)])
    return Shift(p, -strata.change(int(splits[best])), earliest, latest)


def _p_values(null: "Array", observed: "Array", share: float) -> tuple[float, float]:
    """Return the p-values of a shift in one direction, at the end of the baseline and later, over their shares."""
    first, later = _p_value(null[:, :1], observed[:1]), _p_value(null[:, 1:], observed[1:])
    return first / (share * OF_THE_BASELINE), later / (share * (1 - OF_THE_BASELINE))


def _p_value(null: "Array", observed: "Array") -> float:
    """Return the permutation p-value of the largest score."""
    as_large = null.max(axis=1, initial=-math.inf) >= max(observed, default=math.inf) - 1e-9
    return float((1 + as_large.sum()) / (PERMUTATIONS + 1))


class _Strata(NamedTuple):
    """The trials as arrays, one scenario a stratum."""

    failures: "Array"
    """Failures before, by scenario."""
    trials: "Array"
    """Trials before, by scenario."""
    where: "np.ndarray"
    """The scenario of each later trial, as an index."""
    outcomes: "Array"
    """1 for each later trial that failed, else 0."""

    @classmethod
    def of(cls, baseline: Mapping[str, tuple[int, int]], later: Sequence[tuple[str, bool]]) -> "_Strata":
        import numpy as np

        names = {name: i for i, name in enumerate(baseline)}
        counts = np.array(list(baseline.values()), dtype=float).reshape(-1, 2)
        known = [(names[name], failed) for name, failed in later if name in names]
        where = np.array([i for i, _ in known], dtype=int)
        return cls(counts[:, 0], counts[:, 1], where, np.array([failed for _, failed in known], dtype=float))

    @property
    def all_trials(self) -> "Array":
        import numpy as np

        return self.trials + np.bincount(self.where, minlength=len(self.trials))

    @property
    def rates(self) -> "Array":
        """Return the failure rate of each scenario over all trials."""
        import numpy as np

        failures = self.failures + np.bincount(self.where, self.outcomes, minlength=len(self.trials))
        return np.asarray(failures / np.maximum(self.all_trials, 1))

    def after(self, split: int) -> "Array":
        """Return trials after a split, by scenario."""
        import numpy as np

        return np.bincount(self.where[split:], minlength=len(self.trials)).astype(float)

    def scores(self, outcomes: "Array", splits: "np.ndarray") -> "Array":
        """Return failures after each split less those expected: rows are those of `outcomes`."""
        import numpy as np

        over = outcomes - self.rates[self.where]
        from_here = np.cumsum(over[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(from_here[:, splits])

    def scale(self, splits: "np.ndarray") -> "Array":
        """Return the standard deviation of each score under permutation."""
        import numpy as np

        n, rates = self.all_trials, self.rates
        spread = rates * (1 - rates) / np.maximum(n - 1, 1)
        return np.sqrt(
            [float((self.after(split) * (n - self.after(split)) * spread).sum()) for split in splits]
        )

    def permuted(self, rng: "np.random.Generator") -> "Array":
        """Later outcomes, drawn from all of the scenario's: one row a permutation."""
        import numpy as np

        drawn = np.zeros((PERMUTATIONS, len(self.where)))
        for j, n in enumerate(self.all_trials.astype(int).tolist()):
            at = np.flatnonzero(self.where == j)
            if not len(at):
                continue
            every = np.zeros(n)
            every[: round(float(self.rates[j]) * n)] = 1
            drawn[:, at] = rng.permuted(np.tile(every, (PERMUTATIONS, 1)), axis=1)[:, : len(at)]
        return drawn

    def change(self, split: int) -> float:
        """Return the failure rate after a split less that before, over scenarios by the weight of Mantel
        and Haenszel.
        """
        import numpy as np

        after, n = self.after(split), self.all_trials
        failed = np.bincount(self.where[split:], self.outcomes[split:], minlength=len(n))
        before, failed_before = n - after, self.rates * n - failed
        weight = after * before / np.maximum(n, 1)
        each = failed / np.maximum(after, 1) - failed_before / np.maximum(before, 1)
        return float((weight * each).sum() / max(float(weight.sum()), 1e-12))
