"""The trials of a campaign that an outage has spoiled: they are no evidence, and are run again.

A watch sees all trials of the original and of mutants in the order in which they end. Where it finds an outage, the
trials of that window are set aside, and the campaign's state is made again of all other trials, as `resume` makes it.
So the decisions are a function of the trials that count, whatever counted before.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Ending, Outcome
from agentmut.stats import EndedTrial, Totals, burst_at_end

MOST_ROUNDS = 8
"""How often a campaign runs spoiled trials again before it is given up."""
LONGEST_PAUSE = 60.0
"""Seconds at most that the service is given before trials are run again; they double from one second on."""
CALM = 4
"""How many trials in a row have to be evidence before an outage counts as over."""
RECENT = 64
"""The last trials that are remembered: refusals among them belong together."""
SEVERAL = 2
"""How many agents have to meet the same trouble before it is the service's."""

FAILURES = "more trials failed together than chance allows"
REFUSALS = "the model service refused requests of agents that it had answered before"
TROUBLE = "the model service was in trouble with several agents at once"


class Suspicion(NamedTuple):
    """Trials that an outage has spoiled."""

    launches: tuple[Launch, ...]
    reason: str


@dataclass
class Watch:
    """The trials that this run executed, in the order of their ends; stored trials only fill their lanes."""

    harmed: Callable[[], bool]
    """Whether an outage has cost a mutant its decision, or the original its trials."""
    doubtful: Callable[[], Iterable[Launch]] = tuple
    """Trials that failed in a row and ended a verdict: they are run again once."""
    ended: int = 0
    """How many trials have ended."""
    launches: deque[Launch] = field(default_factory=partial(deque, maxlen=RECENT))
    """The last ones that have ended: no window is wider, so the others are forgotten."""
    seen: deque[EndedTrial] = field(default_factory=partial(deque, maxlen=RECENT))
    totals: Totals = field(default_factory=Totals)
    found: Suspicion | None = None
    _answered: set[str] = field(default_factory=set)
    """The mutants (empty: the original) that the service has answered."""
    _began: bool = False
    """Whether a trial of this run did more than raise at once."""
    _refused: deque[int] = field(default_factory=partial(deque, maxlen=RECENT))
    """By their number, from 1, the last trials that were refused."""
    _troubled: list[tuple[int, Launch]] = field(default_factory=list)
    _stored: set[Launch] = field(default_factory=set)
    _again: bool = False

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Record a trial, and look for an outage among the latest trials.

        While no trial of this run has begun, trials that raise at once show that something is missing around the agent,
        such as a key. They show no outage.
        """
        self._began = self._began or not (result.stored or result.never_began)
        if result.never_began and not self._began:
            return
        seen = seen_of(launch, result)
        self.totals.add(seen)
        if result.stored:
            self._answered |= {launch.mutant} if result.outcome.is_evidence else set()
            self._stored.add(launch)
            return
        self.ended += 1
        self.launches.append(launch)
        self.seen.append(seen)
        self.found = self.found or self._burst() or self._refusals(result) or self._trouble(launch, result)
        if result.outcome.is_evidence:
            self._answered.add(launch.mutant)

    def begins_again(self) -> None:
        """Note that agents can run, as an earlier round showed: a trial that raises at once is now a failure."""
        self._began = self._again = True

    def at_end(self) -> Suspicion | None:
        """Return the suspicion that is left when no trial remains to run and nothing shows the outage's end."""
        return self.found or self._spoiled() or self._doubt()

    def _doubt(self) -> Suspicion | None:
        """Return what ended a verdict of this run; what is stored, or was made again, is no longer in doubt."""
        launches = () if self._again else tuple(self.doubtful())
        return Suspicion(launches, FAILURES) if launches and not self._stored.intersection(launches) else None

    def _burst(self) -> Suspicion | None:
        size = burst_at_end(self.seen, self.ended, self.totals)
        return Suspicion(tuple(self.launches)[-size:], FAILURES) if size else None

    def _refusals(self, result: TrialResult) -> Suspicion | None:
        """Return the suspicion that services refuse several agents in a row, although one was answered before."""
        if result.ending is not Ending.REFUSED:
            return None
        self._refused.append(self.ended)
        launches = tuple(self.launches)
        recent = [i - self.ended - 1 for i in self._refused if i > self.ended - RECENT]
        refused = {launches[i].mutant for i in recent}
        if len(refused) < SEVERAL or not refused & self._answered:
            return None
        return Suspicion(launches[recent[0] :], REFUSALS)

    def _trouble(self, launch: Launch, result: TrialResult) -> Suspicion | None:
        """Return the suspicion of an outage that is over and that several agents met; None where there is none."""
        if result.outcome is Outcome.INFRASTRUCTURE:
            self._troubled.append((self.ended, launch))
        if not self._troubled:
            return None
        calm = all(judged.failed is not None for judged in tuple(self.seen)[-CALM:])
        return self._spoiled() if calm else None

    def _spoiled(self) -> Suspicion | None:
        shared = [group for group in self._groups() if len({launch.mutant for launch in group}) >= SEVERAL]
        shared += [group for group in self._groups() if all(not launch.mutant for launch in group)]
        launches = tuple(launch for group in shared for launch in group)
        return Suspicion(launches, TROUBLE) if launches and self.harmed() else None

    def _groups(self) -> list[list[Launch]]:
        """Return the trials in trouble, grouped where only a few other trials lie between them."""
        groups: list[list[Launch]] = []
        before = -RECENT
        for number, launch in self._troubled:
            if number - before > CALM:
                groups.append([])
            groups[-1].append(launch)
            before = number
        return groups


def seen_of(launch: Launch, result: TrialResult) -> EndedTrial:
    """Return a trial in the form that the search for bursts reads."""
    spent = result.trace.service
    troubled = result.outcome is Outcome.INFRASTRUCTURE or result.attempts > 1
    sign = troubled or result.ending is Ending.EMPTY_ANSWER or bool(spent and spent.failed)
    failed = result.outcome is not Outcome.PASS if result.outcome.is_evidence else None
    return EndedTrial(launch.mutant, launch.scenario, failed, sign)


def pause_before(round_: int) -> float:
    """Return seconds that the service is given before the round of that number, from 1."""
    return min(2.0 ** (round_ - 1), LONGEST_PAUSE)


def too_long(reason: str, then: str = "`agentmut resume`") -> str:
    """Return why a campaign is given up after the last round; `then` goes on."""
    return (
        f"{reason}, again after {MOST_ROUNDS} rounds. Check the model endpoint and the network, then {then}: finished "
        "trials are kept, and those that the outage spoiled are run again"
    )
