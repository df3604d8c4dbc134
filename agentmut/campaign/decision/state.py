"""The state of a campaign, and the one function that chooses the next trial.

Everything here is a function of the plan and of the results recorded so far. `resume` therefore is the
same loop on the stored plan: stored results are recorded again, and the rest follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentmut.campaign.decision.after_kills import AfterKills, final_kills, is_after_kill
from agentmut.campaign.decision.all_errors import all_errors
from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.baseline_phase import BaselinePhase, Trouble
from agentmut.campaign.decision.clearing import tried_on
from agentmut.campaign.decision.entering import Entered, entered, has_baseline
from agentmut.campaign.decision.kept_confirming import KeptConfirming
from agentmut.campaign.decision.kill_phase import BaselineFigures, KillPhase
from agentmut.campaign.decision.problems import (
    DEAD_ENDPOINT,
    cannot_run,
    control_problem,
    dead_endpoint,
    destroyed_problem,
    early_problem,
    failing_problem,
    other_model,
    unbegun,
    undestroyed_problem,
    untestable_problem,
)
from agentmut.campaign.decision.quarantine import Watch
from agentmut.campaign.decision.reach import ReachingScenarios, reached
from agentmut.campaign.decision.sample import Money, Sample, is_counted, planned_sample, planned_sentence
from agentmut.campaign.decision.scoring import SeenLook, is_within, score_of_sample
from agentmut.campaign.decision.sentinels import Sentinels
from agentmut.campaign.decision.service import Drift, Service
from agentmut.campaign.decision.unforked_trials import UnforkedTrials
from agentmut.campaign.limits import Spend, price_missing
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Result, Sampled, Scenario, Score, Status
from agentmut.store import QuarantinedTrials, is_later
from agentmut.trial import Detector, SuiteConfig


@dataclass
class CampaignState:
    """Plan, suite and results. `launch`, `record` and `go_on` change it.

    Whoever carries the campaign out sets `stage`, `remark`, `set_aside` and `forgot`.
    """

    plan: Plan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    tables: Tables
    original: BaselinePhase = field(init=False)
    kills: KillPhase = field(default_factory=KillPhase)
    after_kills: AfterKills = field(init=False)
    only: Sampled | None = None
    """The sample of an earlier look at the same trials; None for a campaign that draws for itself."""
    cheap: Result | None = None
    """What the cheap model of the plan has decided; None without one."""
    sample: Sample | None = None
    """The random sample of mutants that is tried; None where all are."""
    notice: str = ""
    """What the budget or the precision is enough for, in a sentence, before any mutant is tried."""
    remark: str = ""
    """What the first trials of the original show of the project, in a sentence; set by who carries the campaign out."""
    is_precise: bool = False
    """Whether the score is known as precisely as was asked for: no further trial is wanted."""
    round: int = -1
    """Position of the round that mutants are in, among the plan's; -1 before the first."""
    sentinels: Sentinels = field(default_factory=Sentinels)
    kept_confirming: KeptConfirming = field(default_factory=KeptConfirming)
    service: Service = field(default_factory=Service)
    ended_at: dict[str, float] = field(default_factory=dict)
    """Mutant id -> when its trials ended, in seconds since the epoch."""
    detectors: dict[str, Detector] = field(init=False)
    decided_free: dict[str, tuple[Status, str]] = field(default_factory=dict)
    """Mutants decided without a trial: no coverage, never carried, ignored."""
    spend: Spend = field(default_factory=Spend)
    in_flight: int = 0
    stage: str = ""
    """What is done after the last trial, for whoever waits; empty while trials are run."""
    problem: str = ""
    """Why the campaign cannot be carried out."""
    refused: bool = False
    """Whether the problem is one of the project file: a budget that cannot be kept."""
    unable: bool = False
    """Whether the problem is that the agent cannot run."""
    forgot: bool = False
    """Whether this run's trials that never began were withdrawn from reuse."""
    watch: Watch = field(init=False)
    """Looks for outages."""
    set_aside: tuple[QuarantinedTrials, ...] = ()
    """What outages have spoiled so far; it was run again, or will be."""
    unforked: UnforkedTrials = field(default_factory=UnforkedTrials)
    """Where trials of mutants could not go along recorded runs of the original."""
    money: Money = field(default_factory=Money)
    """The cost of the original's trials so far."""
    _mutant_began: bool = False
    """Whether some trial of a mutant did more than raise at once."""
    _trouble: Trouble = field(default_factory=Trouble)

    def __post_init__(self) -> None:
        self.original = BaselinePhase(self.plan)
        self.after_kills = AfterKills(self.plan.after_kills, self.plan.first_of_mutants)
        self.watch = Watch(self._harmed)
        self.detectors = {m.id: Detector(m, self.suite.full) for m in self.contenders}

    @property
    def baselines(self) -> dict[str, ScenarioBaseline]:
        """Return the baseline of each scenario."""
        return self.original.by_scenario

    @property
    def baseline_complete(self) -> bool:
        """Return whether every scenario has its baseline."""
        return self.original.complete

    @property
    def arms(self) -> dict[str, Arm]:
        """Return the arm of each mutant that trials are spent on, once the baseline is complete."""
        return self.kills.arms

    @property
    def controls(self) -> tuple[Mutant, ...]:
        """Return the control mutants, which run first. An agent with an empty config has no destroyed control."""
        destroyed = (self.plan.destroyed,) if self.plan.destroyed.edits else ()
        return (*destroyed, *self.plan.identity)

    @property
    def contenders(self) -> tuple[Mutant, ...]:
        """Return all mutants that are to be run, controls first."""
        return (*self.controls, *(m for m in self.plan.mutants if m.id not in self.plan.ignored))

    def testable(self, scenario: str) -> bool:
        """Return whether the original passes often enough on a scenario for a drop to show."""
        return self.original.testable(scenario, self.plan.rule.delta)

    @property
    def drops_begun(self) -> tuple[float, ...]:
        """Return the drops of the rounds that mutants have entered, coarsest first; empty without rounds."""
        return tuple(round_.delta for round_ in self.plan.rounds[: self.round + 1])

    @property
    def unbegun(self) -> bool:
        """Return whether every fresh trial of the original raised an error before it did anything."""
        return unbegun(self.baselines.values())

    @property
    def decided(self) -> bool:
        """Return whether every mutant has its final status."""
        if not (self.baseline_complete and self.kills.answered):
            return False
        return not (self._another_draw or self._another_round)

    @property
    def _another_draw(self) -> bool:
        """Return whether the sample is to grow, now that all drawn mutants have their answer."""
        return bool(self.sample and self.sample.draws_more) and self.only is None and not self.is_precise

    @property
    def _another_round(self) -> bool:
        """Return whether a finer round is due. Each shard goes through all rounds, so baselines of shards are alike."""
        partial = self.sample and self.sample.waiting and not self.plan.proxy
        if partial or self.is_precise or self.round + 1 >= len(self.plan.ladder):
            return False
        whole = self.plan.shard or not self.plan.mutants
        mutants = self.arms if whole else [mutant.id for mutant in self.plan.mutants]
        return any(self.arms[id].rests for id in mutants if id in self.arms)

    def status(self, mutant: str) -> tuple[Status, str] | None:
        """Return a mutant's status and reason so far; while finer rounds continue, those of the coarse round."""
        if mutant in self.decided_free:
            return self.decided_free[mutant]
        if self.sample and mutant in self.sample.waiting:
            return Status.NOT_DRAWN, "a random sample was tried, and this mutant was not drawn"
        arm = self.arms.get(mutant)
        return arm.standing if arm else None

    def launch(self) -> Launch | None:
        """Choose the next trial and count it as in flight; None when none can be launched now."""
        launch = self._beside_launch() if self.baseline_complete else self.original.launch()
        self.in_flight += launch is not None
        return launch

    def _beside_launch(self) -> Launch | None:
        kills = self.kills
        of_original = kills.confirming_before + self.original.grown
        due = None if kills.answered else self.sentinels.launch(kills.launched, of_original)
        return due or kills.launch() or self._launch_after_kill()

    def _launch_after_kill(self) -> Launch | None:
        if not self.after_kills.wanted or self.problem or not self.decided:
            return None
        if not self.after_kills.has_begun:
            self.after_kills.begin(final_kills(self.plan.mutants, self.arms))
        return self.after_kills.launch()

    def drift(self) -> Drift | None:
        """Return the drift of the service that the trials show so far."""
        return self.service.drift()

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.in_flight -= 1
        if result.unpriced and self.plan.budget.usd is not None:
            self._refuse(price_missing(result.unpriced, result.trace.unreported_models))
        after_kill = is_after_kill(launch)
        # trials of a kill failed too often, by which it was chosen: runs after it would show a change in time
        if self.round >= 0 and launch.mutant != self.plan.destroyed.id and not after_kill:
            self.service.record(launch, result)
        if after_kill:
            self.after_kills.record(launch, result)
        elif launch.arm:
            self._record_mutant(launch, result)
        elif not is_later(launch.repeat):
            self._record_original(launch, result)
        self._note_trouble(launch, result)
        self.watch.record(launch, result)

    def _harmed(self) -> bool:
        """Return whether trouble of services has cost a mutant its decision, or cost the baseline wanted trials."""
        return self.original.lacks_trials or self.kills.lacks_decisions

    def _record_original(self, launch: Launch, result: TrialResult) -> None:
        self.money = self.money.after(result)
        if self.round < 0:
            self.service.baseline_until = max(self.service.baseline_until, result.finished)
        if refusal := self.original.record(launch, result):
            self._refuse(refusal)
        fresh = bool(result.never_began) and not result.stored
        telling = fresh or not self.baselines[launch.scenario].passes or self.baseline_complete
        if telling and not self.problem:  # a look at all baselines after every trial would cost time
            self.unable = bool(cannot_run(self.baselines.values()))
            self.problem = early_problem(self.baselines.values())
        if self.plan.stops_at_failing and self.round < 0 and not self.problem and self.original.failing:
            self.problem = failing_problem(self.baselines)
        if self.baseline_complete and not self.problem:
            self._begin_round()

    def _record_mutant(self, launch: Launch, result: TrialResult) -> None:
        began = bool(launch.mutant) and result.outcome.is_evidence and not result.never_began
        self._mutant_began = self._mutant_began or began
        arm = self.kills.record(launch, result)
        self._note_end(arm)
        self.go_on()

    def _note_end(self, arm: Arm) -> None:
        if arm.status:
            self.ended_at.setdefault(arm.mutant.id, self.service.latest)
            self._check_control(arm)

    def go_on(self) -> None:
        """Begin the next round, with its larger baseline, where all mutants have their answer."""
        if self.problem or not self.kills.answered:
            return
        self.is_precise = self.is_precise or self._is_precise()
        if self._another_draw:
            self._draw()
            return
        if not self._another_round:
            self.problem = self.problem or undestroyed_problem(self.arms.get(self.plan.destroyed.id))
            if not self.plan.shard:  # of a few mutants all may be errors; the merged campaign tells
                self.problem = self.problem or all_errors(self.arms.values())
            return
        # shards have different mutants, and the baselines of shards have to be alike
        keeps = self.plan.rule.keeps_confirming and not (self.plan.shard or self.plan.merged)
        mutants = [mutant.id for mutant in self.plan.mutants] if keeps else ()
        beside = self.kept_confirming.take(mutants, self.arms)
        self.original.grow(self.plan.ladder[self.round + 1].baseline, beside)
        if self.baseline_complete:
            self._begin_round()

    def _note_trouble(self, launch: Launch, result: TrialResult) -> None:
        self._trouble = self._trouble.after(launch, result)
        row = self._trouble.mutants
        if not row:
            return
        given_up = len(set(row)) > 1 and self.baseline_complete and self.kills.ended
        if given_up or len(row) >= DEAD_ENDPOINT:
            self.problem = self.problem or dead_endpoint(len(row), result)

    def _refuse(self, problem: str) -> None:
        if not self.problem:
            self.problem, self.refused = problem, True

    def _begin_round(self) -> None:
        if not any(map(self.testable, self.baselines)):
            self._look_longer()
            return
        if problem := other_model(self.plan.asks, self.baselines.values()):
            self._refuse(problem)
            return
        self.round += 1
        where = {mutant.id: self.reaching(mutant) for mutant in self.contenders}
        if self.round == 0:
            able = {id: there for id, there in where.items() if has_baseline(there, self.baselines)}
            self.sample = planned_sample(self.plan, able, self.measured, self.money, self.only)
            self.notice = "" if self.only else planned_sentence(self.sample, self.plan, self.money)
        drawn = self._drawn_at_first() if self.round == 0 else set()
        waiting = self.sample.waiting if self.sample else {}
        entering = {id: there for id, there in where.items() if id in drawn or id not in waiting}
        self._enter_all(entering)
        if self.round == 0:
            self._begin_kills()
        for arm in self.arms.values():
            self._note_end(arm)
        self.go_on()

    def _drawn_at_first(self) -> set[str]:
        """Draw the mutants of the first look, or of all looks that were taken before."""
        looks = len(self.only.ends) if self.only else 1
        return {id for _ in range(looks) for id in self.sample.draw()} if self.sample else set()

    def _draw(self) -> None:
        """Draw the mutants of the next look."""
        assert self.sample is not None
        drawn = set(self.sample.draw())
        self._enter_all(
            {mutant.id: self.reaching(mutant) for mutant in self.contenders if mutant.id in drawn}
        )
        self.go_on()

    def _is_precise(self) -> bool:
        """Return whether the score of the mutants drawn so far is as precise as was asked for."""
        wanted = self.plan.precision
        return wanted is not None and is_within(self.score_so_far(), wanted)

    def score_so_far(self) -> Score:
        """Return the mutation score by what is known now."""
        counted = [mutant.id for mutant in self.plan.mutants if is_counted(mutant)]
        open_ = (Status.UNDECIDED, "")
        statuses = [((self.status(id) or open_)[0], self.arms.get(id)) for id in counted]
        return score_of_sample(statuses, self.drops_begun, self.looks)

    @property
    def looks(self) -> tuple[SeenLook, ...]:
        """Return the looks at the sample so far; empty where no mutants are drawn."""
        return self.sample.seen if self.sample else ()

    @property
    def measured(self) -> BaselineFigures:
        """Return what is known of the original, in the present round."""
        return BaselineFigures(self.plan, self.suite, self.tables, self.baselines, self.round)

    def reaching(self, mutant: Mutant) -> ReachingScenarios:
        """Return the scenarios on which a mutant is tried."""
        where = reached(mutant, self.detectors[mutant.id], self.suite, self.baselines, self.scenarios)
        return tried_on(where, self.plan.rule.clear_on, self.plan.seed, mutant.id)

    def _enter_all(self, where: Mapping[str, ReachingScenarios]) -> None:
        """Let mutants enter the round; a mutant that has left the round stays out."""
        entering = [mutant for mutant in self.contenders if mutant.id in where]
        before = Entered(self.arms, self.decided_free)
        arms, self.decided_free = entered(entering, where, before, self.measured)
        order = self.plan.order or [mutant.id for mutant in self.plan.mutants]
        self.kills = KillPhase(arms, order, self.kills.launched, self.kills.confirming)

    def _look_longer(self) -> None:
        """Give up an agent that fails on every scenario; the small baseline of the first round may be bad luck."""
        if self.round < 0 and self.original.passes_sometimes:
            self.original.grow(self.plan.ladder[-1].baseline)
        if self.baseline_complete:
            self.problem = untestable_problem(self.baselines)

    def _begin_kills(self) -> None:
        self.service.begin(self.baselines, self.plan.identity)
        if not self.plan.merged:  # a merge runs nothing
            testable = [name for name in self.baselines if self.testable(name)]
            self.sentinels = Sentinels(testable, self.plan.rule.beside, self.plan.first)
        sent = tuple(seen for b in self.baselines.values() for seen in b.footprints.values())
        self.detectors = {id: detector.informed(sent) for id, detector in self.detectors.items()}
        for id, reason in self.plan.ignored.items():
            self.decided_free[id] = (Status.IGNORED, reason)
        if decided := self.decided_free.get(self.plan.destroyed.id):
            self.problem = destroyed_problem(*decided)

    def _check_control(self, arm: Arm) -> None:
        if arm.status is None or self.problem:
            return
        self.problem = control_problem(arm, self.plan.destroyed, self.plan.identity)
        # otherwise the baseline was stored, and the key has gone
        self.unable = bool(self.problem) and not self._mutant_began
