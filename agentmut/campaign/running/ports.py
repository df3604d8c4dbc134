"""The ports of the loop: everything that touches the world."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from agentmut.campaign.decision.quarantine import Suspicion
from agentmut.campaign.running.forks import Forks
from agentmut.campaign.running.trial_store import TrialStore
from agentmut.campaign.trials import Suite
from agentmut.nouns import Cassette
from agentmut.recording import Purse, Redactor
from agentmut.store import Claims, Unshared
from agentmut.trial import Executor, Pace

Clock = Callable[[], float]
Progress = Callable[[], None]


class Ports(NamedTuple):
    """The ports of the loop: everything that touches the world."""

    executor: Executor
    store: TrialStore
    suite: Suite
    now: Clock
    """Seconds since the epoch."""
    progress: Progress
    redactor: Redactor = Redactor(())
    keep_cassette: Callable[[Cassette], None] = lambda cassette: None
    judges_usd: Clock = lambda: 0.0
    """What model judges have cost in this process so far, as far as their prices are known."""
    pace: Pace | None = None
    """How long model services usually take: judges timeouts of earlier runs again. None takes them as they are."""
    evaluator_seconds: float = 60.0
    """What the evaluators of a scenario may take on one run."""
    forks: Forks | None = None
    """The recorded runs that trials of mutants go along; None where all trials are live."""
    claims: Claims = Unshared()
    """Which trials this run is executing, for other runs on the same store to see."""
    elapsed: Clock | None = None
    """Seconds since any moment, by a clock that never jumps: how long the run is at work. None takes `now`."""
    evaluators_apart: bool = False
    """Whether evaluators that run code of users are asked in a process apart."""
    purse: Purse | None = None
    """What model calls of trials may still cost; None without a budget in money."""


class Guard(NamedTuple):
    """The handling of outages in one run."""

    suspicion: Callable[[bool], Suspicion | None]
    """What outages have spoiled so far; told whether nothing is left to run."""
    set_aside: Callable[[Sequence[str], str], object]
    """Puts trials into quarantine: their keys, and the reason."""
    pause: float = 0.0
    """Seconds before the first trial."""


UNGUARDED = Guard(lambda at_end: None, lambda keys, reason: None)
