"""The first phase of a campaign: the original's trials on every scenario, as many as the budget allows."""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

from agentmut.campaign.decision.baseline import HOPELESS, ScenarioBaseline
from agentmut.campaign.decision.unfinished import Unfinished
from agentmut.campaign.limits import BaselineLimit, baseline_within, first_round_within
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.trials import Launch, TrialResult

PASSING = 0.1
"""Share of passes from which on a baseline without a testable scenario is enlarged before the agent is given up."""


class BaselinePhase:
    """The baselines of all scenarios, and which trial of the original comes next."""

    def __init__(self, plan: Plan) -> None:
        self.by_scenario = {name: ScenarioBaseline(plan.ladder[0].baseline) for name in plan.scenarios}
        self._incomplete = Unfinished(self.by_scenario.values(), attrgetter("complete"))
        self.complete = False
        """Whether every scenario has its baseline."""
        self.grown = 0
        """Trials by which finer rounds have enlarged the baselines."""
        self._beside: defaultdict[str, deque[bool]] = defaultdict(deque)
        """Scenario -> whether each trial failed that has confirmed a kill and that no round compares with yet."""
        self._wanted = plan.ladder[0].baseline
        self._limit = plan.baseline_limit
        self._in_rounds = bool(plan.rounds)
        self._sized = plan.baseline_limit is None
        # only in the first round: it is for cheap answers, and a finer one may yet find a scenario that passes rarely
        self._stops_hopeless = plan.bounded and bool(plan.rounds)
        self._skipped: Mapping[str, int] = plan.first
        self._at_first = plan.stops_at_failing
        """Whether scenarios are tried that have not passed yet, and no others."""
        self._first: dict[str, TrialResult] = {}
        self._place = {name: place for place, name in enumerate(self.by_scenario)}
        self._queue: list[tuple[int, int, str]] = []
        """Scenarios that may want a trial, by their trials so far. An entry with another number of trials is void."""
        self._queue_all()

    def record(self, launch: Launch, result: TrialResult) -> str:
        """Record a trial. Return why the budget is refused, once every scenario has had a trial; else an empty text."""
        baseline = self.by_scenario[launch.scenario]
        baseline.record(result, launch.number)
        if self._stops_hopeless:
            # a finer round asks for more of it again
            hopeless = not baseline.passes and baseline.trials >= HOPELESS
            baseline.wanted = min(self._wanted, baseline.trials) if hopeless else self._wanted
        refusal = ""
        if launch.number == 0:
            self._first[launch.scenario] = result
            if self._limit is not None and len(self._first) == len(self.by_scenario):
                refusal = self._size(self._limit)
        self._queue_one(launch.scenario)
        if self._at_first and not any(map(self._tries, self.by_scenario.values())):
            self._at_first = False
            self._queue_all()
        self.complete = baseline.complete and self._incomplete.is_empty()
        return refusal

    @property
    def failing(self) -> bool:
        """Return whether all scenarios have their first trials, some scenario passes, and another never does."""
        baselines = self.by_scenario.values()
        return (
            not self._at_first and any(b.passes for b in baselines) and any(b.never_passes for b in baselines)
        )

    @property
    def passes_sometimes(self) -> bool:
        """Return whether the agent passes on some scenario in a share of `PASSING` of the trials, or more."""
        return any(b.passes >= PASSING * b.trials for b in self.by_scenario.values() if b.trials)

    @property
    def lacks_trials(self) -> bool:
        """Return whether some scenario is given no further trial, though it has fewer than it wants."""
        return any(b.complete and b.trials < b.wanted for b in self.by_scenario.values())

    def _tries(self, baseline: ScenarioBaseline) -> bool:
        """Return whether a scenario has yet to show that it can pass.

        It has had no pass so far, and fewer than `HOPELESS` trials.
        """
        spent = baseline.finished >= HOPELESS or (baseline.launched > 0 and baseline.complete)
        return not (baseline.passes or spent)

    def launch(self) -> Launch | None:
        """Choose the next trial, scenario by scenario in turn, so that costs and dead scenarios show early.

        Until the size of the baseline is known, only each scenario's first trial. Where failing scenarios stop the
        campaign, one trial of each comes first, then a few more of those that have not passed.
        """
        while self._queue:
            repeat, _, name = heapq.heappop(self._queue)
            baseline = self.by_scenario[name]
            if repeat == baseline.launched and self._takes_another(baseline):
                baseline.launched += 1
                self._queue_one(name)
                return Launch("", name, self._skipped.get(name, 0) + repeat, repeat)
        return None

    def _takes_another(self, baseline: ScenarioBaseline) -> bool:
        return baseline.wants_another and (self._sized or not baseline.launched) and self._is_due(baseline)

    def _queue_one(self, name: str) -> None:
        """Queue a scenario whose trials have changed, if it wants a further trial now."""
        baseline = self.by_scenario[name]
        if self._takes_another(baseline):
            heapq.heappush(self._queue, (baseline.launched, self._place[name], name))

    def _queue_all(self) -> None:
        self._queue.clear()
        for name in self.by_scenario:
            self._queue_one(name)

    def _is_due(self, baseline: ScenarioBaseline) -> bool:
        if not self._at_first or not baseline.launched:
            return True
        return bool(baseline.finished) and not baseline.passes and baseline.launched < HOPELESS

    def testable(self, scenario: str, delta: float) -> bool:
        """Return whether the original passes often enough on a scenario for a drop by `delta` to show."""
        return self.by_scenario[scenario].shows(delta)

    def grow(self, trials: int, beside: Iterable[tuple[str, bool]] = ()) -> None:
        """Ask for more trials of the original on each scenario: `trials` in all.

        `beside` are further trials that have confirmed kills: the scenario, and whether the trial failed. They take the
        place of new trials, in their order, up to the size; the rest waits for the next round. So a baseline is the
        first trials of one sequence, of a size that no outcome has chosen.
        """
        self._wanted = trials
        self._stops_hopeless = False
        for scenario, failed in beside:
            self._beside[scenario].append(failed)
        for name, baseline in self.by_scenario.items():
            baseline.wanted = max(baseline.wanted, trials - baseline.beside)
            while self._beside[name] and baseline.wanted > baseline.trials:
                baseline.take_in_beside(self._beside[name].popleft())
            self.grown += max(0, baseline.wanted - baseline.trials)
        self._queue_all()
        self.complete = self._incomplete.is_empty()

    def _size(self, limit: BaselineLimit) -> str:
        """Cut the baseline to what the budget allows. Return the refusal if that is too little.

        The first of several rounds has a small one, or a smaller one: it is paid, or refused.
        """
        within = first_round_within if self._in_rounds else baseline_within
        cut = within(limit, list(self._first.values()), self._wanted)
        self._wanted = cut.trials
        for baseline in self.by_scenario.values():
            baseline.wanted = cut.trials
        self._sized = True
        self._queue_all()
        return cut.refusal


class Trouble(NamedTuple):
    """The current row of trials that ended in infrastructure trouble, with the mutants of these trials."""

    mutants: tuple[str, ...] = ()

    def after(self, launch: Launch, result: TrialResult) -> "Trouble":
        """Add a trial; a trial without trouble ends the row."""
        if result.outcome not in ("infrastructure", "not_judged"):
            return self if not self.mutants else Trouble()
        return Trouble((*self.mutants, launch.mutant))
