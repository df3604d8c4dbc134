"""Source runs: their division, and the end of an agent that never answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentmut.assessment import Assessment
from agentmut.campaign import HOPELESS_BASELINE, HOPELESS_TRIALS, Launch, Session, TrialResult, last_trials
from agentmut.nouns import Ending, Execution
from agentmut.relating.material import SourceMaterial, material_of
from agentmut.relating.state import RelationsPlan
from agentmut.store import Store

Executions = Mapping[str, Sequence[tuple[int, Execution]]]
"""By scenario: repeats and what the agent did."""


def executions_of(store: Store, plan: RelationsPlan) -> dict[str, list[tuple[int, Execution]]]:
    """Return the source runs by scenario; the last attempt of a trial that was repeated after trouble."""
    found = last_trials(store.trials_of(plan.run_id, ""))
    return {name: [(trial.repeat, trial.execution) for trial in trials] for name, trials in found.items()}


def materials_of(session: Session, plan: RelationsPlan, executions: Executions) -> dict[str, SourceMaterial]:
    """Divide the source runs of each scenario. Raises `UsageError` if a fact that is compared is never stated."""
    settings, scenarios = session.project.relations, session.tests.scenarios
    return {name: material_of(scenarios[name], executions.get(name, ()), settings) for name in plan.scenarios}


_REMEDIES: Mapping[Ending, str] = {
    Ending.TIMEOUT: "Give it more seconds (`execution.timeout`), or find out what it waits for",
    Ending.INFRASTRUCTURE: "Check the model endpoint and the network first",
    Ending.REFUSED: "Check the key, the model's name and the endpoint first",
    Ending.SETUP_FAILED: "Fix the setup of the scenario first",
    Ending.CASE_ERROR: "Fix the code of the suite's case first",
    Ending.NOT_JUDGED: "Make the judge answer first",
}


_FIX = "Fix the agent first"


def no_answer(runs: int, first: str, ending: Ending | None) -> str:
    """Return the message if none of so many runs has an answer that a pair could start from.

    `ending` is that of the first run: only an agent that ran and failed by itself is to be mended.
    """
    reason = first.rstrip(".") or "none given"
    remedy = _REMEDIES.get(ending, _FIX) if ending else _FIX
    return f"the agent gave no answer in any of its {runs} runs. First reason: {reason}. {remedy}"


def unanswered(executions: Iterable[Execution]) -> str:
    """Return that no stored run has an answer; empty if one has, or if there is no run."""
    runs = list(executions)
    if not runs or any(run.ending is Ending.ANSWERED for run in runs):
        return ""
    return no_answer(len(runs), _ending_with_reason(runs[0].ending, runs[0].reason), runs[0].ending)


@dataclass
class SourceRuns(Assessment):
    """An assessment that ends early when relations will have nothing to start from."""

    answered: bool = False
    first: str = ""
    first_ending: Ending | None = None

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        super().record(launch, result)
        self.answered = self.answered or result.ending is Ending.ANSWERED
        self.first = self.first or _ending_with_reason(result.ending, result.reason)
        self.first_ending = self.first_ending or result.ending
        if not self.answered and not self.problem and self._suffice():
            self.problem = self.silence()

    def silence(self) -> str:
        """Return the message about runs without an answer; empty if one has an answer, or there is no run."""
        runs = sum(lane.consumed for lane in self.lanes.values())
        return no_answer(runs, self.first, self.first_ending) if runs and not self.answered else ""

    def _suffice(self) -> bool:
        """Return whether there are enough runs of each scenario for a baseline; see `problems.early_problem`."""
        lanes = self.lanes.values()
        each = all(len(lane.passed) >= min(HOPELESS_BASELINE, lane.rule.most) for lane in lanes)
        return self.decided or (each and sum(len(lane.passed) for lane in lanes) >= HOPELESS_TRIALS)


class AnyRun(SourceRuns):
    """Source runs that end once a run shows that the agent can run."""

    def launch(self) -> Launch | None:
        """Return the next launch; None once a run shows that the agent can run."""
        return None if self._began or self._ran else super().launch()


def any_run(work: Assessment) -> AnyRun:
    """Return the same source runs, made anew: they end once one of them shows that the agent can run."""
    plan = work.plan.model_copy(update={"fresh": True})
    return AnyRun(plan, work.suite, work.scenarios, work.rules)


def giving_up(work: Assessment) -> SourceRuns:
    """Return the same source runs, which end early if the agent never answers."""
    return SourceRuns(work.plan, work.suite, work.scenarios, work.rules)


def _ending_with_reason(ending: Ending, reason: str) -> str:
    return f"{ending.value}: {reason}" if reason else ending.value
