"""In real life: scenarios that pass seldom, or each at a rate of its own, and trials that resemble their neighbours."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentmut.campaign import CampaignState, Launch, Selection, make_mutants, make_plan
from agentmut.nouns import Status
from benchmarks.calibration.drift import SECONDS, Field, a_result, field
from benchmarks.calibration.figures import Figure, Section, simulated_rate

MUTANTS = 20
TAU_BENCH = (0.0,) * 14 + (0.25,) * 12 + (0.5,) * 10 + (0.75,) * 4 + (1.0,) * 10
"""Pass rates of the fifty airline tasks of tau-bench, four recorded trials of gpt-4o each."""

Generator = np.random.Generator


class Life(NamedTuple):
    """How the pass rates of ten scenarios are drawn for a campaign, and what is promised then."""

    name: str
    rates: Callable[[Generator, int], np.ndarray]
    """A function of a generator and the number of scenarios."""
    repeated: float = 0.0
    """The chance that a trial of a scenario falls as the scenario's trial before it, whoever that was of."""
    false_kills: float = 0.05
    unanswered: float = 1.0
    """The largest share of unchanged mutants that may end without any drop ruled out."""


def uniform(low: float, high: float) -> Callable[[Generator, int], np.ndarray]:
    """Return rates drawn evenly between two."""
    return lambda rng, n: rng.uniform(low, high, n)


LIVES = (
    Life("U(.05, .5)", uniform(0.05, 0.5)),
    Life("U(.6, 1)", uniform(0.6, 1.0), unanswered=0.02),
    Life("tau-bench's airline tasks", lambda rng, n: rng.choice(TAU_BENCH, n)),
    Life("all .9, a tenth of trials as the one before", uniform(0.9, 0.9), 0.1, 0.06),
    Life("all .9, three tenths of trials as the one before", uniform(0.9, 0.9), 0.3, 1.0),
)


class Ending(NamedTuple):
    """What became of the unchanged mutants of a campaign."""

    killed: int
    unanswered: int
    """Undecided with no drop ruled out."""
    mutants: int
    """Those that some testable scenario reached; none where the campaign could not be run."""


def section(*, thorough: bool) -> Section:
    """Measure false kills and mutants without an answer, for each way to draw the pass rates."""
    campaigns = 40 if thorough else 1
    with tempfile.TemporaryDirectory() as folder:
        on = in_rounds(field(Path(folder), MUTANTS if thorough else 6))
        figures = [
            each for life in (LIVES if thorough else LIVES[1:2]) for each in figures_of(on, life, campaigns)
        ]
    how = (
        f"Whole campaigns of coins in rounds through the campaign's state: ten scenarios with a rate each, drawn anew "
        f"for each campaign, {len(on.plan.mutants)} mutants without effect, {campaigns} campaigns a row, seeds from 1. "
        "An answer is a kill or a drop that is ruled out. Campaigns that end at once, since no scenario passes often "
        "enough, have no mutants to count."
    )
    return Section(
        "In real life: low and mixed pass rates, trials that resemble their neighbours", how, tuple(figures)
    )


def in_rounds(on: Field) -> Field:
    """Return the field with the plan that a project without settings has: rounds, and baselines that grow."""
    plan = make_plan(on.session, make_mutants(on.session, Selection()), 1, 0.0)
    return on._replace(plan=plan)


def figures_of(on: Field, life: Life, campaigns: int) -> list[Figure]:
    """Return the figures of one way to draw the rates."""
    ends = [play(on, life, seed) for seed in range(1, campaigns + 1)]
    rate, error = _share([e.killed for e in ends], [e.mutants for e in ends])
    left, left_error = _share([e.unanswered for e in ends], [e.mutants for e in ends])
    promised = f"at most {life.false_kills:g}" if life.false_kills < 1 else "-"
    answered = f"at most {life.unanswered:g}" if life.unanswered < 1 else "-"
    return [
        Figure(f"false kills, {life.name}", rate, promised, high=life.false_kills, error=error),
        Figure(
            f"unchanged mutants without an answer, {life.name}",
            left,
            answered,
            high=life.unanswered,
            error=left_error,
        ),
    ]


def _share(hits: Sequence[int], of: Sequence[int]) -> tuple[float, float]:
    """Return the share over all campaigns and its standard error, campaigns as the clusters."""
    total = sum(of)
    if total == 0:
        return 0.0, 0.0
    rate = sum(hits) / total
    rest = [hit - rate * n for hit, n in zip(hits, of, strict=True)]
    least = simulated_rate([False] * total)[1]
    return rate, max(float(np.sqrt(np.sum(np.square(rest)))) / total, least)


def play(on: Field, life: Life, seed: int) -> Ending:
    """Play a campaign to its end: no mutant has an effect."""
    state = CampaignState(
        on.plan.model_copy(update={"seed": seed}), on.session.suite, on.session.tests.scenarios, on.tables
    )
    rng = np.random.default_rng([seed, 18])
    names = tuple(on.session.tests.scenarios)
    rates = dict(zip(names, map(float, life.rates(rng, len(names))), strict=True))
    last: dict[str, bool] = {}
    now = 0.0
    while (launch := state.launch()) is not None and not state.problem:
        now += SECONDS
        state.record(launch, a_result(launch, _falls(state, launch, rates, last, life.repeated, rng), now))
    if state.problem:
        return Ending(0, 0, 0)
    arms = [state.arms[mutant.id] for mutant in state.plan.mutants]
    killed = sum(arm.status is Status.KILLED for arm in arms)
    unanswered = sum(arm.status is Status.UNDECIDED and arm.ruled_out is None for arm in arms)
    counted = sum(arm.status is not Status.UNTESTABLE for arm in arms)
    return Ending(killed, unanswered, counted)


def _falls(
    state: CampaignState,
    launch: Launch,
    rates: Mapping[str, float],
    last: dict[str, bool],
    repeated: float,
    rng: Generator,
) -> bool:
    """Return whether the trial passes, and keep it in `last`; the agent without prompt never does."""
    if launch.mutant == state.plan.destroyed.id:
        return False
    name = launch.scenario
    if name not in last or rng.random() >= repeated:
        last[name] = bool(rng.random() < rates[name])
    return last[name]
