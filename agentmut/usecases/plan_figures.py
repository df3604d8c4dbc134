"""The expected cost and outcome of a campaign, before any money is spent."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from agentmut._base import Frozen
from agentmut.campaign import USED, expected_sample_width, first_round_within_trials
from agentmut.nouns import Mutant, OperatorClass
from agentmut.usecases.foresight import ExpectedCourse, Lanes

KILLED, KILLED_IN_FLOW = 0.5, 0.9
"""Share of the degrading mutants that the suite is taken to notice, where no earlier run tells; of those that change
the flow. A skipped node or a lost edge breaks most runs, whatever the model: 35 of 39 in `examples/order_pipeline`."""
USUAL_RATE = 0.95
"""The pass rate that a scenario is taken to have where no run of it is stored: suites are mostly tuned to pass."""


def chance_of_kill(mutant: Mutant) -> float:
    """Return the chance that the suite notices a degrading mutant, where no earlier run tells."""
    return KILLED_IN_FLOW if mutant.operator_class is OperatorClass.ORCHESTRATION else KILLED


def expected_rate(passes: int, trials: int, usual: float) -> float:
    """Return the expected pass rate of a scenario after stored trials; the usual rate weighs as much as one trial.

    So one pass makes a scenario look better than no trial does.

    >>> expected_rate(0, 0, 0.95), expected_rate(1, 1, 0.95)
    (0.95, 0.975)
    """
    return (passes + usual) / (trials + 1)


class PlannedMutant(NamedTuple):
    """A mutant before it is tried."""

    group: str
    """Its class."""
    degrades: bool
    lanes: Lanes | None
    """None where no scenario reaches it, so that it costs nothing."""
    usd: float | None
    """The price of one trial; None where no price is known."""
    killed: float = 0.5
    """The chance that the suite notices it, where it degrades and no earlier run tells."""
    of_model: bool = False
    """Whether it changes the model's name, so that no cheap model can decide it."""


class Unit(NamedTuple):
    """The cost of one trial of the original, and the number of parallel trials."""

    usd: float | None
    seconds: float | None
    at_a_time: int


class Amount(Frozen):
    """Trials with their cost; a cost is None if unknown."""

    trials: float
    usd: float | None
    minutes: float | None


class PlanLine(Frozen):
    """The expectation if every degrading mutant lowers the pass rate of one scenario by `drop`.

    The shares are of the degrading mutants that some scenario reaches, and sum to 1; null where there are none.
    Harmless (`preserve`) mutants and controls are taken to change nothing.
    """

    drop: float
    killed: float | None
    survived: float | None
    undecided: float | None
    total: Amount
    """Baseline, controls and mutants."""


class RoundLine(Frozen):
    """The cost until every mutant has its answer for drops of `delta` or more."""

    delta: float
    total: Amount
    """Baseline, controls and mutants of this round and of those before it."""


class Offer(Frozen):
    """The answers that a budget buys."""

    usd: float | None
    """The budget; None where it is one of trials."""
    trials: float
    """The budget in trials."""
    mutants: int
    """How many of the mutants that the score counts are tried; 0 where it is not enough for any."""
    of: int
    delta: float
    """The smallest drop that is looked for."""
    half_width: float | None
    """How well the score will be known by the draw of these mutants, to each side; None where all are tried."""


class CheapPlan(Frozen):
    """The cost of all rounds where a cheap model decides the mutants first (`mutation.proxy`)."""

    model: str
    cheap: Amount
    """The cheap model's run: all mutants but those of the model's name, with a baseline and controls of its own."""
    own: Amount
    """The run of the agent's own model, which decides `drawn` of the mutants."""
    drawn: int
    of: int
    """The mutants that the score counts."""


class ByHistory(Frozen):
    """The expectation from earlier runs of the project, without baseline and controls."""

    killed: float
    trials: float


class Foreseen(Frozen):
    """The content of `agentmut plan`. Version 1 of its JSON named `no_coverage` otherwise."""

    schema_version: int = 2
    kind: str = "plan"
    agentmut_version: str
    project: str
    mutants: dict[str, int]
    """By class; those that are ignored are left out."""
    no_coverage: int
    """Mutants that no stored run of the original reaches: they cost nothing and count against the score."""
    scenarios: int
    baseline: Amount
    lines: tuple[PlanLine, ...]
    rounds: tuple[RoundLine, ...] = ()
    """What can be learned for which amount, coarsest first; empty without rounds."""
    cheap: CheapPlan | None = None
    """None without `mutation.proxy`."""
    offers: tuple[Offer, ...] = ()
    """What round budgets are enough for, smallest first; empty without rounds."""
    buys: str = ""
    """What the budget of the project is enough for, in a sentence; empty without a budget."""
    history: ByHistory | None
    """None where there was no earlier run."""
    worst: Amount
    """Every scenario of every mutant to the end; the budget is not looked at."""
    stops: str = ""
    """Which budget would probably stop the run; empty where none would."""
    asks: str = ""
    """Why `agentmut run` will ask; empty where it will not."""
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()


