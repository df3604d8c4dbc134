"""The kill rule where trials go along the baseline's runs: simulated coins on the real decision tables."""

import math
from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

from agentmut.stats import Decision, KillDesign, KillTable, decision_table
from benchmarks.calibration.figures import Figure, Section, simulated_rate

DESIGN = KillDesign(0.05, 0.10, 0.30, 100)
BASELINE = 50


class Law(NamedTuple):
    """How runs fail: in the part that original and mutant share, or after it."""

    failures: float
    """Share of the original's runs that fail."""
    early: float
    """Share of those failures that fall in the part that is shared."""
    reach: float
    """Share of runs that come to the change; the others are shared from beginning to end."""
    drop: float
    """Share of the runs that come to the change and would pass, which it makes fail."""

    @property
    def lost(self) -> float:
        """Return the part of the pass rate that the mutant loses."""
        return (1 - self.failures) * self.reach * self.drop


@cache
def table(failures: int) -> KillTable:
    """Return the decision table after so many failures of the baseline."""
    return decision_table(failures, BASELINE, DESIGN)


def section(*, thorough: bool) -> Section:
    """Return false kills and power, live and forked."""
    times = 20_000 if thorough else 1_000
    laws = [
        Law(failures, early, reach, drop)
        for drop, failures, (early, reach) in product(
            (0.0, 0.375, 0.6), (0.05, 0.2), ((0.5, 1.0), (0.9, 1.0), (0.5, 0.3))
        )
    ]
    how = (
        f"Simulated (seeds are the cells), n0 = {BASELINE}, alpha 0.05, beta 0.1, delta 0.3. A forked trial shares "
        "with a run of the baseline what comes before the change, and all of a run that does not come to it; a live "
        "one shares nothing. Drops by delta or more have to be noticed as often as live; smaller ones need not be."
    )
    return Section("Kill rule with forks", how, tuple(figure for law in laws for figure in _at(law, times)))


def _at(law: Law, times: int) -> Iterator[Figure]:
    (live, error), (forked, forked_error) = (
        simulated_rate(_kills(law, times, forked=forked)) for forked in (False, True)
    )
    failing = f"{law.failures:.0%} fail, {law.early:.0%} of them early"
    what = f"{failing}, {law.reach:.0%} reach the change, drop {law.lost:.2g}"
    if not law.drop:
        yield Figure(f"{what}: killed live", live, "at most 0.05", high=0.05, error=error)
        yield Figure(f"{what}: killed forked", forked, "at most 0.05", high=0.05, error=forked_error)
        return
    yield Figure(f"{what}: killed live", live, "-", error=error)
    both = math.hypot(error, forked_error)
    if law.lost >= DESIGN.delta:
        yield Figure(f"{what}: killed forked", forked, f"at least {live:.3f}, as live", low=live, error=both)
    else:
        yield Figure(f"{what}: killed forked", forked, "-", error=forked_error)


def _kills(law: Law, times: int, *, forked: bool) -> Iterator[bool]:
    rng = Random(f"{law} {forked}")
    return (_is_killed(law, rng, forked=forked) for _ in range(times))


def _is_killed(law: Law, rng: Random, *, forked: bool) -> bool:
    first = law.failures * law.early
    second = (law.failures - first) / (1 - first)

    def run() -> tuple[bool, bool, bool]:
        return rng.random() < first, rng.random() < second, rng.random() < law.reach

    runs = [run() for _ in range(BASELINE)]

    def mutant() -> Iterator[bool]:
        for n in range(DESIGN.n_max):
            drawn = run()
            early, late, reaches = runs[n] if forked and n < BASELINE else drawn
            yield early or (drawn[1] or rng.random() < law.drop if reaches else late)

    failed = sum(early or late for early, late, _ in runs)
    return table(failed).verdict(mutant()).decision is Decision.KILLED
