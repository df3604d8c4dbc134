"""What formats of benchmarks have in common: times, rewards, and malformed records."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from agentmut._base import one_line
from agentmut.nouns import BrokenRecord, ForeignTrial, RecordedScore
from agentmut.trace_formats.records import Record

SUCCESS = 1e-6
"""How far a reward may be from 1, as tau-bench counts successes."""


def read_each(
    record: Record | BrokenRecord, trial: Callable[[Record], ForeignTrial]
) -> Iterator[ForeignTrial | BrokenRecord]:
    """Yield the trial of a record, or what is wrong with the record and where it stands."""
    if isinstance(record, BrokenRecord):
        yield record
        return
    try:
        yield trial(record)
    except KeyError as error:
        yield BrokenRecord(place=record.place, reason=f"it has no {error}")
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        yield BrokenRecord(place=record.place, reason=wrong_field(error))


def wrong_field(error: Exception) -> str:
    """Return what is wrong with a record; a type error of Python becomes a sentence."""
    said = one_line(error)
    if isinstance(error, AttributeError | TypeError):
        return f"a field is of another type than the format has it ({said})"
    return said


def seconds_of(written: Any) -> float | None:
    """Return a time of ISO 8601 in seconds since the epoch; None for any other value, and for a time before 1970.

    >>> seconds_of("2026-01-01T00:00:00Z")
    1767225600.0
    """
    try:
        found = datetime.fromisoformat(str(written)).timestamp()
    except (ValueError, OverflowError):
        return None
    return found if found >= 0 else None


def not_negative(field: str, written: Any) -> float:
    """Return a time or a duration as a number. Raises `ValueError` for a negative one."""
    found = float(written)
    if found < 0:
        raise ValueError(
            f"{field} is {written}: a time before 1970, or a negative duration, is no time of a run"
        )
    return found


def success(reward: float) -> RecordedScore:
    """Return whether a reward is 1, as a score: benchmarks count such runs as successes and no others."""
    return RecordedScore(value=abs(reward - 1) <= SUCCESS, reason=f"the reward is {reward:g}")