Expect = Callable[[Lanes, float], ExpectedCourse]
"""Tells what a mutant's trials come to, from its scenarios and the drop that it causes."""


def plan_line(
    drop: float,
    mutants: Sequence[PlannedMutant],
    controls: Sequence[PlannedMutant],
    baseline_trials: int,
    unit: Unit,
    expect: Expect,
) -> PlanLine:
    """Add up what is expected of the mutants; see `PlanLine`."""
    told = [(each, expect(each.lanes, drop if each.degrades else 0.0)) for each in mutants if each.lanes]
    others = [(each, expect(each.lanes, drop if each.degrades else 0.0)) for each in controls if each.lanes]
    degrading = [found for each, found in told if each.degrades]
    spent = [(found.trials, each.usd) for each, found in (*told, *others)]
    return PlanLine(
        drop=drop,
        killed=_mean([found.killed for found in degrading]),
        survived=_mean([found.survived for found in degrading]),
        undecided=_mean([found.undecided for found in degrading]),
        total=amount([(baseline_trials, unit.usd), *spent], unit),
    )


STRONG = 0.75
"""The drop that mutants are taken to cause which are killed in the first round."""


def round_line(
    delta: float,
    mutants: Sequence[PlannedMutant],
    controls: Sequence[PlannedMutant],
    baseline_trials: int,
    unit: Unit,
    first: Expect,
    here: Expect,
    share_killed: float | None,
) -> RoundLine:
    """Return the cost of the rounds up to the one with `delta`.

    A round judges the trials of those before it again, so a survivor takes what this round alone would take (`here`).
    The share of degrading mutants that is killed, each mutant's own chance without one, takes what a drop of 0.75 takes
    in the first round (`first`).
    """
    spent: list[tuple[float, float | None]] = [(baseline_trials, unit.usd)]
    for each in (*mutants, *controls):
        if each.lanes:
            killed = (each.killed if share_killed is None else share_killed) if each.degrades else 0.0
            trials = killed * first(each.lanes, STRONG).trials + (1 - killed) * here(each.lanes, 0.0).trials
            spent.append((trials, each.usd))
    return RoundLine(delta=delta, total=amount(spent, unit))


MOST_KILLED = 0.9
"""Share of the degrading mutants that a suite kills which misses little."""


def most_killed(
    mutants: Sequence[PlannedMutant],
    controls: Sequence[PlannedMutant],
    baseline_trials: int,
    unit: Unit,
    in_rounds: Sequence[Expect],
) -> str:
    """Return the cost of all rounds if the suite kills nearly all mutants, since survivors cost most."""
    first, last = in_rounds[0], in_rounds[-1]
    total = round_line(0.0, mutants, controls, baseline_trials, unit, first, last, MOST_KILLED).total
    usd = "" if total.usd is None else f", ${total.usd:.2f}"
    return (
        f"survivors take most of the trials: a suite that kills {MOST_KILLED:g} of the degrading mutants takes "
        f"{total.trials:,.0f} trials{usd} in all. After a first run the plan uses the share that was killed"
    )


def buys(rounds: Sequence[RoundLine], limits: tuple[float | None, float | None, float | None]) -> str:
    """Return which drops the budget (trials, US dollars, minutes) probably allows; empty without a budget."""
    if not rounds or not any(limit is not None for limit in limits):
        return ""
    reached = [each for each in rounds if not stopped_by(limits, each.total)]
    if not reached:
        need = rounds[0].total
        money = "" if need.usd is None else f", about ${need.usd:.2f}"
        return (
            f"The budget is probably not enough for the first round: it takes about {need.trials:.0f} trials{money}. "
            "A part of the scenarios takes less (--sample-scenarios)."
        )
    names = ("trials", "usd", "minutes")
    given = [f"{name} {limit:g}" for name, limit in zip(names, limits, strict=True) if limit is not None]
    drop = f"a drop of {reached[-1].delta:g} or more"
    return f"With the budget ({', '.join(given)}) you learn of every mutant whether {drop} is noticed."


AMOUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Round budgets in US dollars."""
TRIALS_OF_A_DOLLAR = 100
"""For budgets in trials, where no price is known."""
MOST_OFFERS = 5


class FirstRound(NamedTuple):
    """The cost of the first round apart from mutants, and the mutants that it tries."""

    scenarios: int
    baseline: int
    controls: float
    """Trials of the controls."""
    counted: int
    """The mutants that the score counts and some scenario reaches."""


def offers(rounds: Sequence[RoundLine], first: FirstRound, own: float | None = None) -> tuple[Offer, ...]:
    """Return what round budgets buy, from the first that buys an answer to the first that buys all.

    `own` is the user's budget in US dollars, which is among them where a price is known, whatever it buys.
    """
    if not rounds or not first.counted:
        return ()
    each = price_of(rounds)
    own = own if each else None
    amounts = sorted({*AMOUNTS, *filter(None, [own])})
    found = list(_up_to_all([_offer_for(amount, each, rounds, first) for amount in amounts], rounds, own))
    kept = [offer for offer in found if offer.mutants][-MOST_OFFERS:]
    return tuple(offer for offer in found if offer in kept or (own and offer.usd == own))


def offers_from(
    rounds: Sequence[RoundLine], first: FirstRound, own: float | None, own_trials: int | None = None
) -> tuple[Offer, ...]:
    """Return what a budget of `own` US dollars or `own_trials` buys, then larger ones that each buy more.

    Where neither is given, those are the round budgets of `offers`.
    """
    if own is None and own_trials is None:
        return offers(rounds, first)
    if not rounds or not first.counted:
        return ()
    each = price_of(rounds) if own is not None else None
    mine = own if own is not None else float(own_trials or 0) / TRIALS_OF_A_DOLLAR
    amounts = [mine, *(amount for amount in AMOUNTS if amount > mine)]
    found = list(_up_to_all([_offer_for(amount, each, rounds, first) for amount in amounts], rounds, mine))
    more = [later for before, later in pairwise(found) if _bought(later) != _bought(before)]
    return (found[0], *more[: MOST_OFFERS - 1])


def price_of(rounds: Sequence[RoundLine]) -> float | None:
    """Return the mean price of a trial in the first round, in US dollars; None where no price is known."""
    usd = rounds[0].total.usd
    return usd / rounds[0].total.trials if usd else None


def _bought(offer: Offer) -> tuple[int, float]:
    return offer.mutants, offer.delta


def _offer_for(amount: float, each: float | None, rounds: Sequence[RoundLine], first: FirstRound) -> Offer:
    trials = amount / each if each else amount * TRIALS_OF_A_DOLLAR
    return _offer(amount if each else None, trials, rounds, first)


def _up_to_all(found: Iterable[Offer], rounds: Sequence[RoundLine], own: float | None) -> Iterator[Offer]:
    """Yield offers up to the first that buys all, and the user's own."""
    whole = False
    for offer in found:
        if not whole or (own and offer.usd == own):
            yield offer
        whole = whole or (offer.half_width is None and offer.delta == rounds[-1].delta)


def _offer(usd: float | None, trials: float, rounds: Sequence[RoundLine], first: FirstRound) -> Offer:
    of = first.counted
    paid = [each for each in rounds if each.total.trials <= trials]
    if paid:
        return Offer(usd=usd, trials=trials, mutants=of, of=of, delta=paid[-1].delta, half_width=None)
    cut = first_round_within_trials(int(trials), first.baseline, first.scenarios)
    usual = first.scenarios * first.baseline + first.controls
    a_mutant = max(1.0, (rounds[0].total.trials - usual) / of)
    left = USED * (trials - cut.trials * first.scenarios) - first.controls
    drawn = 0 if cut.refusal else max(0, min(of - 1, int(left / a_mutant)))
    half = round(expected_sample_width(drawn, of) / 2, 2) if drawn else 0.5
    return Offer(usd=usd, trials=trials, mutants=drawn, of=of, delta=rounds[0].delta, half_width=half)


def amount(parts: Iterable[tuple[float, float | None]], unit: Unit) -> Amount:
    """Return the sum of trials with their own prices. A part without a price leaves the sum unknown."""
    parts = [part for part in parts if part[0]]
    trials = sum(count for count, _ in parts)
    known = [count * usd for count, usd in parts if usd is not None]
    return Amount(
        trials=trials,
        usd=sum(known) if len(known) == len(parts) else None,
        minutes=None if unit.seconds is None else trials * unit.seconds / unit.at_a_time / 60,
    )


def stopped_by(limits: tuple[float | None, float | None, float | None], expected: Amount) -> str:
    """Return which budget (trials, US dollars, minutes) is below the expectation; empty if none is."""
    names = ("budget.trials", "budget.usd", "budget.minutes")
    wanted = (expected.trials, expected.usd, expected.minutes)
    over = [
        f"{name} ({limit:,g}, {_figure(need)} expected)"
        for name, limit, need in zip(names, limits, wanted, strict=True)
        if limit is not None and need is not None and need > limit
    ]
    return " and ".join(over)


def _figure(need: float) -> str:
    """Return a number with what a reader compares.

    >>> _figure(8706.4), _figure(0.5)
    ('8,706', '0.5')
    """
    return f"{need:,.0f}" if need >= 100 else f"{need:.3g}"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
