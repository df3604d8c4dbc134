"""One dimension, measured: its row, and who covers which of its items."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from agentmut.insight.coverage.nouns import CoverageItem, Dimension, DimensionCoverage, LeftOut


class Part(NamedTuple):
    """One dimension, measured: its row, and who covers its items."""

    row: DimensionCoverage
    covered: Mapping[CoverageItem, frozenset[str]] = MappingProxyType({})
    uncovered: Sequence[CoverageItem] = ()
    left_out: Sequence[LeftOut] = ()
    notes: Sequence[str] = ()


def row_of(dimension: Dimension, covered: int, total: float, basis: str) -> DimensionCoverage:
    """Return the row of a dimension with a known total."""
    value = min(1.0, covered / total)
    return DimensionCoverage(dimension=dimension, covered=covered, total=total, value=value, basis=basis)


def nothing(dimension: Dimension, why: str, left_out: Sequence[LeftOut] = ()) -> Part:
    """Return the part of a dimension that the agent does not have, or that no data describes."""
    row = DimensionCoverage(dimension=dimension, covered=0, total=None, value=None, basis=why)
    return Part(row, left_out=left_out)


def listed(dimension: Dimension, items: Iterable[tuple[CoverageItem, frozenset[str]]], basis: str) -> Part:
    """Return the part of a dimension whose items are all known before any run."""
    known = dict(items)
    covered = {item: by for item, by in known.items() if by}
    row = row_of(dimension, len(covered), len(known), basis)
    return Part(row, covered, tuple(item for item in known if item not in covered))
