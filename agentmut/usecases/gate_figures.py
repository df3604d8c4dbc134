"""Requirements on figures by their path, `reliability.pass_hat_4 >= 0.2`: read, and compared with evidence."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agentmut._base import UsageError, nearest
from agentmut.campaign import FIGURES, baseline_reliability, figure
from agentmut.nouns import Reliability, Result
from agentmut.stats import Interval
from agentmut.usecases.gate_decision import Requirement, Standing
from agentmut.usecases.gate_requirements import missing
from agentmut.usecases.stored_reports import Report

ERROR = 0.05
"""The chance that any interval of the requirements, read together, misses its figure."""
STOPPED = "but outcomes decided how many runs there are; `agentmut test --method fixed` fixes their number"
_WRITTEN = re.compile(r"\s*reliability\.([a-z0-9_]+)\s*(>=|<=)\s*(\d+(?:\.\d*)?|\.\d+)\s*")


class Limit(NamedTuple):
    """A figure of reliability, and the limit on it."""

    written: str
    figure: str
    at_least: bool
    """True for `>=`, False for `<=`."""
    limit: float


def read_limits(written: Sequence[str]) -> tuple[Limit, ...]:
    """Return what `gate.require` asks for. Raises `UsageError` for a line that asks for nothing known."""
    return tuple(map(_read, written))


def _read(written: str) -> Limit:
    found = _WRITTEN.fullmatch(written)
    if found is None:
        raise UsageError(
            f"gate.require: {written!r} is no requirement. Write it as `reliability.pass_hat_4 >= 0.2`, with >= or <=."
        )
    name, sign, limit = found.groups()
    if re.sub(r"_[1-9]\d*$", "_K", name) not in FIGURES and name not in FIGURES:
        raise UsageError(f"gate.require: reliability.{name}: no such figure. {nearest(name, FIGURES)}")
    return Limit(" ".join(written.split()), name, sign == ">=", float(limit))


def reliability_in(report: Report) -> Reliability | None:
    """Return the reliability in a report; None if there is none."""
    return baseline_reliability(report) if isinstance(report, Result) else report.reliability


def requirement_on(asked: Limit, found: Reliability, together: int, run: str) -> Requirement:
    """Compare one of `together` requirements with the figures of a run.

    Met where the whole interval is on the right side of the limit, not met where it is on the wrong one, else open.
    """
    try:
        shown = figure(found, asked.figure, 1 - ERROR / together)
    except UsageError as error:
        return missing(asked.written, str(error))
    worst, best = (shown.low, shown.high) if asked.at_least else (-shown.high, -shown.low)
    limit = asked.limit if asked.at_least else -asked.limit
    standing = Standing.MET if worst >= limit else Standing.FAILED if best < limit else Standing.OPEN
    said = _interval_in_words(shown)
    if standing is Standing.MET and found.early_stopping and shown.low < shown.high:
        standing, said = Standing.SHORT, f"{said}, {STOPPED}"
    return Requirement(name=asked.written, standing=standing, reason=said, run=run)


def _interval_in_words(shown: Interval) -> str:
    if shown.low == shown.high:
        return f"{shown.low:g}, {shown.method}"
    return f"{shown.estimate:.3g} [{shown.low:.3g}, {shown.high:.3g}] ({shown.level:.4g} {shown.method})"
