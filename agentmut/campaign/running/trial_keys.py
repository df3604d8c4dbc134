"""The keys under which the trials of a run are stored, and found again."""

from collections.abc import Callable

from agentmut.campaign.preparation.identity import keys_of_repeats
from agentmut.campaign.running.work import Work
from agentmut.campaign.trials import Launch


class TrialKeys:
    """The keys of a run's trials. What the repeats of a trial share is computed once."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._mutants = {mutant.id: mutant for mutant in work.contenders}
        self._of_repeats: dict[tuple[str, str], Callable[[int], str]] = {}
        """By mutant and scenario, the function from a repeat to the key of the trial."""

    def of(self, launch: Launch) -> str:
        """Return the key of a trial; a stored trial with the same key can take its place."""
        where = (launch.mutant, launch.scenario)
        if where not in self._of_repeats:
            plan = self._work.plan
            self._of_repeats[where] = keys_of_repeats(
                plan.environment,
                plan.seed,
                config=self._config_digest(launch),
                mutant=launch.mutant,
                scenario=self._work.scenarios[launch.scenario].digest,
            )
        return self._of_repeats[where](launch.repeat)

    def _config_digest(self, launch: Launch) -> str:
        suite, mutant = self._work.suite, self._mutants.get(launch.mutant)
        config = mutant.apply(suite.full) if mutant else suite.full
        return suite.part(config, launch.scenario).digest
