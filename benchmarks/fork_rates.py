"""How often are mutants killed whose trials go along the baseline's runs? Simulated coins on the real decision tables.

A run fails in the part that original and mutant share, or after it. A mutant's trial shares the first part with a run
of the baseline, or all of it where that run does not reach the change. `live` shares nothing.
"""

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import NamedTuple

from agentmut.stats import Decision, KillDesign, KillTable, decision_table

DESIGN = KillDesign(0.05, 0.10, 0.30, 100)
CAMPAIGNS = 4_000


class Law(NamedTuple):
    """How runs fail."""

    failures: float
    """Share of the original's runs that fail."""
    early: float
    """Share of those failures that fall in the part that is shared."""
    reach: float
    """Share of runs that come to the change."""
    drop: float
    """Share of the runs that come to the change and would pass, which it makes fail."""


@cache
def table(failures: int, trials: int) -> KillTable:
    """Return the table of one scenario."""
    return decision_table(failures, trials, DESIGN)


def verdicts(law: Law, trials: int, *, forked: bool, rng: Random) -> Iterator[tuple[Decision, int]]:
    """Yield what becomes of a mutant in each campaign, and after how many trials."""
    first = law.failures * law.early
    second = (law.failures - first) / (1 - first)
    for _ in range(CAMPAIGNS):
        runs = [
            (rng.random() < first, rng.random() < second, rng.random() < law.reach) for _ in range(trials)
        ]
        failed = sum(early or late for early, late, _ in runs)

        def mutant(runs: list[tuple[bool, bool, bool]] = runs) -> Iterator[bool]:
            for n in range(DESIGN.n_max):
                drawn = rng.random() < first, rng.random() < second, rng.random() < law.reach
                early, late, reaches = runs[n] if forked and n < len(runs) else drawn
                yield early or (drawn[1] or rng.random() < law.drop if reaches else late)

        stopped = table(failed, trials).verdict(mutant())
        yield stopped.decision, stopped.n


def main() -> None:
    """Print the share of campaigns in which a mutant is killed and survives, and its trials on average."""
    print(
        "failures early reach  drop baseline |  killed live forked | survived live forked | trials live forked"
    )
    for trials in (20, 50):
        for failures, early, reach, drop in LAWS:
            law, cells = Law(failures, early, reach, drop), []
            for forked in (False, True):
                found = list(verdicts(law, trials, forked=forked, rng=Random(f"{law} {trials} {forked}")))
                kills = sum(d is Decision.KILLED for d, _ in found) / len(found)
                survived = sum(d is Decision.SURVIVED for d, _ in found) / len(found)
                cells.append((kills, survived, sum(n for _, n in found) / len(found)))
            columns = [f"{live:11.3f} {forked:6.3f}" for live, forked in zip(*cells, strict=True)]
            print(f"{failures:8} {early:5} {reach:5} {drop:5} {trials:8} | {' | '.join(columns)}")


LAWS = [
    (failures, early, reach, drop)
    for drop in (0.0, 0.3, 0.6)
    for failures in (0.05, 0.2)
    for early, reach in ((0.5, 1.0), (0.9, 1.0), (0.5, 0.3))
    if reach == 1.0 or drop != 0.3
]


if __name__ == "__main__":
    main()
