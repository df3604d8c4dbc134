"""The kill rule for runs that can share seeds: mutant and original share their luck, so fewer trials suffice.

Kept are the seeds on which the recorded baseline passed; a trial of the mutant fails if it fails on such a seed. How
often the original itself fails there again is estimated from replays of it, and the kill rule decides as usual, with
the replays as its baseline. The recorded runs cannot be that baseline: they were selected for having passed.

Two conditions are the caller's. Seeds are as good as drawn at random, so that those replayed and those the mutant
runs on are alike; and each is replayed once at most, for replays of one seed are not independent.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Generic, NamedTuple, TypeVar

from agentmut.stats.checks import check_rate
from agentmut.stats.kill.rule import DEFAULT_DESIGN, Decision, KillDesign, KillTable, Stopped, decision_table

Seed = TypeVar("Seed", bound=Hashable)


@dataclass(frozen=True)
class ReplayDesign(Generic[Seed]):
    """The seeds that a mutant runs on, in this order, and the decisions."""

    seeds: tuple[Seed, ...]
    table: KillTable
    """Its baseline is the replays: f0 of the n0 failed."""

    def verdict(self, results: Iterable[tuple[Seed, bool]]) -> Stopped:
        """Consume (seed, failed) of the mutant's trials in order, up to the first decision.

        Undecided when all kept seeds are used without a decision; CONTINUE while some are left. Later results are
        not read.

        Raises `ValueError` where a result is not that of the next kept seed: a skipped seed would be selection; and
        for a result that is neither true nor false.
        """
        reached = self.table.verdict(())
        for i, (seed, failed) in enumerate(results):
            if reached.decision is not Decision.CONTINUE:
                break
            self._check_next(i, seed)
            f = reached.f + _truth("results", failed)
            reached = Stopped(self.table.decide(i + 1, f), i + 1, f)
        used_up = reached.n == len(self.seeds) and reached.decision is Decision.CONTINUE
        return reached._replace(decision=Decision.UNDECIDED) if used_up else reached

    def _check_next(self, i: int, seed: Seed) -> None:
        if i >= len(self.seeds):
            raise ValueError(f"results must be at most {len(self.seeds)}, one for each kept seed, got more")
        if seed != self.seeds[i]:
            raise ValueError(
                f"results must follow the kept seeds: number {i} must be {self.seeds[i]!r}, got {seed!r}"
            )


def replay_design(
    recorded: Mapping[Seed, bool],
    replays: Mapping[Seed, bool],
    design: KillDesign = DEFAULT_DESIGN,
) -> ReplayDesign[Seed]:
    """Return the kept seeds, in the order of `recorded`, and the decision table.

    Both mappings say for each seed whether the original passed; `recorded` in its first run, `replays` when run
    again. Not every kept seed needs a replay, but which ones have one must not depend on outcomes.

    Raises `ValueError` if no recorded run passed, if there are no replays, if one is of a seed that was not kept, or
    for outcomes that are neither true nor false.
    """
    kept = tuple(seed for seed, passed in recorded.items() if _truth("recorded", passed))
    if not kept:
        raise ValueError(
            f"recorded must hold a seed on which the original passed, got none in {len(recorded)}"
        )
    unknown = [seed for seed in replays if not recorded.get(seed, False)]
    if unknown:
        raise ValueError(
            f"replays must be of seeds on which the recorded run passed, got {unknown[0]!r} and "
            f"{len(unknown) - 1} others"
        )
    if not replays:
        raise ValueError("replays must hold a replay or more, got none: nothing tells how often luck changes")
    failures = sum(not _truth("replays", passed) for passed in replays.values())
    return ReplayDesign(kept, decision_table(failures, len(replays), design))


def _truth(name: str, value: object) -> bool:
    """Return `value` as a boolean: Python's, numpy's, 0 or 1. Refuse anything else: the text "fail" would be true."""
    if isinstance(value, str | bytes) or value not in (True, False):
        raise ValueError(f"{name} must be true or false, got {value!r}")
    return bool(value)


class Coupling(NamedTuple):
    """A model of shared luck, for planning: each trial uses its seed's own luck with chance `rho`, else fresh luck.

    The recorded run's luck is its seed's own. Luck is uniform in [0, 1); the agent passes if it is below its pass
    rate. So with rho = 1 a mutant fails on a kept seed exactly where its lower pass rate made the difference, and
    with rho = 0 seeds mean nothing.
    """

    p: float
    """Pass rate of the original."""
    drop: float
    """The part of the pass rate that the mutant loses."""
    rho: float

    @property
    def null_rate(self) -> float:
        """Return the chance that the original fails again on a seed on which it passed: (1 - rho)(1 - p)."""
        return (1 - self.rho) * (1 - self.p)

    @property
    def failure_rate(self) -> float:
        """Return the chance that the mutant fails there: rho drop/p + (1 - rho)(1 - p + drop)."""
        return self.rho * self.drop / self.p + (1 - self.rho) * (1 - self.p + self.drop)

    def passes(self, luck: float, rng: Random, *, mutant: bool) -> bool:
        """Simulate one trial on the seed whose own luck is `luck`."""
        used = luck if rng.random() < self.rho else rng.random()
        return used < self.p - (self.drop if mutant else 0.0)


def coupling(p: float, drop: float, rho: float) -> Coupling:
    """Return a checked `Coupling`. `ValueError` for p outside (0, 1], drop outside [0, p] or rho outside [0,
    1].
    """
    p = 1.0 if p == 1 else check_rate("p", p)
    return Coupling(
        p, check_rate("drop", drop, 0.0, p, closed=True), check_rate("rho", rho, 0.0, 1.0, closed=True)
    )
