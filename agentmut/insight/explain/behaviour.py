"""Tests on stored runs whether a survivor's behaviour has changed although no pass rate dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from agentmut.insight.explain.lost_and_gained import LostAndGained, OriginalRuns, shown
from agentmut.insight.fingerprint import Columns, Fingerprint, Reference, in_words
from agentmut.nouns import BehaviourChange
from agentmut.stats import Aspect, Stage, TraceComparison, adjust, compare_traces

ALPHA = 0.05
EXACT = 0.6
"""The share of alpha that exact tests of what is lost or new have; the rest goes to the trace test."""
POWER = 0.9
LARGEST_UNSEEN = 0.55
"""The largest share of runs of which it may still be said that nothing new shows in it."""
LARGEST_LOST = 0.75
"""The largest share of the original's runs of which it may still be said that nothing is lost that shows in it."""
SUSPICIOUS = 0.25
"""A p-value below it is too small for saying that behaviour is unchanged."""
PERMUTATIONS = 999
STAGES = (Stage(199, 0.2), Stage(799, 0.05))
"""Where a trace test ends early, since its p-value can no longer show a change."""
ENOUGH = 100
"""Runs of the original that are compared with: more cost time and add little beside a dozen of the mutant."""
FEWEST = 4

Sample = Sequence[Fingerprint]


class ComparedRuns(NamedTuple):
    """The comparison of a mutant with the original on one scenario."""

    scenario: str
    runs: Sample
    """Its first runs: a block whose size was fixed before any of them."""


class Finding(NamedTuple):
    """The results of both tests on one scenario."""

    scenario: str
    traces: TraceComparison
    columns: Columns
    exact: LostAndGained

    @property
    def p_value(self) -> float:
        """Return the smaller p-value of both tests, each divided by its share of alpha."""
        return min(1.0, self.traces.test.p_value / (1 - EXACT), self.exact.p_value / EXACT)


@dataclass
class TraceTest:
    """Compares mutants with the original; the original's runs are read once.

    `original`: by scenario, in the order of the repeats. Deterministic under `seed`.
    """

    original: Mapping[str, Sample]
    seed: int
    alpha: float = ALPHA
    _references: dict[str, Reference] = field(default_factory=dict)
    _shown: dict[str, OriginalRuns] = field(default_factory=dict)

    def change(self, mutant: str, blocks: Sequence[ComparedRuns]) -> BehaviourChange | None:
        """Return the finding on a mutant; None where no scenario has enough runs.

        On each scenario `compare_traces` for all features together, and exact tests of each feature that is lost or
        new; Holm over the mutant's scenarios. The chance that an agent which behaves
        like the original is said to have changed is at most alpha, given that who is asked about does not hang on
        the runs compared. Survivors are chosen by them, but a mutant that is no worse survives nearly always, and
        failures, which are what others are dropped for, would rather show a change.
        """
        usable = [block for block in blocks if self._enough(block)]
        if not usable:
            return None
        level = self.alpha / len(usable)
        findings = [self._finding(mutant, block, level) for block in usable]
        adjusted = adjust([finding.p_value for finding in findings], self.alpha).p_values
        most = min(range(len(usable)), key=lambda i: (adjusted[i], usable[i].scenario))
        changed = adjusted[most] <= self.alpha
        moved = tuple(findings[most].exact.moved_features(EXACT * level)) if changed else ()
        visible, losable = (
            (None, None) if changed or len(usable) < len(blocks) else _noticeable(findings, level)
        )
        suspicious = min(finding.p_value for finding in findings) < SUSPICIOUS
        unchanged = _at_most(visible, LARGEST_UNSEEN) and _at_most(losable, LARGEST_LOST) and not suspicious
        return BehaviourChange(
            changed=changed if changed or unchanged else None,
            p=round(adjusted[most], 6),
            scenario=usable[most].scenario,
            feature=(moved[0].words if moved else _moved(findings[most])) if changed else "",
            trials=sum(len(block.runs) for block in usable),
            visible=visible,
            losable=losable,
            shown=moved,
        )

    def _enough(self, block: ComparedRuns) -> bool:
        return len(block.runs) >= FEWEST and len(self.original.get(block.scenario, ())) >= 2 * FEWEST

    def _finding(self, mutant: str, block: ComparedRuns, level: float) -> Finding:
        scenario = block.scenario
        if scenario not in self._references:
            self._references[scenario] = Reference(self.original[scenario][:ENOUGH])
            self._shown[scenario] = OriginalRuns(tuple(map(shown, self.original[scenario][:ENOUGH])))
        columns = self._references[scenario].columns(block.runs)
        exact = LostAndGained(self._shown[scenario], tuple(map(shown, block.runs)))
        return Finding(scenario, self._compared(columns, level, mutant, scenario), columns, exact)

    def _compared(self, columns: Columns, level: float, *what: str) -> TraceComparison:
        from agentmut._base import digest_of

        # up to three labellings tie at the smallest p-value: a level below 3/(permutations + 1) is out of reach
        permutations = max(PERMUTATIONS, round(5 / ((1 - EXACT) * level)))
        rng = np.random.default_rng(int(digest_of([self.seed, *what])[:16], 16))
        return compare_traces(columns.baseline, columns.candidate, rng, permutations, STAGES)


def _noticeable(found: Sequence[Finding], level: float) -> tuple[float | None, float | None]:
    """Return in which share of the mutant's runs something new would be noticed on every scenario with `POWER`, and
    in which share of the original's something that is lost.
    """
    new, lost = [], []
    for each in found:
        tests, n0, n = each.exact.tests, len(each.exact.original.runs), len(each.exact.mutant)
        new.append(_share(tests.fewest_new(EXACT * level), n))
        lost.append(_share(tests.fewest_lost(EXACT * level), n0))
    return _largest(new), _largest(lost)


def _share(needed: int | None, n: int) -> float | None:
    return None if needed is None else round(share_noticed(needed, n), 4)


def _largest(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return max(known) if len(known) == len(shares) else None


def _at_most(share: float | None, limit: float) -> bool:
    return share is not None and share <= limit


@lru_cache(maxsize=1024)  # scenarios of a size need the same few counts
def share_noticed(needed: int, n: int, power: float = POWER) -> float:
    """Return the share s with P(Binomial(n, s) >= needed) = `power`: what shows in this share of runs is noticed so
    often.

    By the beta quantile that the binomial tail is, so it is exact.

    >>> round(share_noticed(3, 10), 3)
    0.45
    """
    from scipy.stats import beta

    return float(beta.ppf(power, needed, n - needed + 1))


def _moved(found: Finding) -> str:
    moved = found.traces.moved
    if moved is None:
        return ""
    feature = found.columns.features[moved.column]
    return in_words(feature, up=moved.z > 0, spread=moved.aspect is Aspect.SCALE)
