"""Has a survivor's behaviour changed, though no pass rate dropped? The trace test, on stored runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from agentmut.insight.fingerprint import Columns, Fingerprint, Reference, in_words
from agentmut.nouns import BehaviourChange
from agentmut.stats import Aspect, TraceComparison, adjust, compare_traces

ALPHA = 0.05
POWER = 0.9
LARGEST_UNSEEN = 0.55
"""The largest share of runs of which it may still be said that nothing shows in it."""
PERMUTATIONS = 999
ENOUGH = 100
"""Runs of the original that are compared with: more cost time and add little beside a dozen of the mutant."""
FEWEST = 4
DRAWS = 2

Sample = Sequence[Fingerprint]


class Compared(NamedTuple):
    """The comparison of a mutant with the original on one scenario."""

    scenario: str
    runs: Sample
    """Its first runs: a block whose size was fixed before any of them."""


@dataclass
class TraceTest:
    """Compares mutants with the original; the original's runs are read once.

    `original`: by scenario, in the order of the repeats. Deterministic under `seed`.
    """

    original: Mapping[str, Sample]
    seed: int
    alpha: float = ALPHA
    _references: dict[str, Reference] = field(default_factory=dict)
    _needed: dict[tuple[str, int, int], int | None] = field(default_factory=dict)

    def change(self, mutant: str, blocks: Sequence[Compared]) -> BehaviourChange | None:
        """Return the trace test's finding on a mutant; None where no scenario has enough runs.

        `compare_traces` on each scenario, Holm over the mutant's scenarios. The chance that an agent which behaves
        like the original is said to have changed is at most alpha, given that who is asked about does not hang on
        the runs compared. Survivors are chosen by them, but a mutant that is no worse survives nearly always, and
        failures, which are what others are dropped for, would rather show a change.
        """
        usable = [block for block in blocks if self._enough(block)]
        if not usable:
            return None
        level = self.alpha / len(usable)
        found = [self._compared(mutant, block, level) for block in usable]
        adjusted = adjust([test.test.p_value for test, _ in found], self.alpha).p_values
        most = min(range(len(usable)), key=lambda i: (adjusted[i], usable[i].scenario))
        changed = adjusted[most] <= self.alpha
        visible = None if changed or len(usable) < len(blocks) else self._visible(usable)
        unchanged = visible is not None and visible <= LARGEST_UNSEEN
        return BehaviourChange(
            changed=True if changed else False if unchanged else None,
            p=round(adjusted[most], 6),
            scenario=usable[most].scenario,
            feature=_moved(*found[most]) if changed else "",
            trials=sum(len(block.runs) for block in usable),
            visible=None if visible is None else round(visible, 4),
        )

    def _enough(self, block: Compared) -> bool:
        return len(block.runs) >= FEWEST and len(self.original.get(block.scenario, ())) >= 2 * FEWEST

    def _compared(self, mutant: str, block: Compared, level: float) -> tuple[TraceComparison, Columns]:
        table = self._reference(block.scenario).columns(block.runs)
        return self._test(table.baseline, table.candidate, level, mutant, block.scenario), table

    def _reference(self, scenario: str) -> Reference:
        if scenario not in self._references:
            self._references[scenario] = Reference(self.original[scenario][:ENOUGH])
        return self._references[scenario]

    def _test(
        self, baseline: "np.ndarray", candidate: "np.ndarray", level: float, *what: str
    ) -> TraceComparison:
        # up to three labellings tie at the smallest p-value: a level below 3/(permutations + 1) is out of reach
        permutations = max(PERMUTATIONS, round(5 / level))
        return compare_traces(baseline, candidate, self._rng(*what), permutations)

    def _rng(self, *what: str) -> Generator:
        from agentmut._base import digest_of

        return np.random.default_rng(int(digest_of([self.seed, *what])[:16], 16))

    def _visible(self, blocks: Sequence[Compared]) -> float | None:
        """Return the share of runs that a new feature must show in to be noticed on every scenario with `POWER`."""
        shares = []
        for block in blocks:
            key = (block.scenario, len(block.runs), len(blocks))
            if key not in self._needed:
                self._needed[key] = self._runs_needed(*key)
            needed = self._needed[key]
            if needed is None:
                return None
            shares.append(share_noticed(needed, len(block.runs)))
        return max(shares)

    def _runs_needed(self, scenario: str, n: int, tests: int) -> int | None:
        """Return how many of `n` runs must show something new for the test to notice; None where all would not do.

        Found by the test itself, on the original's own runs: some of them stand for the mutant, and a column that is
        1 in the first x of these and 0 everywhere else stands for what is new. The worst of a few such draws.
        """
        runs = self.original[scenario][:ENOUGH]
        if len(runs) < 2 * n:
            return None
        needed = [self._needed_on(runs, n, self.alpha / tests, draw, scenario) for draw in range(DRAWS)]
        return None if None in needed else max(x for x in needed if x is not None)

    def _needed_on(self, runs: Sample, n: int, level: float, draw: int, scenario: str) -> int | None:
        chosen = {(i * len(runs) // n + draw) % len(runs) for i in range(n)}
        rest = [run for i, run in enumerate(runs) if i not in chosen]
        table = Reference(rest).columns([runs[i] for i in sorted(chosen)])
        for x in range(_least_possible(len(rest), n, level), n + 1):
            new = np.concatenate([np.zeros(len(rest)), np.arange(n) < x])
            baseline = np.column_stack([table.baseline, new[: len(rest)]])
            candidate = np.column_stack([table.candidate, new[len(rest) :]])
            found = self._test(baseline, candidate, level, scenario, "planted", str(draw))
            if found.test.p_value <= level:
                return x
        return None


def share_noticed(needed: int, n: int, power: float = POWER) -> float:
    """Return the share s with P(Binomial(n, s) >= needed) = `power`: what shows in this share of runs is noticed so
    often.

    By the beta quantile that the binomial tail is, so it is exact.

    >>> round(share_noticed(3, 10), 3)
    0.45
    """
    from scipy.stats import beta

    return float(beta.ppf(power, needed, n - needed + 1))


def _least_possible(n0: int, n: int, level: float) -> int:
    """Return the fewest runs, all of them the candidate's, whose hypergeometric chance is no more than the level."""
    from scipy.stats import hypergeom

    return next((x for x in range(1, n + 1) if hypergeom.pmf(x, n0 + n, x, n) <= level), n)


def _moved(test: TraceComparison, table: Columns) -> str:
    moved = test.moved
    if moved is None:
        return ""
    feature = table.features[moved.column]
    return in_words(feature, up=moved.z > 0, spread=moved.aspect is Aspect.SCALE)
