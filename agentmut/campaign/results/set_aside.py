"""The report's part on trials that an outage has spoiled."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from agentmut.nouns import SetAside
from agentmut.store import QuarantinedTrials


def set_aside(found: Iterable[QuarantinedTrials]) -> tuple[SetAside, ...]:
    """Return the trials that a run has set aside, in the form that reports keep."""
    return tuple(SetAside(**one._asdict()) for one in found)


def set_aside_notes(found: Iterable[SetAside]) -> Iterator[str]:
    """Yield a sentence for each outage."""
    for one in found:
        since, until = (
            f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in (one.since, one.until)
        )
        yield (
            f"{one.trials} trials between {since} and {until} UTC were set aside and run again: {one.reason}. "
            "`agentmut trials --quarantined` shows them"
        )
