"""Where proposed scenarios are run: every trial passes the ordinary loop and store, and counts once."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agentmut._base import RunInterruptedError
from agentmut.campaign import (
    Launch,
    RunPlan,
    Session,
    Stop,
    TrialList,
    failure,
    open_session,
    run_work,
    trial_key,
)
from agentmut.nouns import Execution, Mutant, Scenario
from agentmut.store import Store
from agentmut.trial import Detector, SuiteConfig


class SearchPlan(RunPlan):
    """A search before its first trial. `scenarios` are those of the suite; what is tried follows from the seed."""

    kind: str = "suggest"
    trials: int
    """Most runs of the search, those that were reused included: so the same command ends the same way."""
    repeats: int


GIVE_AGAIN = "Give the same command again to go on: finished trials are reused."


class WantedRuns(NamedTuple):
    """Runs of one agent on one scenario: the repeats from `first` up to, but not including, `end`."""

    scenario: Scenario
    mutant: Mutant | None
    first: int
    end: int

    @property
    def size(self) -> int:
        """Return the number of runs."""
        return self.end - self.first


class BudgetUsedUpError(Exception):
    """The search may not run what comes next; what it has found stands."""


class Bench:
    """Runs what a search wants and counts it. The only part of a search that touches the world."""

    def __init__(
        self, session: Session, store: Store, plan: SearchPlan, progress: Callable[[], None] = lambda: None
    ) -> None:
        self._session = session
        self._store = store
        self._progress = progress
        self._paid: set[str] = set()
        self.plan = plan
        self.executed = 0
        self.seconds = 0.0
        """That runs have taken so far, all rounds together: what `budget.minutes` limits."""
        self.stopped = ""
        """Why a budget of the project ended the search; empty while none has."""

    @property
    def trials_asked_for(self) -> int:
        """Return the number of different trials asked for so far, whether they were run or found in the store."""
        return len(self._paid)

    def cost(self, wanted: Sequence[WantedRuns]) -> int:
        """Return the number of trials of these that have not been asked for before."""
        return len({key for each in wanted for key in self._keys(each)} - self._paid)

    def affords(self, wanted: Sequence[WantedRuns], keep: int = 0) -> bool:
        """Return whether the budget of the search has room for all of it, and then for `keep` trials more."""
        return self.trials_asked_for + self.cost(wanted) + keep <= self.plan.trials

    def run(self, wanted: Sequence[WantedRuns]) -> list[tuple[Execution, ...]]:
        """Return the executions that are evidence, in the order of their repeats, for each that is wanted.

        Raises `BudgetUsedUpError` before anything is run where a budget has no room for all of it,
        `RunInterruptedError`, `RunError` where no trial can be run, or `UsageError` where a budget cannot be kept.
        """
        if not self.affords(wanted):
            raise BudgetUsedUpError(f"the budget of {self.plan.trials} trials (suggest.trials) is used up")
        missing = [each for each in wanted if self.cost([each])]
        if missing:
            self._carry_out(missing)
        return [self._found(each) for each in wanted]

    def _carry_out(self, wanted: Sequence[WantedRuns]) -> None:
        scenarios = {runs.scenario.name: runs.scenario for runs in wanted}
        suite = (*self._session.scenarios, *scenarios.values())
        session = open_session(self._session.project.model_copy(update={"scenarios": suite}))
        mutants = {runs.mutant.id: runs.mutant for runs in wanted if runs.mutant}
        launches = [
            Launch(runs.mutant.id if runs.mutant else "", runs.scenario.name, repeat, repeat)
            for runs in wanted
            for repeat in range(runs.first, runs.end)
        ]
        detectors = {name: Detector(mutant, session.suite.full) for name, mutant in mutants.items()}
        given = (session.suite, session.tests.scenarios, tuple(mutants.values()), detectors)
        work = TrialList(self.plan, *given, deque(launches))
        stop = run_work(session, work, self._store, progress=self._progress)
        self.executed, self.seconds = work.spend.trials, work.spend.seconds
        self._store.set_status(self.plan.run_id, "planned", self.seconds)  # the next round goes on from here
        self._raise(stop, work)
        self._paid.update(key for runs in wanted for key in self._keys(runs))

    def _raise(self, stop: Stop, work: TrialList) -> None:
        if work.problem:
            raise failure(work.problem, work.refused, GIVE_AGAIN)
        if stop is Stop.INTERRUPTED:
            raise RunInterruptedError(f"interrupted after {work.spend.trials} trials. {GIVE_AGAIN}")
        if stop is Stop.BUDGET:
            raise BudgetUsedUpError("a budget of the project (`budget:`) is used up")

    def _found(self, wanted: WantedRuns) -> tuple[Execution, ...]:
        """Return the stored executions. Runs with masked secrets are left out: evaluators cannot judge them."""
        stored = (self._store.find(key, self.plan.run_id) for key in self._keys(wanted))
        return tuple(s.execution for s in stored if s is not None and s.execution.trace.judged is None)

    def _keys(self, wanted: WantedRuns) -> list[str]:
        scenario, mutant = wanted.scenario, wanted.mutant
        suite = SuiteConfig(self._session.suite.base, (*self._session.scenarios, scenario))
        config = mutant.apply(suite.full) if mutant else suite.full
        config_digest, scenario_digest = suite.part(config, scenario.name).digest, scenario.digest
        return [
            trial_key(
                self.plan.environment,
                self.plan.seed,
                config=config_digest,
                mutant=mutant.id if mutant else "",
                scenario=scenario_digest,
                repeat=repeat,
            )
            for repeat in range(wanted.first, wanted.end)
        ]
