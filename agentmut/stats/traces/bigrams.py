"""Sequences of tool names as counts of neighbouring pairs, which show a change of order."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from agentmut.stats.checks import check_count
from agentmut.stats.traces.samples import Array

START, END = "", ""
"""Mark the first and the last call; not a tool's name, since names are not empty."""
OTHER = ("other", "other pairs")


class Bigrams(NamedTuple):
    """Two samples of sequences as counts of neighbouring pairs."""

    baseline: Array
    candidate: Array
    pairs: tuple[tuple[str, str], ...]
    """What the columns count; "" stands before the first call and after the last. The last column is
    `OTHER` where there are more pairs than columns."""


def bigram_counts(
    baseline: Sequence[Sequence[str]], candidate: Sequence[Sequence[str]], limit: int = 24
) -> Bigrams:
    """Return how often each tool follows each other tool in each sequence, over the alphabet of both samples.

    Sequences are tuples of names, as `AgentTrace.tools_called` gives them; the empty one counts as
    ("", ""). At most `limit` columns: the pairs whose count differs from the pooled median in the most
    sequences are kept, ties in alphabetical order, and the others are counted together. The choice looks
    at both samples as one, so a permutation test on the columns stays valid.

    Raises `ValueError` for limit < 1, an empty tool name, or a string in the place of a sequence of names.
    """
    limit = check_count("limit", limit, 1)
    counted = [_pairs(sequence) for sequence in (*baseline, *candidate)]
    distinct = {id(count): count for count in counted}  # equal sequences share a count: see `_counted`
    pairs = sorted(set().union(*distinct.values()))
    lines = {key: [count[pair] for pair in pairs] for key, count in distinct.items()}
    counts = np.array([lines[id(count)] for count in counted], dtype=np.float64)
    counts = counts.reshape(len(counted), len(pairs))
    if len(pairs) > limit:
        counts, pairs = _capped(counts, pairs, limit)
    n0 = len(baseline)
    return Bigrams(counts[:n0], counts[n0:], tuple(pairs))


def _pairs(sequence: Sequence[str]) -> Counter[tuple[str, str]]:
    if isinstance(sequence, str) or not all(sequence):
        raise ValueError(f"a sequence must hold tool names that are not empty, got {sequence!r}")
    return _counted(tuple(sequence))


@lru_cache(maxsize=1024)  # most runs call the same few sequences of tools
def _counted(names: tuple[str, ...]) -> Counter[tuple[str, str]]:
    return Counter(pairwise((START, *names, END)))


def _capped(
    counts: Array, pairs: Sequence[tuple[str, str]], limit: int
) -> tuple[Array, list[tuple[str, str]]]:
    deviating = (counts != np.median(counts, axis=0)).sum(axis=0)
    order = np.argsort(-deviating, kind="stable")
    kept, others = np.sort(order[: limit - 1]), order[limit - 1 :]
    columns = np.column_stack([counts[:, kept], counts[:, others].sum(axis=1)])
    return columns, [*(pairs[i] for i in kept), OTHER]
