"""The true pass rate, from many trials that a fallible judge labelled and a few that a human labelled too.

The human's labels are taken as the truth. The trials they labelled must be drawn at random from all that the
judge labelled: labels collected where the judge looked wrong correct nothing.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.checks import check_count, check_level
from agentmut.stats.intervals.proportion import Interval, wilson

Counts = NDArray[np.float64] | float
"""One count, or many elementwise."""


class Labels(NamedTuple):
    """Counts of trials by the judge's label and, if there is one, the human's."""

    both_pass: int
    judge_only: int
    """The judge passed what the human failed."""
    human_only: int
    """The human passed what the judge failed."""
    both_fail: int
    rest_pass: int
    """Passed by the judge, without a human label."""
    rest_fail: int

    @property
    def labelled(self) -> int:
        """Return the number of trials with a human label."""
        return self.both_pass + self.judge_only + self.human_only + self.both_fail

    @property
    def judge_pass(self) -> int:
        """Return the number of trials that the judge passed."""
        return self.both_pass + self.judge_only + self.rest_pass

    def sensitivity(self, level: float = 0.95) -> Interval:
        """Return the judge's chance to pass what a human passes."""
        return wilson(self.both_pass, self.both_pass + self.human_only, level)

    def specificity(self, level: float = 0.95) -> Interval:
        """Return the judge's chance to fail what a human fails."""
        return wilson(self.both_fail, self.both_fail + self.judge_only, level)


def labels(judge: Sequence[bool], human: Sequence[bool | None]) -> Labels:
    """Count trials from two lists in the same order; None where the human gave no label.

    Raises `ValueError` for lists of different length, or for other values than booleans (and None).
    """
    if len(judge) != len(human):
        raise ValueError(f"human must have one entry a trial, {len(judge)} of them, got {len(human)}")
    for name, one in [*(("judge", j) for j in judge), *(("human", h) for h in human if h is not None)]:
        if one not in (True, False):
            raise ValueError(f"{name} must hold booleans, got {one!r}")
    kinds = ((True, True), (True, False), (False, True), (False, False), (True, None), (False, None))
    pairs = [(bool(j), None if h is None else bool(h)) for j, h in zip(judge, human, strict=True)]
    return Labels(*(pairs.count(kind) for kind in kinds))


def rectified(counts: Labels, level: float = 0.95) -> Interval:
    """Return mean(judge on all N trials) + mean(human - judge on the n labelled ones), clipped to [0, 1].

    The labelled trials are among the N. With f = n/N the variance is Var(human - judge + f judge)/n
    + (1 - f) Var(judge)/N; the interval is the normal one around counts to which a = max(1, z^2/4) have been
    added: disagreements of each kind in the labelled trials, passes and failures in all. Without that, n
    labels without a disagreement would pass for proof that the judge never errs. Where all trials are
    labelled only the human counts. With 30 labels, at pass rates of .5 to .95 and judges of many kinds, it covers
    at least .95 at level .95, .82 at .8 and .99 at .99 where half of the trials or more have no label; with all 30
    labelled, as Agresti and Coull's does, .92, .74 and .98. Much more than the level where judge and human
    hardly ever disagree.

    No human labels: no estimate, [0, 1]. Perfect agreement: the judge's rate. A judge that passes
    everything: the human labels' rate. One that guesses: the same on average, with a wider interval.

    Source: Angelopoulos et al., Science 382 (2023) 669-674; the added counts as in Bonett and Price, J. Educ.
    Behav. Stat. 37 (2012) 479-488. Raises `ValueError` for negative or fractional counts, level not in (0, 1).

    >>> print(rectified(Labels(40, 5, 1, 4, 750, 200)))
    0.715 [0.612, 0.823] (95% rectified, 50 human labels, n=1000)
    """
    n, total, z = _sizes(counts, level)
    method = f"rectified, {n} human labels"
    if n == 0:
        return Interval(None, 0.0, 1.0, level, total, method)
    estimate = counts.judge_pass / total + (counts.human_only - counts.judge_only) / n
    table = np.array(counts[:4], dtype=np.float64)
    low, high = rectified_bounds(table, counts.judge_pass, total, z)
    return _clipped(estimate, float(low), float(high), level, total, method)


