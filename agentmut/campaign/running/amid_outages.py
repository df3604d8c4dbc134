"""Runs amid outages of a model service: what an outage has spoiled is set aside, and run again."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from agentmut.campaign.decision.quarantine import (
    MOST_ROUNDS,
    TROUBLE,
    Suspicion,
    Watch,
    pause_before,
    too_long,
)
from agentmut.campaign.running.ports import Guard
from agentmut.campaign.running.work import Stop
from agentmut.store import Store


class WatchedWork(Protocol):
    """Work whose trials are watched for outages."""

    watch: Watch
    problem: str


W = TypeVar("W", bound=WatchedWork)


def run_amid_outages(
    store: Store,
    run: str,
    begin: Callable[[], W],
    carry_out: Callable[[W, Guard], Stop],
    then: str = "`agentmut resume`",
) -> tuple[W, Stop]:
    """Carry work out; where an outage has spoiled trials, begin again with the others, as `resume` does.

    `begin` makes the work before its first trial. `then` is the command that goes on, should no round end well.
    """
    reasons: list[str] = []
    work = begin()
    for round_ in range(MOST_ROUNDS + 1):
        guard = Guard(
            partial(_suspicion, work.watch, last=round_ == MOST_ROUNDS),
            partial(_set_aside, store, run, reasons),
            pause_before(round_) if round_ else 0.0,
        )
        stop = carry_out(work, guard)
        if stop is not Stop.QUARANTINED:
            return work, stop
        if round_ < MOST_ROUNDS:
            work = begin()
            work.watch.begins_again()
    work.problem = too_long(reasons[-1], then)
    return work, Stop.FAILED


def _suspicion(watch: Watch, at_end: bool, *, last: bool) -> Suspicion | None:
    """Return what outages have spoiled; in the last round only what would be taken for evidence."""
    suspicion = watch.at_end() if at_end else watch.found
    return None if suspicion and last and suspicion.reason == TROUBLE else suspicion


def _set_aside(store: Store, run: str, reasons: list[str], keys: Sequence[str], reason: str) -> None:
    reasons.append(reason)
    store.quarantine.add(run, keys, reason)
