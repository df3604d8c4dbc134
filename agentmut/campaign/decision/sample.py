"""A random sample of the mutants where not all are tried: the mutants drawn, and the sample that the budget allows."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentmut.campaign.decision.kill_phase import BaselineFigures, design_of
from agentmut.campaign.decision.reach import ReachingScenarios
from agentmut.campaign.decision.scoring import SeenLook
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.trials import TrialResult
from agentmut.nouns import Intent, Mutant, Sampled
from agentmut.stats import PLANNED, Look, expected_width, mean_trials, planned_looks, sample_for

KILLED = 0.5
"""The share of degrading mutants that is taken to be killed, before anything is known of them."""
KILL = 7.0
"""Trials of a kill of a strong mutant: four of its own, and three of the original that confirm it."""
USED = 0.95
"""The part of a budget that a sample is planned for."""
FALSE, MISSED = 0.03, 0.03
"""Chances of a false kill and of a missed drop by which a sample is planned: a little more than those of the
first round, since a planned look that is just too wide costs many further mutants."""
LEAST_PAIRED = 12
"""Mutants that are tried beside a cheap model at least: the bounds were simulated from twelve on."""
ERROR = 0.05 * PLANNED
"""The error of the planned look."""


@dataclass
class Sample:
    """The mutants in the order of their draw, and the looks at which the score may be read."""

    order: Sequence[str]
    """Ids of all that trials could be spent on."""
    counted: frozenset[str]
    """The ids in `order` that the score counts; the size of a look is a number of these."""
    looks: Sequence[Look]
    ends_whole: bool = True
    """Whether the last look draws all mutants that are left; not where a cheap model decides the others."""
    for_all: float = 0.0
    """About how many trials of the first round, after its baseline, are enough for all mutants."""
    at: int = -1
    """Position of the present look; -1 before the first."""
    ends: list[int] = field(default_factory=list)
    """How many of the order each look so far has drawn."""
    waiting: dict[str, None] = field(init=False)
    """Mutants that are not drawn yet, in their order."""

    def __post_init__(self) -> None:
        self.waiting = dict.fromkeys(self.order)

    @property
    def drawn(self) -> int:
        """Return how many of the counted mutants are drawn."""
        return len(self.counted) - sum(id in self.counted for id in self.waiting)

    @property
    def draws_more(self) -> bool:
        """Return whether a further look draws further mutants."""
        return bool(self.waiting) and self.at + 1 < len(self.looks)

    @property
    def seen(self) -> tuple[SeenLook, ...]:
        """Return the looks so far: the mutants that each has drawn, and the share of the error rate that it spends."""
        return tuple(
            SeenLook(frozenset(self.order[:end]), look.share)
            for end, look in zip(self.ends, self.looks, strict=False)
        )

    def draw(self) -> tuple[str, ...]:
        """Move to the next look and return the mutants that it adds; the last counted mutant brings all uncounted."""
        self.at += 1
        missing = self.looks[self.at].drawn - self.drawn
        added = []
        for id in self.waiting:
            if missing <= 0 and (len(self.looks) > self.at + 1 or not self.ends_whole):
                break
            added.append(id)
            missing -= id in self.counted
        for id in added:
            del self.waiting[id]
        self.ends.append(len(self.order) - len(self.waiting))
        return tuple(added)


class Money(NamedTuple):
    """The cost of trials of the original, and the number of further trials that the budget allows."""

    trials: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def after(self, result: TrialResult) -> "Money":
        """Add a trial of the original."""
        return Money(self.trials + 1, self.usd + (result.usd or 0.0), self.seconds + result.seconds)

    def trials_left(self, plan: Plan) -> float | None:
        """Return about how many further trials the budget allows; None where no budget bounds the run."""
        budget, allowed = plan.budget, []
        if budget.trials is not None:
            allowed.append(float(budget.trials - self.trials))
        if budget.usd is not None and self.usd:
            allowed.append((budget.usd - self.usd) * self.trials / self.usd)
        if budget.minutes is not None and self.seconds:
            at_a_time = 60 * budget.minutes * plan.concurrency
            allowed.append((at_a_time - self.seconds) * self.trials / self.seconds)
        return min(allowed) if allowed else None


def planned_sample(
    plan: Plan,
    where: Mapping[str, ReachingScenarios],
    known: BaselineFigures,
    money: Money,
    only: Sampled | None,
) -> Sample | None:
    """Return the sample with which a campaign begins; None where every mutant is tried.

    `where` has the scenarios of all mutants that trials could be spent on. `only` is the sample of an earlier look at
    the same trials.
    """
    mutants = {mutant.id: mutant for mutant in plan.mutants if mutant.id in where}
    order = [id for id in plan.sample if id in mutants]
    if plan.shard or plan.merged or len(order) < len(mutants):
        return None
    counted = frozenset(id for id in order if is_counted(mutants[id]))
    if only is not None:
        return _as_before(order, counted, only)
    targets = (
        _for_proxy(plan, counted),
        _for_precision(plan, counted),
        _for_money(plan, where, known, money),
    )
    wanted = [target for target in targets if target]
    if not wanted or min(wanted) >= len(counted):
        return None
    if plan.proxy:
        return Sample(order, counted, (Look(min(wanted), 1.0),), ends_whole=False)
    needed = _for_all(plan, mutants, where, known)
    return Sample(order, counted, planned_looks(len(counted), min(wanted)), for_all=needed)


def planned_sentence(sample: Sample | None, plan: Plan, money: Money) -> str:
    """Return the announcement of how many mutants are tried and how precise the score will be.

    Empty without a limit, and where the limit leaves out no mutant and a run has no price to tell.
    """
    if plan.proxy and sample:
        return _beside_the_proxy(sample, plan.proxy.model)
    if not plan.mutants or not (plan.bounded or plan.precision):
        return ""
    drops = f"at drops of {plan.ladder[0].delta:g} or more"
    price = f"a run costs about ${money.usd / money.trials:.2g}; " if money.usd and plan.budget.usd else ""
    if sample is None:
        first = plan.ladder[0].delta
        tells = f"the budget is enough to try all mutants, first for drops of {first:g} or more, then for finer ones"
        return f"{price}{tells} while it lasts" if price else ""
    of, target = len(sample.counted), max(sample.looks, key=lambda look: look.share).drawn
    half = expected_sample_width(target, of) / 2
    why = "the budget is" if plan.bounded else f"a precision of {plan.precision:g} is"
    why = "budget and precision are" if plan.bounded and plan.precision else why
    return (
        f"{price}{why} enough for about {target} of {of} mutants {drops}: a random sample, from which the score is "
        f"known to about {half:.2f} to each side{_enough_for_all(sample, plan, money)}"
    )


def _enough_for_all(sample: Sample, plan: Plan, money: Money) -> str:
    """Return which budget is enough for all mutants in the first round, in the unit of the plan's budget."""
    trials = (money.trials + sample.for_all) / USED
    if plan.budget.usd and money.usd:
        return f". About ${trials * money.usd / money.trials:.2g} is enough for all of them"
    if plan.budget.trials:
        return f". About {trials:.0f} trials are enough for all of them"
    return ""