def rectified_bounds(
    table: NDArray[np.float64], judge_pass: Counts, total: int, z: float
) -> tuple[Counts, Counts]:
    """Return the bounds of `rectified`, unclipped. `table`: both pass, judge only, human only, both fail; (4, ...)."""
    both, judge_only, human_only = table[:3]
    n = table.sum(axis=0)
    added = max(1.0, z * z / 4)
    f, m = n / total, n + 2 * added
    over, under = (judge_only + added) / m, (human_only + added) / m
    # human - judge + f judge: f where both pass, f - 1 where only the judge does, 1 where only the human does
    mean = f * both / m + (f - 1) * over + under
    square = f * f * both / m + (f - 1) ** 2 * over + under
    rate = (judge_pass + added) / (total + 2 * added)
    half = z * np.sqrt((square - mean**2) / m + (1 - f) * rate * (1 - rate) / total)
    centre = rate + under - over
    return centre - half, centre + half


def transferred(passes: int, trials: int, calibration: Labels, level: float = 0.95) -> Interval:
    """Correct a judge's pass rate by the sensitivity and specificity that other trials show.

    (a + spec - 1) / (sens + spec - 1), clipped to [0, 1]; a is the judge's pass rate, passes/trials. Source of the
    estimate: Rogan and Gladen, Am. J. Epidemiol. 107 (1978) 71-76. The interval is that of Lang and Reiczigel (Prev.
    Vet. Med. 113 (2014) 13-22): one pass and one failure added to the counts behind sens and spec, z^2/2 to those
    behind a, the centre moved by 2 z^2 (p sens (1-sens)/n_sens - (1-p) spec (1-spec)/n_spec). It takes the three
    rates as independent, which they are where the trials of `calibration` are not among those corrected; these may
    pass more or less often, but the judge must err on both alike. Widened to contain the estimate where it would
    not. `rest_pass` and `rest_fail` of the calibration are ignored.

    No estimate and [0, 1] without trials, for a useless judge (sens + spec <= 1: it passes what humans fail at
    least as readily as what they pass), and where the human labels are all of one kind, or missing.

    Raises `ValueError` for negative or fractional counts, passes > trials, or a level outside (0, 1).

    >>> print(transferred(70, 100, Labels(45, 5, 5, 45, 0, 0)))
    0.750 [0.612, 0.904] (95% rogan-gladen, 100 human labels, n=100)
    """
    passes = check_count("passes", passes, 0, check_count("trials", trials))
    n, _, z = _sizes(calibration, level)
    method = f"rogan-gladen, {n} human labels"
    sensitivity, specificity = calibration.sensitivity().estimate, calibration.specificity().estimate
    if not trials or sensitivity is None or specificity is None or sensitivity + specificity <= 1:
        return Interval(None, 0.0, 1.0, level, trials, method)
    estimate = (passes / trials + specificity - 1) / (sensitivity + specificity - 1)
    table = np.array(calibration[:4], dtype=np.float64)
    low, high = rogan_gladen_bounds(table, passes, trials, z)
    return _clipped(estimate, float(low), float(high), level, trials, method)


def rogan_gladen_bounds(
    table: NDArray[np.float64], judge_pass: Counts, total: int, z: float
) -> tuple[Counts, Counts]:
    """Return the bounds of `transferred`, unclipped; 0 and 1 where the adjusted sens + spec is at most 1."""
    both, judge_only, human_only, both_fail = table
    n_sens, n_spec = both + human_only + 2, both_fail + judge_only + 2
    sens, spec = (both + 1) / n_sens, (both_fail + 1) / n_spec
    n = total + z * z
    rate = (judge_pass + z * z / 2) / n
    useless = sens + spec <= 1
    youden = np.where(useless, 1.0, sens + spec - 1)
    p = (rate + spec - 1) / youden
    from_sens, from_spec = sens * (1 - sens) / n_sens, spec * (1 - spec) / n_spec
    centre = p + 2 * z * z * (p * from_sens - (1 - p) * from_spec)
    variance = rate * (1 - rate) / n + p**2 * from_sens + (1 - p) ** 2 * from_spec
    half = z * np.sqrt(variance) / youden
    return np.where(useless, 0.0, centre - half), np.where(useless, 1.0, centre + half)


def _sizes(counts: Labels, level: float) -> tuple[int, int, float]:
    """Return the number of human labels and of all trials, and the normal quantile, after checks."""
    level = check_level(level)
    total = sum(check_count(name, value) for name, value in counts._asdict().items())
    return counts.labelled, total, NormalDist().inv_cdf((1 + level) / 2)


def _clipped(estimate: float, low: float, high: float, level: float, n: int, method: str) -> Interval:
    estimate, low, high = (min(1.0, max(0.0, x)) for x in (estimate, low, high))
    return Interval(estimate, min(low, estimate), max(high, estimate), level, n, method)
