"""The prediction of `agentmut run` from the project and its store: for the command line and for Python."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import __version__
from agentmut.campaign import (
    Plan,
    Selection,
    Session,
    Tables,
    foreseen,
    make_mutants,
    make_plan,
    read_history,
)
from agentmut.mutation import Generation
from agentmut.nouns import Mutant
from agentmut.project import Project
from agentmut.store import Store
from agentmut.usecases.budget_question import why_ask
from agentmut.usecases.cheap_plan import cheap_plan
from agentmut.usecases.foresight import Foresight, Rules, TableOf
from agentmut.usecases.known_original import KnownOriginal
from agentmut.usecases.notebook import beside_kernel, spent_so_far
from agentmut.usecases.plan_figures import (
    STRONG,
    Amount,
    ByHistory,
    Expect,
    FirstRound,
    Foreseen,
    PlanLine,
    PlannedMutant,
    RoundLine,
    Unit,
    amount,
    buys,
    most_killed,
    offers,
    plan_line,
    round_line,
    stopped_by,
)
from agentmut.usecases.runtime import opened, stand_in_keys


def plan(
    project: Project | str | Path = ".",
    *,
    selection: Selection | None = None,
    scenarios: Sequence[str] = (),
    rate: float | None = None,
) -> Foreseen:
    """Return what `agentmut run` would take and probably find: `agentmut plan`. No agent is run.

    `rate` is a pass rate to assume of every scenario in the place of the stored one. Raises the errors of
    `agentmut._base.errors`, among them `UsageError` where there is no mutant.
    """

    def foretold() -> Foreseen:
        with stand_in_keys(), opened(project, scenarios) as (session, store):
            return foresee(session, store, make_mutants(session, selection or Selection()), rate)

    return beside_kernel("agentmut.plan", lambda _: foretold(), spent_so_far)


def foresee(
    session: Session, store: Store, generation: Generation, rate: float | None = None, seed: int | None = None
) -> Foreseen:
    """Foretell a campaign on these mutants; see `plan`."""
    campaign = make_plan(session, generation, seed, time.time())
    known = KnownOriginal(session, store, rate)
    wanted = [mutant for mutant in campaign.mutants if mutant.id not in campaign.ignored]
    history = foreseen(wanted, read_history(session.project.runs))
    share = history.kill / len(wanted) if history and wanted else None
    course = _Course.of(campaign, known, wanted, Tables.from_project(session.project).get, share)
    proxy, budget, lines, rounds = (
        session.project.mutation.proxy,
        campaign.budget,
        course.lines,
        course.rounds,
    )
    limits = (budget.trials, budget.usd, budget.minutes)
    sharp = course.most_killed if rounds and not history else ""
    return Foreseen(
        agentmut_version=__version__,
        project=session.project.path.name,
        mutants=dict(Counter(each.group for each in course.mutants)),
        no_coverage=sum(each.lanes is None for each in course.mutants),
        scenarios=len(campaign.scenarios),
        baseline=amount([(course.baseline, course.unit.usd)], course.unit),
        lines=lines,
        rounds=rounds,
        cheap=proxy
        and cheap_plan(
            proxy, course.mutants, course.controls, course.unit, known.priced(proxy.model), course.total
        ),
        offers=offers(rounds, course.first_round, budget.usd),
        buys=buys(rounds, limits),
        history=ByHistory(killed=share, trials=history.trials) if history and share is not None else None,
        worst=course.worst,
        stops=stopped_by(limits, max((line.total for line in lines), key=lambda total: total.trials)),
        asks=why_ask(budget, campaign.worst_case_trials, store.mean_cost()),
        assumptions=(*known.assumptions(campaign), *filter(None, [sharp])),
        notes=campaign.notes,
    )


class _Course(NamedTuple):
    """A campaign as it will probably go."""

    campaign: Plan
    mutants: Sequence[PlannedMutant]
    controls: Sequence[PlannedMutant]
    unit: Unit
    in_rounds: Sequence[Expect]
    """What each round, as if it were the only one, takes of a mutant; coarsest first."""
    share_killed: float | None
    """The share of mutants that earlier runs let expect to be killed; None without an earlier run."""

    @classmethod
    def of(
        cls,
        campaign: Plan,
        known: KnownOriginal,
        wanted: Sequence[Mutant],
        table_of: TableOf,
        share_killed: float | None,
    ) -> "_Course":
        """Return the course of a campaign on the `wanted` mutants."""
        rules = _rules(campaign)
        return cls(
            campaign,
            [known.planned(mutant) for mutant in wanted],
            [known.control(control) for control in (*campaign.identity, campaign.destroyed)],
            known.unit(len(wanted), campaign),
            [Foresight(rules.in_round(each), table_of).expected for each in campaign.ladder],
            share_killed,
        )

    def _baseline(self, trials: int) -> int:
        return trials * len(self.campaign.scenarios)

    @property
    def baseline(self) -> int:
        """Return the number of the original's trials in a campaign of one round."""
        return self._baseline(self.campaign.baseline)

    @property
    def largest_baseline(self) -> int:
        """Return the number of the original's trials after the last round."""
        return self._baseline(self.campaign.ladder[-1].baseline)

    @property
    def lines(self) -> tuple[PlanLine, ...]:
        """Return what the campaign finds and takes if mutants drop by nothing, by delta, or by twice as much."""
        delta = self.campaign.rule.delta
        return tuple(
            plan_line(drop, self.mutants, self.controls, self.baseline, self.unit, self.in_rounds[-1])
            for drop in (0.0, delta, min(0.95, 2 * delta))
        )

    @property
    def rounds(self) -> tuple[RoundLine, ...]:
        """Return what the campaign takes up to each round; empty without rounds."""
        return tuple(
            round_line(
                each.delta,
                self.mutants,
                self.controls,
                self._baseline(each.baseline),
                self.unit,
                self.in_rounds[0],
                here,
                self.share_killed,
            )
            for each, here in zip(self.campaign.rounds, self.in_rounds, strict=False)
        )

    def total(self, tried: Sequence[PlannedMutant], controls: Sequence[PlannedMutant], unit: Unit) -> Amount:
        """Return what all rounds take of some mutants at another price of a trial."""
        first, last = self.in_rounds[0], self.in_rounds[-1]
        return round_line(
            0.0, tried, controls, self.largest_baseline, unit, first, last, self.share_killed
        ).total

    @property
    def most_killed(self) -> str:
        """Return what a suite that kills most mutants takes, as a sentence."""
        return most_killed(self.mutants, self.controls, self.largest_baseline, self.unit, self.in_rounds)

    @property
    def first_round(self) -> FirstRound:
        """Return what the first round takes before any mutant."""
        lanes = [(each.lanes, STRONG if each.degrades else 0.0) for each in self.controls if each.lanes]
        return FirstRound(
            len(self.campaign.scenarios),
            self.campaign.ladder[0].baseline,
            sum(self.in_rounds[0](*each).trials for each in lanes),
            sum(each.degrades and each.lanes is not None for each in self.mutants),
        )

    @property
    def worst(self) -> Amount:
        """Return what the campaign takes if every mutant takes all its trials."""
        most = len(self.campaign.scenarios) * self.campaign.rule.n_max
        of_mutants = [(most, each.usd) for each in (*self.mutants, *self.controls)]
        return amount([(self.baseline, self.unit.usd), *of_mutants], self.unit)


def _rules(campaign: Plan) -> Rules:
    rule = campaign.rule
    alpha = rule.alpha * (1 - rule.suite_share)
    return Rules(campaign.baseline, alpha, rule.beta, rule.delta, rule.n_max)
