"""How many trials the baseline gets, and which scenario gets the next trial of a mutant.

The next trial goes to the scenario with the most evidence of a drop so far.

Each scenario keeps its own decision boundary and level, so that any order of trials, also one that depends
on the results, keeps the false-kill rate; the order only decides how soon a kill is found.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from agentmut.stats.checks import check_count

LOSSES = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8)
"""Relative losses of the pass rate that the evidence averages over, with equal weights."""
TIE = 1e-9
"""Scores closer than this are tied."""


class Evidence(NamedTuple):
    """log m1/m0 for every state of one scenario: `log_ratio[n][f]`; exactly 0 at n = 0."""

    f0: int
    n0: int
    log_ratio: tuple[tuple[float, ...], ...]


class LiveScenario(NamedTuple):
    """The state of a live scenario: `f` failures in `n` trials of the mutant."""

    evidence: Evidence
    n: int
    f: int


def automatic_size(mutants: int) -> int:
    """Return the baseline trials a scenario for a campaign of `mutants`: 50 up to 20, 100 up to 50, 200 beyond.

    All mutants share the baseline, so more of them pay for a larger one, which shortens each mutant's trials.

    >>> [automatic_size(m) for m in (20, 21, 50, 51)]
    [50, 100, 100, 200]
    """
    mutants = check_count("mutants", mutants)
    if mutants <= 20:
        return 50
    return 100 if mutants <= 50 else 200


def evidence(f0: int, n0: int, n_max: int = 100) -> Evidence:
    """Return the evidence table of a baseline with `f0` failures in `n0` trials. It takes a few milliseconds: keep it.

    m0 is the predictive chance of the trials if nothing changed (Jeffreys prior), m1 the same averaged over
    `LOSSES` u with failure rate phi + (1 - phi) u, clipped to [1e-4, 1 - 1e-4]. The range is the real line.

    Raises `ValueError` for n0 < 1, f0 outside [0, n0] or n_max < 1.
    """
    n0, n_max = check_count("n0", n0, 1), check_count("n_max", n_max, 1)
    from agentmut.stats.kill.sequences import log_ratios

    ratios = log_ratios(check_count("f0", f0, 0, n0), n0, n_max, LOSSES).tolist()
    rows = (ratios[n * (n + 1) // 2 : (n + 1) * (n + 2) // 2] for n in range(1, n_max + 1))
    return Evidence(f0, n0, ((0.0,), *map(tuple, rows)))


def choose(
    states: Sequence[LiveScenario | None], weights: Sequence[float], affinity: Sequence[float], rng: Random
) -> int:
    """Return the index of the live scenario with the largest w_j m1/m0. Retired scenarios are None.

    Ties, of which the start of a mutant is one, go to the larger affinity, then to `rng`, which is used only
    if a tie is left. `weights` are the scenarios' shares of alpha and must be positive where live.

    Raises `ValueError` if lengths differ or no scenario is live.
    """
    if not len(states) == len(weights) == len(affinity):
        lengths = (len(states), len(weights), len(affinity))
        raise ValueError(
            f"states, weights and affinity must have one entry a scenario, got lengths {lengths}"
        )
    scores = [
        -math.inf if s is None else math.log(w) + s.evidence.log_ratio[s.n][s.f]
        for s, w in zip(states, weights, strict=True)
    ]
    return choose_scored(scores, affinity, rng)


def choose_scored(scores: Sequence[float], affinity: Sequence[float], rng: Random) -> int:
    """Return the index of the largest score; scenarios that are not live have minus infinity. Ties as in `choose`.

    Raises `ValueError` if no scenario is live.
    """
    best = max(scores, default=-math.inf)
    if best == -math.inf:
        raise ValueError("states must hold at least one live scenario, got none")
    tied = [j for j, score in enumerate(scores) if score >= best - TIE]
    if len(tied) == 1:
        return tied[0]
    closest = max(affinity[j] for j in tied)
    tied = [j for j in tied if affinity[j] == closest]
    return tied[0] if len(tied) == 1 else rng.choice(tied)
