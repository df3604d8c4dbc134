"""Runs of killed mutants after their kills: they tell what a CI job sees, and decide nothing.

They begin once every mutant has its answer, so that a budget goes to verdicts first. Their repeats are their own, so
that no verdict ever rests on them, and no kill has chosen them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.lane import TROUBLE_PATIENCE
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Status
from agentmut.stats import AfterKill
from agentmut.store import LATER, is_later

Place = tuple[str, str]
"""A mutant's id, and a scenario that killed it."""


def is_after_kill(launch: Launch) -> bool:
    """Return whether a trial is a run of a mutant after its kill."""
    return bool(launch.mutant) and is_later(launch.repeat)


def final_kills(mutants: Iterable[Mutant], arms: Mapping[str, Arm]) -> Iterator[Place]:
    """Yield the id of each killed mutant with each scenario whose trials its kill has chosen."""
    for mutant in mutants:
        arm = arms.get(mutant.id)
        if arm and arm.status is Status.KILLED:
            yield from ((mutant.id, name) for name in arm.chosen_by_kill)


@dataclass
class Job:
    """The runs of one mutant on one scenario; they are counted in the order of their repeats."""

    counts: AfterKill
    launched: int = 0
    seen: int = 0
    """Runs that are counted."""
    trouble: int = 0
    """Runs in a row that are no evidence."""
    arrived: dict[int, bool | None] = field(default_factory=dict)
    """Number of a run -> whether it failed, for runs that wait for an earlier run; None is a run without evidence."""

    @property
    def is_given_up(self) -> bool:
        """Return whether the service is in so much trouble that no further run is made."""
        return self.trouble >= TROUBLE_PATIENCE

    @property
    def is_over(self) -> bool:
        """Return whether no further run is wanted."""
        return not self.counts.due or self.is_given_up

    @property
    def wants_run(self) -> bool:
        """Return whether one more run is needed whatever those under way show."""
        return not self.is_over and self.launched - self.seen < self.counts.due

    def arrive(self, number: int, failed: bool | None) -> None:
        """Take in a run, and count every run that has become consecutive; None is a run that is no evidence."""
        self.arrived[number] = failed
        while self.seen in self.arrived and not self.is_over:
            next_failed = self.arrived.pop(self.seen)
            self.seen += 1
            self.trouble = self.trouble + 1 if next_failed is None else 0
            self.counts = self.counts if next_failed is None else self.counts.after(failed=next_failed)


@dataclass
class AfterKills:
    """The runs after all kills of a campaign."""

    wanted: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Scenario -> the passes that the largest CI job needs there, and its runs; empty for a campaign without."""
    first: Mapping[str, int] = field(default_factory=dict)
    """Scenario -> the repeat with which mutants' trials begin, unless it is 0."""
    stored: Collection[tuple[str, str, int]] | None = None
    """Mutant, scenario and repeat of the runs that there are, where none can be made; None where all can."""
    jobs: dict[Place, Job] = field(default_factory=dict)
    has_begun: bool = False
    _open: list[Place] = field(default_factory=list)

    def begin(self, kills: Iterable[Place]) -> None:
        """Begin the runs after these kills."""
        self.has_begun = True
        for place in kills:
            if place[1] in self.wanted and place not in self.jobs:
                self.jobs[place] = Job(AfterKill(*self.wanted[place[1]]))
                self._open.append(place)

    def launch(self) -> Launch | None:
        """Choose the next run; None if none can be launched now."""
        self._open = [place for place in self._open if not self.jobs[place].is_over]
        launch = next(self._launches(), None)
        if launch:
            self.jobs[launch.mutant, launch.scenario].launched += 1
        return launch

    def _launches(self) -> Iterator[Launch]:
        for mutant, scenario in self._open:
            job = self.jobs[mutant, scenario]
            repeat = self.first.get(scenario, 0) + LATER + job.launched
            if job.wants_run and (self.stored is None or (mutant, scenario, repeat) in self.stored):
                yield Launch(mutant, scenario, repeat, job.launched)

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a run."""
        failed = result.outcome != "pass" if result.outcome.is_evidence else None
        self.jobs[launch.mutant, launch.scenario].arrive(launch.number, failed)

    def on(self, mutant: str, scenario: str) -> AfterKill | None:
        """Return the runs after a kill so far; None for a campaign without such runs."""
        if scenario not in self.wanted:
            return None
        job = self.jobs.get((mutant, scenario))
        return job.counts if job else AfterKill(*self.wanted[scenario])
