"""The supported models of an agent that have answered (Eq. 19)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pydantic import ValidationError

from agentmut._base import UsageError, keep_json
from agentmut.insight.coverage.nouns import Coverage, CoverageItem, Dimension, DimensionCoverage, LeftOut
from agentmut.store import COVERAGE

_ROUTED = re.compile(
    r"^(?:(?:us|eu|apac|global)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\."
)
_BEDROCK_VERSION = re.compile(r"-v\d+(?::\d+)?$")
_LATEST = re.compile(r"[-@:]latest$")
_DATE = re.compile(r"[-@](?:20\d\d-\d\d-\d\d|20\d{6}|\d\d-\d{4}|[01]\d[0-3]\d|2[3-9](?:0[1-9]|1[0-2]))$")


def is_model(target: str, answered: str) -> bool:
    """Return whether the answering model is the target model.

    Case, what routes to a model (`openai/`, `us.anthropic.`), and `-latest` do not matter. A dated snapshot counts
    as the model of its name; where a snapshot is meant, only that one counts.

    >>> is_model("gpt-5.2", "openai/gpt-5.2-2026-01-01"), is_model("gpt-5.2", "gpt-5.2-mini")
    (True, False)
    >>> is_model("gpt-5.2-2026-01-01", "gpt-5.2")
    False
    """
    meant, said = _plain(target), _plain(answered)
    return said == meant or _DATE.sub("", said) == meant


def distinct_models(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in order, without blanks and without other spellings of an earlier name."""
    kept: dict[str, str] = {}
    for name in names:
        if name:
            kept.setdefault(_plain(name), name)
    return tuple(kept.values())


def _plain(name: str) -> str:
    last = name.strip().lower().rpartition("/")[2]
    return _LATEST.sub("", _BEDROCK_VERSION.sub("", _ROUTED.sub("", last)))


class Part(NamedTuple):
    """One dimension: its row, and the scenarios that cover its items."""

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


_AGAIN = "`agentmut coverage`"


def write_coverage(coverage: Coverage, folder: Path) -> None:
    """Write a coverage into a run's folder, whole or not at all; not on a read-only disk. Raises `StoreError`."""
    keep_json(coverage, folder / COVERAGE, _AGAIN)


def read_coverage(path: Path) -> Coverage:
    """Return the coverage that `write_coverage` wrote. Raise `UsageError` if the file is missing or invalid."""
    return parse_coverage(lambda: path.read_text(encoding="utf-8"), str(path))


def parse_coverage(text: Callable[[], str], place: str) -> Coverage:
    """Return the coverage in a text that `text` reads from a place. Raise `UsageError` if it cannot."""
    try:
        return Coverage.model_validate_json(text())
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(
            f"{place} cannot be read as a coverage: {said}. {_AGAIN} writes it anew; or delete it."
        ) from None
