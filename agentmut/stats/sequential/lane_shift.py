"""What the lanes of mutants say about a shift of the service. A lane is a mutant on a scenario, with its own rate."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from agentmut.stats.kill.sequences import Array

FALLS = (0.02, 0.035, 0.05, 0.08, 0.12, 0.2, 0.35, 0.6)
"""By how much a failure rate may rise: falls of the pass rate, which kill mutants falsely."""
RISES = (-0.04, -0.1, -0.25)
AS_IF = (400.0, 40.0)
"""What the rate of most lanes of a scenario is worth in trials, for lanes tightly around it, and for those near it."""
SPREADS = ((0.98, 0.015, 0.005), (0.9, 0.07, 0.03), (0.6, 0.3, 0.1), (0.3, 0.4, 0.3), (0.05, 0.5, 0.45))
"""Shares of lanes tightly around that rate, near it, and anywhere; each row is as likely, and holds for all lanes."""
UNLIKE = 0.2
"""Share of the lanes that may fail at any rate, while the rate of most lanes is looked for."""
POINTS, CENTRES = 16, 128
"""Points of the grid of each part of a lane's rate, and of the rate of most lanes."""
EDGE = 5e-4
"""Rates are taken to be no closer to 0 and 1."""


def log_lanes(scenarios: "np.ndarray", failed: "Array", trials: "Array") -> "Array":
    """Return the log Bayes factor of a shift from all lanes together, by split (rows) and shift (columns).

    `failed` and `trials` have a row for each lane; columns are counts before each split, and in all. The rate of most
    lanes of a scenario is the same over all trials with and without a shift. So a level shows nothing, and only a
    change in time does: at the first split, before which no lane has a trial, the factor is 1.
    """
    import numpy as np

    shifts = np.array(FALLS + RISES)
    log_evidence = np.zeros((failed.shape[1] - 1, len(shifts)))
    if not len(failed):
        return log_evidence
    _, where = np.unique(scenarios, return_inverse=True)
    centre, every = _centres(where, failed[:, -1], trials[:, -1]), np.bincount(where, trials[:, -1])
    for i in range(1, len(log_evidence)):
        after = (1 - np.bincount(where, trials[:, i]) / every)[where]
        rows = np.stack([centre, failed[:, i], trials[:, i], failed[:, -1], trials[:, -1], after], axis=1)
        alike, times = np.unique(rows, axis=0, return_counts=True)
        rates, weights = _rates_around(alike[:, 0]), times.astype(float)
        known = np.logaddexp.reduce(_of_spreads(_log_parts(alike, rates, 0.0), weights))
        for j, shift in enumerate(shifts):
            log_evidence[i, j] = (
                np.logaddexp.reduce(_of_spreads(_log_parts(alike, rates, shift), weights)) - known
            )
    return log_evidence


def typical(scenarios: "np.ndarray", failed: "Array", trials: "Array") -> "Array":
    """Return the posterior chance of each lane to fail like most on its scenario; arguments as in `log_lanes`."""
    import numpy as np

    if not len(failed):
        return np.zeros(0)
    _, where = np.unique(scenarios, return_inverse=True)
    f, n = failed[:, -1], trials[:, -1]
    centre = _centres(where, f, n)
    parts = _log_parts(np.stack([centre, f, n, f, n, 0 * n], axis=1), _rates_around(centre), 0.0)
    of_spreads = _of_spreads(parts, np.ones(len(f)))
    joint = np.log(np.array(SPREADS))[:, :, None] + parts
    chances = np.exp(joint[:, 0] - np.logaddexp.reduce(joint, axis=1))
    return np.asarray(np.exp(of_spreads - np.logaddexp.reduce(of_spreads)) @ chances)


def log_chance(failed: "Array | float", trials: "Array | float", rate: "Array") -> "Array":
    """Return the log chance of an order of outcomes with so many failures."""
    import numpy as np

    return np.asarray(failed * np.log(rate) + (trials - failed) * np.log1p(-rate))


def log_sum(values: "Array") -> "Array":
    """Return the logarithm of the sum of exponentials over the last axis; scipy's takes three times the time."""
    import numpy as np

    most = values.max(axis=-1, keepdims=True)
    return np.asarray(most[..., 0] + np.log(np.exp(values - most).sum(axis=-1)))


def moved_by(rate: "Array", shift: "Array") -> "Array":
    """Return rates after a shift, at least `EDGE` from 0 and 1."""
    import numpy as np

    return np.clip(rate + shift, EDGE, 1 - EDGE)


def _of_spreads(parts: "Array", times: "Array") -> "Array":
    """Return the log chance of all lanes for each of `SPREADS`, from that of each part (rows) and lane."""
    import numpy as np

    weights = np.log(np.array(SPREADS))[:, :, None]
    return np.asarray((np.logaddexp.reduce(weights + parts, axis=1) * times).sum(axis=1))


def _log_parts(rows: "Array", rates: "Array", shift: float) -> "Array":
    """Return the log chance of each lane (columns) for rates tightly around the centre, near it, and anywhere (rows).

    A row has the centre, failures and trials before the split and in all, and the share of the trials after it.
    """
    _, f, n, all_failed, every, after = rows.T
    before = log_chance(f[:, None], n[:, None], moved_by(rates, -after[:, None] * shift))
    later = moved_by(rates, (1 - after[:, None]) * shift)
    each = before + log_chance((all_failed - f)[:, None], (every - n)[:, None], later)
    return log_sum(each - math.log(POINTS))


def _centres(where: "np.ndarray", failed: "Array", trials: "Array") -> "Array":
    """Return, for each lane, the rate at which most lanes of its scenario fail; some may fail at any other."""
    import numpy as np
    from scipy.special import betaln

    rates = np.sin((np.arange(CENTRES) + 0.5) / CENTRES * math.pi / 2) ** 2
    other = betaln(failed + 1, trials - failed + 1) + math.log(UNLIKE)
    alike = log_chance(failed[:, None], trials[:, None], rates) + math.log(1 - UNLIKE)
    fit = np.zeros((int(where.max()) + 1, CENTRES))
    np.add.at(fit, where, np.logaddexp(alike, other[:, None]))
    return np.asarray(rates[fit.argmax(axis=1)][where])


def _rates_around(centre: "Array") -> "Array":
    """Return equally likely rates: by part (tight, near, anywhere), lane and point."""
    import numpy as np
    from scipy.special import betaincinv

    levels = (np.arange(POINTS) + 0.5) / POINTS
    alike, back = np.unique(centre, return_inverse=True)
    a, b = alike[:, None], 1 - alike[:, None]
    parts = [betaincinv(as_if * a + 0.25, as_if * b + 0.25, levels) for as_if in AS_IF]
    parts.append(np.broadcast_to(levels, parts[0].shape))
    return np.clip(np.stack(parts)[:, back.ravel()], EDGE, 1 - EDGE)
