"""Compare two samples of traces at planned looks that share one level exactly."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from agentmut.stats.traces.looks import DEFAULT_LOOKS, Looks, LooksVerdict, check_plan, looks_verdict
from agentmut.stats.traces.permutation import labellings, p_values, ranks_of_smallest
from agentmut.stats.traces.samples import Array, pool
from agentmut.stats.traces.trace_comparison import Block, StandardisedPool, TraceComparison, comparison_of

Samples = tuple[ArrayLike, ArrayLike]
"""The traces of a look, baseline first; the rows of earlier looks come first on either side."""


class SequentialComparison(NamedTuple):
    """The verdict of all looks, and the comparison at the last one."""

    verdict: LooksVerdict
    last: TraceComparison | None
    """Its test has the p-value of all looks so far; None where no look was taken."""


def compare_at_looks(
    looks: Iterable[Samples],
    rng: Generator,
    plan: Looks = DEFAULT_LOOKS,
    permutations: int = 999,
) -> SequentialComparison:
    """Compare samples that grow from look to look; `looks` gives the two samples of each, and may end early.

    The rows that come in between two looks, on either side, are a block. A line is one labelling of all blocks:
    within each block it says which rows count as the candidate's. Line 0 is the observed one, and a look goes on with
    the lines of the look before. It ranks the lines that no earlier look has crossed out, by the smallest of the three
    p-values of `compare_traces` over all rows so far. Look k crosses out the most extreme lines, as long as at most the
    share `plan.spent(k)` of all lines is crossed out. Ties are crossed out together or not at all. The behaviour has
    changed where line 0 is crossed out.

    Why the level is exact: let the rows within each block be exchangeable, given the rows of the other blocks. Given
    which rows a block has, line 0 then has the distribution of every other line, in all blocks at once. Statistics,
    ranks and crossing out treat all lines alike, and those of look k use no later row. So look k or an earlier one
    crosses out line 0 with the chance that each line has. This chance is the expected share of lines that are crossed
    out: at most `plan.spent(k)`, and less by ties and rounding only. A look that is not taken crosses out nothing,
    whatever decided to end.

    What has to be exchangeable: a block that has runs of one side only has one labelling, and shows nothing. So each
    block needs rows of both sides, and `Looks.baseline_sizes` deals a stored baseline out to the looks before any run
    of today is seen. Blocks may differ in size, and the service may change between blocks for both sides alike.

    The p-value of a look is the share of lines that are crossed out before it, or are at least as extreme as line 0 in
    it. It is valid over all looks so far. (Spending: K. Lan, D. DeMets, Biometrika 70 (1983) 659-663. The order of
    results by looks: D. Siegmund, Biometrika 65 (1978) 341-349.)

    Raises `ValueError` for more looks than planned, a look that adds no row to one of the samples, and what
    `compare_traces` refuses.
    """
    check_plan(plan)
    lines = _Lines(permutations, rng)
    p_values, last = list[float](), None
    for look, (baseline, candidate) in enumerate(looks, 1):
        last = lines.look(baseline, candidate, plan.spent(look))
        p_values.append(last.test.p_value)
        if p_values[-1] <= plan.spent(look):
            break
    return SequentialComparison(looks_verdict(p_values, plan), last)


class _Lines:
    """The labellings that go on from look to look, line 0 as observed, and which of them are crossed out."""

    def __init__(self, permutations: int, rng: Generator) -> None:
        self._permutations, self._rng = permutations, rng
        self._blocks: list[Block] = []
        self._labels: list[Array] = []
        self._crossed = np.zeros(permutations + 1, dtype=bool)

    def look(self, baseline: ArrayLike, candidate: ArrayLike, spent: float) -> TraceComparison:
        """Compare all rows so far, and cross out lines up to the share `spent` of all of them."""
        pooled = pool(baseline, candidate)
        self._grow(pooled.n0, pooled.n)
        going_on = np.flatnonzero(~self._crossed)
        if not pooled.values.shape[1]:
            return comparison_of(pooled, None, np.zeros((1, 3)), 1.0)
        prepared = StandardisedPool.from_samples(pooled, self._blocks)
        statistics = prepared.statistics(self._all_labels()[going_on])
        extreme = ranks_of_smallest(p_values(statistics)) + int(self._crossed.sum())
        self._crossed[going_on] = extreme <= spent * len(self._crossed) + 1e-9
        return comparison_of(pooled, prepared, statistics, float(extreme[0]) / len(self._crossed))

    def _grow(self, n0: int, n: int) -> None:
        block = Block(n0 - sum(b.n0 for b in self._blocks), n - sum(b.n for b in self._blocks))
        if min(block) < 1:
            raise ValueError(f"a look must add rows to both samples, got {block.n0} and {block.n} more")
        self._blocks.append(block)
        self._labels.append(labellings(block.n0, block.n, self._permutations, self._rng))

    def _all_labels(self) -> Array:
        parts = list(zip(self._blocks, self._labels, strict=True))
        before = [labels[:, : block.n0] for block, labels in parts]
        now = [labels[:, block.n0 :] for block, labels in parts]
        return np.concatenate([*before, *now], axis=1)
