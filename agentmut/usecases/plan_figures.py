"""What a campaign will probably take and find, before anything is spent."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from agentmut._base import Frozen
from agentmut.usecases.foresight import Expected, Lanes


class PlannedMutant(NamedTuple):
    """A mutant before it is tried."""

    group: str
    """Its class."""
    degrades: bool
    lanes: Lanes | None
    """None where no scenario reaches it, so that it costs nothing."""
    usd: float | None
    """Of one trial; None where no price is known."""


class Unit(NamedTuple):
    """What one trial of the original takes, and how many go on at a time."""

    usd: float | None
    seconds: float | None
    at_a_time: int


class Amount(Frozen):
    """Trials with what they take; None where nothing tells."""

    trials: float
    usd: float | None
    minutes: float | None


class PlanLine(Frozen):
    """What to expect if every degrading mutant lowers the pass rate of one scenario by `drop`.

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
    """What it takes until every mutant has its answer for drops of `delta` or more."""

    delta: float
    total: Amount
    """Baseline, controls and mutants of this round and of those before it."""


class ByHistory(Frozen):
    """What earlier runs of the project lead to expect of the mutants, without baseline and controls."""

    killed: float
    trials: float


class Foreseen(Frozen):
    """What `agentmut plan` says."""

    schema_version: int = 1
    kind: str = "plan"
    agentmut_version: str
    project: str
    mutants: dict[str, int]
    """By class; those that are ignored are left out."""
    unreached: int
    """Mutants that no stored run of the original reaches: they cost nothing and count against the score."""
    scenarios: int
    baseline: Amount
    lines: tuple[PlanLine, ...]
    rounds: tuple[RoundLine, ...] = ()
    """What can be learned for which amount, coarsest first; empty without rounds."""
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


def plan_line(
    drop: float,
    mutants: Sequence[PlannedMutant],
    controls: Sequence[PlannedMutant],
    baseline_trials: int,
    unit: Unit,
    expect: Callable[[Lanes, float], Expected],
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


Expect = Callable[[Lanes, float], Expected]
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
    share_killed: float,
) -> RoundLine:
    """Add up what the rounds take until the one with `delta` has its answers.

    A round judges the trials of those before it again, so a survivor takes what this round alone would take (`here`).
    The share of degrading mutants that is killed takes what a drop of 0.75 takes in the first round (`first`).
    """
    spent: list[tuple[float, float | None]] = [(baseline_trials, unit.usd)]
    for each in (*mutants, *controls):
        if each.lanes:
            killed = share_killed if each.degrades else 0.0
            trials = killed * first(each.lanes, STRONG).trials + (1 - killed) * here(each.lanes, 0.0).trials
            spent.append((trials, each.usd))
    return RoundLine(delta=delta, total=amount(spent, unit))


def buys(rounds: Sequence[RoundLine], limits: tuple[float | None, float | None, float | None]) -> str:
    """Say which drops the budget (trials, US dollars, minutes) is probably enough for; empty without a budget."""
    if not rounds or not any(limit is not None for limit in limits):
        return ""
    reached = [each for each in rounds if not stopped_by(limits, each.total)]
    if not reached:
        need = rounds[0].total
        money = "" if need.usd is None else f", about ${need.usd:.2f}"
        return f"The budget is probably not enough for the first round: it takes about {need.trials:.0f} trials{money}."
    return f"The budget is probably enough to learn which drops of {reached[-1].delta:g} or more are noticed."


def amount(parts: Iterable[tuple[float, float | None]], unit: Unit) -> Amount:
    """Return trials with their price each, together. A part without a price leaves the sum unknown."""
    parts = [part for part in parts if part[0]]
    trials = sum(count for count, _ in parts)
    known = [count * usd for count, usd in parts if usd is not None]
    return Amount(
        trials=trials,
        usd=sum(known) if len(known) == len(parts) else None,
        minutes=None if unit.seconds is None else trials * unit.seconds / unit.at_a_time / 60,
    )


def stopped_by(limits: tuple[float | None, float | None, float | None], expected: Amount) -> str:
    """Return which budget (trials, US dollars, minutes) is less than what is expected; empty where none is."""
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
