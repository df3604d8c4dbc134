"""A score to a precision: how many mutants are drawn, and whether the bounds hold, by whole campaigns of coins."""

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentmut.campaign import CampaignState, drawing_order
from agentmut.stats import rounds_to
from benchmarks.calibration.drift import SCENARIOS, Field, a_result, field
from benchmarks.calibration.figures import Figure, Section, simulated_rate

BETA = 0.01
"""What `agentmut run --precision` takes."""
STRONG = 0.75
"""The drop of the first round, of which the upper end speaks."""


class Kind(NamedTuple):
    """A campaign: mutants, precision, the share of mutants that are worse, and the loss on one to three scenarios."""

    name: str
    mutants: int
    precision: float
    worse: float
    loss: tuple[float, float]
    rates: tuple[float, float]
    most_drawn: float
    """Mutants that are drawn at most, on average."""


KINDS = (
    Kind("300 mutants, 60 % lose .76 to .94", 300, 0.1, 0.6, (0.76, 0.94), (0.94, 1.0), 120),
    Kind("300 mutants, 30 % lose .76 to .94", 300, 0.1, 0.3, (0.76, 0.94), (0.94, 1.0), 120),
    Kind("300 mutants, none lose", 300, 0.1, 0.0, (0.76, 0.94), (0.9, 1.0), 120),
    Kind("300 mutants, 60 % lose .3 to .8", 300, 0.1, 0.6, (0.3, 0.8), (0.8, 1.0), math.inf),
    Kind("100 mutants, 60 % lose .76 to .94, precision .15", 100, 0.15, 0.6, (0.76, 0.94), (0.94, 1.0), 60),
)


class Ended(NamedTuple):
    """What one campaign came to."""

    drawn: int
    trials: int
    holds: tuple[bool, bool]
    """Whether the lower end is at most the share with any drop, and the upper at least that with a strong one."""
    width: float


def section(*, thorough: bool) -> Section:
    """Mutants drawn, trials and coverage of each kind of campaign."""
    figures: list[Figure] = []
    for kind in KINDS if thorough else (KINDS[-1],):
        with tempfile.TemporaryDirectory() as folder:
            on = field(Path(folder), kind.mutants)
            figures += _figures(
                kind, [play(on, kind, seed) for seed in range(1, 1 + (60 if thorough else 3))]
            )
    how = (
        f"Whole campaigns of coins through the campaign's state with `statistics.precision`: {SCENARIOS} scenarios "
        "that all reach every mutant, seeds from 1. The lower end has to be below the share of mutants with any drop, "
        f"the upper end above the share with a drop of {STRONG:g} or more, of which the first round speaks."
    )
    return Section("A score to a precision: a sample of the mutants", how, tuple(figures))


def play(on: Field, kind: Kind, seed: int) -> Ended:
    """Play a campaign to its end; trials are recorded in the order of their launches."""
    rng = np.random.default_rng([seed, 4])
    rates = rng.uniform(*kind.rates, SCENARIOS)
    losses = [_losses(rng, kind, rates) if i < kind.worse * kind.mutants else {} for i in range(kind.mutants)]
    lost = dict(zip(rng.permutation([mutant.id for mutant in on.plan.mutants]).tolist(), losses, strict=True))
    state = _state(on, kind, seed)
    trials = 0
    while (launch := state.launch()) is not None and not state.problem:
        at = int(launch.scenario[1:])
        loss = 1.0 if launch.mutant == state.plan.destroyed.id else lost.get(launch.mutant, {}).get(at, 0.0)
        trials += 1
        state.record(launch, a_result(launch, bool(rng.random() < rates[at] - loss), float(trials)))
    score = state.score_so_far()
    assert score.low is not None and score.high is not None
    any_, strong = (
        sum(max(each.values(), default=0.0) >= least for each in losses) for least in (1e-9, STRONG)
    )
    holds = score.low <= any_ / kind.mutants + 1e-9, score.high >= strong / kind.mutants - 1e-9
    drawn = state.sample.drawn if state.sample else kind.mutants
    return Ended(drawn, trials, holds, score.high - score.low)


def _state(on: Field, kind: Kind, seed: int) -> CampaignState:
    rounds = rounds_to(0.2)
    plan = on.plan.model_copy(
        update={
            "seed": seed,
            "rounds": rounds,
            "baseline": rounds[-1].baseline,
            "rule": on.plan.rule.model_copy(update={"beta": BETA}),
            "precision": kind.precision,
            "sample": drawing_order(on.plan.mutants, seed),
        }
    )
    return CampaignState(plan, on.session.suite, on.session.tests.scenarios, on.tables)


def _losses(rng: np.random.Generator, kind: Kind, rates: np.ndarray) -> dict[int, float]:
    where = rng.choice(SCENARIOS, int(rng.integers(1, 4)), replace=False)
    return {int(j): min(float(rates[j]), float(rng.uniform(*kind.loss))) for j in where}


def _figures(kind: Kind, ended: Sequence[Ended]) -> list[Figure]:
    drawn, trials = (
        np.array([getattr(each, name) for each in ended], dtype=float) for name in ("drawn", "trials")
    )
    most, bounded = kind.most_drawn, math.isfinite(kind.most_drawn)
    found = [
        Figure(
            f"mutants drawn, {kind.name}",
            float(drawn.mean()),
            f"at most {most:g}" if bounded else "-",
            high=most,
            error=_error(drawn),
        ),
        Figure(f"trials, {kind.name}", float(trials.mean()), "-", error=_error(trials)),
    ]
    for end, name in enumerate(("lower", "upper")):
        rate, error = simulated_rate([each.holds[end] for each in ended])
        found.append(Figure(f"{name} end holds, {kind.name}", rate, "at least 0.975", low=0.975, error=error))
    return found


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))
