"""A campaign whose state is fed with stored trials only, judged by the evaluators of today.

The trials of each scenario are taken in the order of their repeats, and the kill rule is applied after each. A
scenario's decision depends on its own trials alone, so that it is the decision of a new run on the same trials; only
where a run would have stopped earlier or gone on differs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain, zip_longest
from operator import itemgetter

from agentmut.campaign.decision.after_kills import final_kills
from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.confirming import Confirmation, is_sentinel
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.results.cheap_model import cheap_run
from agentmut.campaign.results.group_scores import score_with_open
from agentmut.campaign.results.summary import summarise
from agentmut.campaign.running.stored import Kept, StoredCampaign
from agentmut.campaign.running.work import Stop
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Result, Sampled, Score
from agentmut.project import BudgetSettings
from agentmut.store import StoredTrial
from agentmut.trial import Detector


class RescoredCampaign:
    """A campaign's state that is fed with stored trials only."""

    def __init__(self, campaign: StoredCampaign, tables: Tables, sample: Sampled | None = None) -> None:
        self.campaign = campaign
        self.judged = 0
        self.masked: Counter[str] = Counter()
        """Trials by scenario that cannot be judged anew, since secrets were taken out of them."""
        self.failing: dict[tuple[str, str], Counter[str]] = {}
        """By mutant and scenario: which evaluators failed, in how many trials."""
        self.unconfirmed: list[str] = []
        """Mutants, controls among them, whose kill no stored trial of the original confirms."""
        self._later = {(name, x.repeat): x for name, trials in campaign.later.items() for x in trials}
        self._beside_kills: set[tuple[str, int]] = set()
        """Scenario and repeat of the original's trials that confirm kills of today's evaluators."""
        self._waiting: dict[str, Iterator[tuple[StoredTrial, TrialResult]]] = {}
        """By mutant: the stored trials that no round has asked for yet."""
        session = campaign.session
        self._baseline = {name: list(self._judged("", trials)) for name, trials in campaign.original.items()}
        plan = campaign.plan.model_copy(
            update={
                "scenarios": tuple(name for name in session.tests.scenarios if self._baseline.get(name)),
                "baseline_limit": None,
                "budget": BudgetSettings(),
                "precision": None,
                "stops_at_failing": False,
            }
        )
        cheap = cheap_run(session, plan)
        self.state = CampaignState(
            plan, session.suite, session.tests.scenarios, tables, only=sample, cheap=cheap
        )

    def take_in_all(self) -> None:
        """Record the stored trials, round by round: first the original's, then those of the undecided mutants."""
        before = -1
        while self._begins_after(before):
            if before < 0:
                self._take_in_sentinels()
            before = self.state.round
            for mutant in self.state.contenders:
                self._take_in(mutant)
            self.state.go_on()
        self._take_in_after_kills()

    def _take_in_after_kills(self) -> None:
        """Record the stored runs after the kills that are there now."""
        places, jobs = list(final_kills(self.state.plan.mutants, self.state.arms)), self.state.after_kills
        found: dict[tuple[str, str, int], TrialResult] = {}
        for mutant in dict.fromkeys(id for id, _ in places) if jobs.wanted else ():
            kept = chain.from_iterable(self.campaign.after_kill_of(mutant).values())
            judged = self._judged(mutant, kept, self.state.detectors[mutant])
            found |= {(mutant, stored.scenario, stored.repeat): result for stored, result in judged}
        jobs.stored = found.keys()
        jobs.begin(places)
        while launch := jobs.launch():
            self._record(launch, found[launch[:3]])

    def _begins_after(self, round_: int) -> bool:
        """Return whether a later round has begun and the store has the baseline trials that it needs.

        Where no mutant needs a trial in that round, the next one wants its trials at once.
        """
        while not self.state.baseline_complete and self._take_in_baseline():
            pass
        return self.state.baseline_complete and self.state.round > round_

    def _take_in_sentinels(self) -> None:
        """Record the original's trials among the mutants' trials, which show whether the service drifted."""
        if not self.state.baseline_complete:
            return
        sentinels = [(x.repeat, name, x) for (name, _), x in self._later.items() if is_sentinel(x.repeat)]
        for repeat, name, stored in sorted(sentinels, key=lambda sentinel: (sentinel[2].id, sentinel[:2])):
            if name in self.state.baselines:
                for number, (_, result) in enumerate(self._judged("", [stored])):
                    self._record(Launch("", name, repeat, number), result)

    def _take_in_baseline(self) -> bool:
        """Record the stored part of the baseline that the round needs. Return whether there was any.

        A run that ended while its baseline grew has not begun the next round: so this takes none of these trials.
        """
        if self.state.round >= 0:
            for name, baseline in self.state.baselines.items():
                self._fill(name, baseline)
            if any(self._lacks(*item) for item in self.state.baselines.items()):
                return False
        is_last = self.state.round + 2 >= len(self.state.plan.ladder)
        due: list[tuple[Launch, TrialResult]] = []
        for name, baseline in self.state.baselines.items():
            stored, before = self._baseline[name], baseline.finished
            upto = len(stored) if is_last else min(len(stored), baseline.wanted)
            # before the first is recorded, since a complete baseline begins the round
            baseline.launched = baseline.wanted = upto
            due += [
                (Launch("", name, trial.repeat, number), result)
                for number, (trial, result) in enumerate(stored[before:upto], before)
            ]
        for launch, result in due:
            self._record(launch, result)
        return bool(due)

    def _fill(self, scenario: str, baseline: ScenarioBaseline) -> None:
        """Count trials that confirmed kills of the evaluators before into the baseline, where it lacks trials.

        The run did so too. They are draws of the original in a fixed order, so which evaluator asked for them says
        nothing about them.
        """
        free = (
            (stored.id, place)
            for place, stored in self._later.items()
            if place[0] == scenario and not is_sentinel(place[1]) and place not in self._beside_kills
        )
        for _, place in sorted(free):
            if not self._lacks(scenario, baseline):
                return
            for _, result in self._judged("", [self._later.pop(place)]):
                if result.outcome.is_evidence:
                    baseline.take_in_beside(result.outcome != "pass")

    def _lacks(self, scenario: str, baseline: ScenarioBaseline) -> bool:
        """Return whether the store has fewer trials of the original than the round needs, whatever their outcome."""
        return len(self.campaign.original[scenario]) < baseline.wanted

    def _take_in(self, mutant: Mutant) -> None:
        """Record the trials of a mutant, in the order in which a run takes them, until the round has its answer."""
        arm = self.state.arms.get(mutant.id)
        if arm is None:
            return
        if mutant.id not in self._waiting:
            lanes = {lane.scenario for lane in arm.lanes}
            kept = {
                name: trials
                for name, trials in self.campaign.trials_of_mutant(mutant.id).items()
                if name in lanes
            }
            in_order = _in_turn if self.campaign.plan.rule.suite_share else _in_order
            judged = self._judged(mutant.id, in_order(kept), self.state.detectors[mutant.id])
            self._waiting[mutant.id] = iter(judged)
        while not arm.is_answered and (found := next(self._waiting[mutant.id], None)):
            self._take_in_one(arm, *found)
        if arm.waiting:
            self.unconfirmed.append(mutant.id)
            arm.accept()
        arm.pause()

    def _take_in_one(self, arm: Arm, stored: StoredTrial, result: TrialResult) -> None:
        """Record a trial of a mutant, and the original's trial beside it once a kill waits for confirmation."""
        if arm.status is None:
            launch = Launch(arm.mutant.id, stored.scenario, stored.repeat, len(arm.trials.launches))
            self._record_on(arm, launch, result)
        while arm.waiting and (beside := self._beside(arm, arm.waiting)):
            launch = Launch(
                "", beside.scenario, beside.repeat, len(arm.trials.launches), beside=arm.mutant.id
            )
            self._beside_kills.add((beside.scenario, beside.repeat))
            for _, found in self._judged("", [beside]):
                self._record_on(arm, launch, found)

    def _beside(self, arm: Arm, waiting: Confirmation) -> StoredTrial | None:
        """Return the stored trial of the original that the kill waits for; None if it waits for the mutant."""
        scenario, original = waiting.next()
        return self._later.get((scenario, arm.original_beside(scenario))) if original else None

    def _record_on(self, arm: Arm, launch: Launch, result: TrialResult) -> None:
        arm.trials.add(launch)
        self._record(launch, result)

    @property
    def new(self) -> tuple[str, ...]:
        """Return scenarios of the suite without stored trials: added since, or changed."""
        return tuple(
            name for name in self.campaign.session.tests.scenarios if name not in self.campaign.original
        )

    def result(self, before: Result) -> Result:
        """Return the result under today's evaluators; values that stored trials cannot give stay as they were."""
        session = self.campaign.session
        after = summarise(session, self.state, Stop.FINISHED)
        kept = {"status": before.status, "cost": before.cost}
        if not self.unconfirmed:
            return after.model_copy(update=kept)
        waiting = score_with_open(session, self.state, after.mutants, self.unconfirmed)
        return after.model_copy(update={**kept, "score": _covering(after.score, waiting)})

    def _record(self, launch: Launch, result: TrialResult) -> None:
        self.state.in_flight += 1
        self.state.record(launch, result)

    def _judged(
        self, mutant: str, trials: Iterable[StoredTrial], detector: Detector | None = None
    ) -> Iterator[tuple[StoredTrial, TrialResult]]:
        """Yield the trials that are evidence, each judged by today's evaluators."""
        tests = self.campaign.session.tests
        for trial in trials:
            if not trial.execution.ending.is_final:
                continue
            if not tests.can_judge(trial.scenario, trial.execution):
                self.masked[trial.scenario] += 1
                continue
            self.judged += 1
            result = tests.result(trial.scenario, trial.execution, detector)
            result = result._replace(finished=trial.finished)
            failed = (check.evaluator for check in result.checks if not check.passed)
            self.failing.setdefault((mutant, trial.scenario), Counter()).update(failed)
            yield trial, result


def _in_turn(kept: Kept) -> Iterator[StoredTrial]:
    """Yield the first trial of every scenario, then the second: so trials go where the suite as a whole leads."""
    for together in zip_longest(*kept.values()):
        yield from (trial for trial in together if trial is not None)


def _in_order(kept: Kept) -> Iterator[StoredTrial]:
    """Yield the trials as they were stored, those of a scenario by repeat.

    A confirmation looks at the mutant's other scenarios, so it sees what it saw in the run.
    """
    together = merge(*map(_with_latest, kept.values()), key=itemgetter(0))
    yield from (trial for _, trial in together)


def _with_latest(trials: Iterable[StoredTrial]) -> Iterator[tuple[int, StoredTrial]]:
    """Yield each trial after the largest row id so far."""
    latest = 0
    for trial in trials:
        latest = max(latest, trial.id)
        yield latest, trial


def _covering(score: Score, other: Score) -> Score:
    """Return the score with an interval that has the ends of both."""
    lows = [end for end in (score.low, other.low) if end is not None]
    highs = [end for end in (score.high, other.high) if end is not None]
    return score.model_copy(update={"low": min(lows, default=None), "high": max(highs, default=None)})
