"""Fork at the fault: the choice of the recorded run of the original that a mutant's trial follows.

Which one is a function of seed, mutant, scenario and the number of the trial. So a recorded run serves each mutant
once at most, and how it ended has no say in whether it is taken. Mutants take the runs in orders of their own: with one
order for all, a few runs that happen to miss a tool would decide about every mutant of it. A trial whose number is
beyond the baseline is live throughout.
"""

from pathlib import Path
from random import Random

from agentmut.campaign.decision.unforked_trials import UnforkedTrials
from agentmut.campaign.preparation.identity import trial_id
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.trials import Launch
from agentmut.nouns import Ending, Take
from agentmut.store import cassette_path, is_later, read_cassette
from agentmut.trial import TrialRequest
from agentmut.wire import kept_by_service

BLOCK = 10
"""Runs of the baseline within which a mutant has its own order; baselines mostly are multiples of it."""


class Forks:
    """The recorded runs of a campaign's baseline. `runs` is the folder of all runs of the project."""

    def __init__(self, plan: Plan, runs: Path) -> None:
        self._plan = plan
        self._runs = runs
        self._controls = {plan.destroyed.id, *(mutant.id for mutant in plan.identity)}
        self._executed_by: dict[tuple[str, int], str] = {}
        self.problems = UnforkedTrials()

    def taken_over(self, launch: Launch, run: str) -> None:
        """Note which run has executed a trial of the original, and so may have recorded it."""
        if not launch.mutant:
            self._executed_by[launch.scenario, launch.repeat] = run

    def request(self, launch: Launch, request: TrialRequest) -> TrialRequest:
        """Return the request of a launch: recorded, for the baseline; along a recorded run, for a mutant.

        A control is live, since it is to show what a service answers. So is a run after a kill.
        """
        if not launch.mutant:
            self.taken_over(launch, self._plan.run_id)
            return request._replace(record=not is_later(launch.repeat))
        live = launch.mutant in self._controls or is_later(launch.repeat)
        if live or launch.scenario in self.problems.refused:
            return request
        return request._replace(recorded=self._recorded(launch))

    def _recorded(self, launch: Launch) -> tuple[Take, ...]:
        scenario, repeat = launch.scenario, self._repeat(launch)
        run = self._executed_by.get((scenario, repeat))
        if run is None:
            return ()
        path = cassette_path(self._runs / run, trial_id(self._plan.seed, "", scenario, repeat))
        cassette = read_cassette(path) if path.exists() else None
        if cassette is None:
            self.problems.unrecorded[scenario] += 1
            return ()
        if state := next(filter(None, map(kept_by_service, cassette.takes)), ""):
            self.problems.refused[scenario] = state
            return ()
        return cassette.takes if Ending(cassette.ending).is_evidence else ()

    def _repeat(self, launch: Launch) -> int:
        """Return the repeat of the original whose run a mutant's trial goes along."""
        plan, scenario = self._plan, launch.scenario
        block, place = divmod(launch.repeat - plan.first_of_mutants.get(scenario, 0), BLOCK)
        order = Random(f"{plan.seed} {launch.mutant} {scenario} {block}").sample(range(BLOCK), BLOCK)
        return plan.first.get(scenario, 0) + block * BLOCK + order[place]