def _beside_the_proxy(sample: Sample, model: str) -> str:
    return (
        f"{sample.looks[0].drawn} of {len(sample.counted)} mutants, drawn at random, are tried with the agent's own "
        f"model; {model} has decided them all (mutation.proxy)"
    )


def expected_sample_width(drawn: int, of: int) -> float:
    """Return the expected width of the score's interval for `drawn` of `of` mutants, half of them killed."""
    return expected_width(drawn, of, ERROR, FALSE, MISSED)


def is_counted(mutant: Mutant) -> bool:
    """Return whether the mutation score counts a mutant."""
    return mutant.intent is Intent.DEGRADE and not mutant.parts


def expected_trials(mutant: Mutant, where: ReachingScenarios, known: BaselineFigures) -> float:
    """Return about how many trials a mutant takes in the round, before any of its trials has run."""
    design, here = design_of(mutant, where, known), known.plan.ladder[known.round]
    reaching = [known.baselines[name] for name in where.scenarios]
    alike = Counter(b.counts for b in reaching if b.shows(here.delta))
    survives = sum(
        scenarios * mean_trials(known.tables.get(f0, n0, design), (f0 + 0.5) / (n0 + 1))
        for (f0, n0), scenarios in alike.items()
    )
    killed = KILLED if is_counted(mutant) else 0.0
    return killed * min(KILL, survives) + (1 - killed) * survives


def _as_before(order: Sequence[str], counted: frozenset[str], only: Sampled) -> Sample | None:
    drawn = sum(id in counted for id in only.mutants)
    if drawn >= len(counted):
        return None
    first = [id for id in only.mutants if id in order]
    rest = [id for id in order if id not in only.mutants]
    looks = [
        Look(sum(id in counted for id in first[:end]), share)
        for end, share in zip(only.ends, only.shares, strict=True)
    ]
    return Sample([*first, *rest], counted, (*looks, Look(len(counted), 1.0)))


def _for_proxy(plan: Plan, counted: Collection[str]) -> int | None:
    """Return how many counted mutants the own model tries beside a cheap one, which decides all; None without it."""
    return max(LEAST_PAIRED, math.ceil(plan.proxy.part * len(counted))) if plan.proxy else None


def _for_precision(plan: Plan, counted: Collection[str]) -> int | None:
    if plan.precision is None or not counted:
        return None
    return sample_for(plan.precision, len(counted), ERROR, FALSE, MISSED)


def _for_money(
    plan: Plan, where: Mapping[str, ReachingScenarios], known: BaselineFigures, money: Money
) -> int | None:
    """Return how many counted mutants the budget allows in the first round; None if it allows all of them."""
    trials_left = money.trials_left(plan)
    if trials_left is None:
        return None
    mutants = {mutant.id: mutant for mutant in (*plan.mutants, *plan.identity, plan.destroyed)}
    beside = 1 + plan.rule.beside
    trials_left = USED * trials_left - sum(_controls(plan, where, known)) * beside
    drawn = 0
    for id in plan.sample:
        if id not in where:
            continue
        trials_left -= beside * expected_trials(mutants[id], where[id], known)
        if trials_left < 0:
            return max(1, drawn)
        drawn += is_counted(mutants[id])
    return None


def _for_all(
    plan: Plan, mutants: Mapping[str, Mutant], where: Mapping[str, ReachingScenarios], known: BaselineFigures
) -> float:
    mine = sum(expected_trials(mutant, where[id], known) for id, mutant in mutants.items())
    return (sum(_controls(plan, where, known)) + mine) * (1 + plan.rule.beside)


def _controls(plan: Plan, where: Mapping[str, ReachingScenarios], known: BaselineFigures) -> Iterable[float]:
    yield KILL
    yield from (
        expected_trials(control, where[control.id], known) for control in plan.identity if control.id in where
    )
