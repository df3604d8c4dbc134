"""A test every night, with the nights before as its past: error rates as promised, and the trials that are saved.

A sequence has 30 nights. Each night the agent's rate may change, and the suite's test takes fresh trials. The past of a
night is what the tests of the nights before have shown, the latest first, as `agentmut test --warm-start` reads it.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics
from agentmut.stats.sequential.warm_start import MOST_PAST, Past, WarmSprt
from benchmarks.calibration.figures import Figure, Section

NIGHTS = 30
SEED = 24
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Rates = Callable[[np.random.Generator, int, SprtDesign], Floats]


class Nightly(NamedTuple):
    """What became of the nights after the first, which has no past."""

    failed: float
    passed: float
    trials: float
    """Mean number of trials of a night."""
    error: float
    """Standard error of `failed`, by sequences: nights of one sequence share their past."""
    error_of_passed: float


def nightly(design: SprtDesign, sequences: int, rates: Rates, seed: int = SEED) -> Nightly:
    """Simulate tests night after night; `rates` gives the true rates of the sequences in one night."""
    rng = np.random.default_rng(seed)
    most = design.n_max or 0
    history: list[tuple[Counts, Counts]] = []
    failed, passed, trials = [], [], []
    for _ in range(NIGHTS):
        rate = rates(rng, sequences, design)
        failures = np.cumsum(rng.random((sequences, most)) >= rate[:, None], axis=1)
        fail_at, pass_at = _boundaries(design, _past(history, sequences))
        fails, passes = failures >= fail_at, failures <= pass_at
        ended = fails | passes
        stop = np.where(ended.any(axis=1), ended.argmax(axis=1), most - 1)
        at = np.arange(sequences), stop
        history.append((stop + 1 - failures[at], stop + 1))
        failed.append(fails[at])
        passed.append(passes[at] & ~fails[at])
        trials.append(stop + 1)
    by_sequence = np.mean(failed[1:], axis=0), np.mean(passed[1:], axis=0)
    error, error_of_passed = (float(each.std() / np.sqrt(sequences)) for each in by_sequence)
    return Nightly(
        float(by_sequence[0].mean()),
        float(by_sequence[1].mean()),
        float(np.mean(trials[1:])),
        error,
        error_of_passed,
    )


def _past(history: list[tuple[Counts, Counts]], sequences: int) -> Counts:
    """Return passes and trials of each sequence: nights are taken, the latest first, until there are `MOST_PAST`."""
    past = np.zeros((sequences, 2), dtype=np.int64)
    for night in reversed(history):
        past += (past[:, 1] < MOST_PAST)[:, None] * np.array(night).T
    return past


def _boundaries(design: SprtDesign, past: Counts) -> tuple[Counts, Counts]:
    """Return a row of both boundaries, after 1 to `n_max` trials, for each sequence; sequences share pasts."""
    pasts, places = np.unique(past, axis=0, return_inverse=True)
    tables = np.array([_boundary(design, passes, trials) for passes, trials in pasts.tolist()])
    fail_at, pass_at = tables[places.reshape(-1), :, 1:].swapaxes(0, 1)
    return fail_at, pass_at


@cache
def _boundary(design: SprtDesign, passes: int, trials: int) -> Counts:
    return np.array(WarmSprt(design, Past(passes, trials)).boundary)


def _always(rate: Callable[[SprtDesign], float]) -> Rates:
    return lambda rng, sequences, design: np.full(sequences, rate(design))


def _changing(rng: np.random.Generator, sequences: int, design: SprtDesign) -> Floats:
    """Return a new version's rate for each sequence, at the threshold or above it."""
    return np.asarray(rng.choice([design.threshold, (1 + design.threshold) / 2, 0.99], sequences))


def section(*, thorough: bool) -> Section:
    """Return error rates of both sides, and what a past that is right saves."""
    sequences = 2_000 if thorough else 200
    designs = [SprtDesign(0.8, 0.1, 0.05, 0.1, 100)]
    designs += (
        [SprtDesign(0.9, 0.1, 0.05, 0.1, 100), SprtDesign(0.95, 0.1, 0.01, 0.1, 100)] if thorough else []
    )
    figures = [figure for design in designs for figure in _figures(design, sequences)]
    how = (
        f"Simulated: {sequences:,} sequences of {NIGHTS} nights each, seed {SEED}, the first night left out. "
        "FAIL and PASS are counted by night; errors are by sequence. Trials without a past are exact."
    )
    return Section("Tests with a warm start, night after night", how, tuple(figures))


def _figures(design: SprtDesign, sequences: int) -> list[Figure]:
    named = f"theta {design.threshold:g}, delta {design.margin:g}"
    at, mixed = (
        nightly(design, sequences, _always(lambda d: d.threshold)),
        nightly(design, sequences, _changing),
    )
    below = nightly(design, sequences, _always(lambda d: d.alternative))
    promised, held = f"at most {design.alpha:g}", f"at most {design.beta:g}"
    figures = [
        Figure(f"{named}: FAIL of an agent at theta", at.failed, promised, high=design.alpha, error=at.error),
        Figure(
            f"{named}: FAIL of versions at theta and above", mixed.failed, promised, high=design.alpha,
            error=mixed.error,
        ),
        Figure(
            f"{named}: PASS of an agent at theta - delta", below.passed, held, high=design.beta,
            error=below.error_of_passed,
        ),
    ]  # fmt: skip
    for rate in (0.99, (1 + design.threshold) / 2, design.threshold):
        cold = sprt_characteristics(design, rate).trials
        warm = nightly(design, sequences, _always(lambda d, rate=rate: rate)).trials  # type: ignore[misc]  # mypy infers no type for the default
        figures.append(
            Figure(f"{named}: trials a night at a rate of {rate:g}", warm, f"{cold:.1f} without a past")
        )
    return figures
