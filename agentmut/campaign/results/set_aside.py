"""The report's part on trials that an outage has spoiled."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from agentmut.nouns import SetAside
from agentmut.store import QuarantinedTrials


def set_aside(found: Iterable[QuarantinedTrials]) -> tuple[SetAside, ...]:
    """Return the trials that a run has set aside, in the form that reports keep."""
    return tuple(SetAside(**trials._asdict()) for trials in found)


def set_aside_notes(found: Iterable[SetAside]) -> Iterator[str]:
    """Yield a sentence for each outage."""
    for trials in found:
        since, until = (
            f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in (trials.since, trials.until)
        )
        yield (
            f"{trials.trials} trials between {since} and {until} UTC were set aside and run again: {trials.reason}. "
            "`agentmut trials --quarantined` shows them"
        )
