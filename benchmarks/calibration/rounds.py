"""Rounds: what each of them costs and finds, by whole campaigns of coins through the campaign's state."""

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentmut.campaign import CampaignState
from agentmut.nouns import Status
from agentmut.stats import rounds_to
from benchmarks.calibration.drift import SCENARIOS, Field, a_result, field
from benchmarks.calibration.figures import Figure, Section

DELTAS = (0.75, 0.5, 0.3, 0.2)
STRONG, MIX = 28, 60
"""Mutants of the two campaigns that are simulated."""
CAMPAIGNS = 60


class Truth(NamedTuple):
    """The pass rates of the original by scenario, and those of each mutant where it is worse."""

    rates: Sequence[float]
    worse: Sequence[Mapping[int, float]]

    @property
    def real(self) -> int:
        """Mutants that are worse on some scenario."""
        return sum(map(bool, self.worse))


class Reached(NamedTuple):
    """What is known when a round has its answers."""

    trials: int
    killed: int
    false: int
    survived: int


class Played(NamedTuple):
    """A campaign from its start to its end."""

    truth: Truth
    rounds: Sequence[Reached]
    kills: Sequence[tuple[int, bool]]
    """When each kill was final, in trials, and whether the mutant is worse."""
    controls: int
    """Trials of the controls, and of the original beside them; no other figure counts them."""

    def found_by(self, trials: int) -> float:
        """Return the share of the worse mutants that so many trials have killed."""
        return sum(at <= trials for at, real in self.kills if real) / max(1, self.truth.real)


def strong(rng: np.random.Generator) -> Truth:
    """Half of 28 mutants lose .7 to 1 of the pass rate on one to three scenarios, which pass at .94 to 1."""
    rates = rng.uniform(0.94, 1, SCENARIOS)
    losses = [_lost(rng, rates, lambda p: p * rng.uniform(0.7, 1)) for _ in range(STRONG // 2)]
    return Truth(rates.tolist(), [*losses, *[{}] * (STRONG - len(losses))])


def mix(rng: np.random.Generator) -> Truth:
    """30 % of 60 mutants lose .5 to 1 on one to three scenarios, 20 % lose .2 to .3 on one, half lose nothing."""
    rates = rng.uniform(0.8, 1, SCENARIOS)
    large = [_lost(rng, rates, lambda _: rng.uniform(0.5, 1)) for _ in range(round(0.3 * MIX))]
    small = [_lost(rng, rates, lambda _: rng.uniform(0.2, 0.3), most=1) for _ in range(round(0.2 * MIX))]
    return Truth(rates.tolist(), [*large, *small, *[{}] * (MIX - len(large) - len(small))])


def unchanged(rng: np.random.Generator) -> Truth:
    """60 mutants lose nothing; scenarios pass at .8 to 1."""
    return Truth(rng.uniform(0.8, 1, SCENARIOS).tolist(), [{}] * MIX)


def section(*, thorough: bool, size: int | None = None) -> Section:
    """Trials, kills and false kills by round of three kinds of campaigns.

    A campaign of 28 mutants takes one second of processor time, one of 60 takes three. `size`: the campaigns of the
    first kind; of the others there are half as many.
    """
    strong_ones = (size or CAMPAIGNS) if thorough else 2
    others = max(2, strong_ones // 2)
    with tempfile.TemporaryDirectory() as folder:
        fields = {
            n: field(_made(Path(folder) / str(n)), n) for n in ((STRONG, MIX) if thorough else (STRONG,))
        }
        figures = [*_strong(fields[STRONG], strong_ones)]
        if thorough:
            figures += [*_mix(fields[MIX], others), *_unchanged(fields[MIX], others)]
    how = (
        f"Whole campaigns of coins through the campaign's state, {SCENARIOS} scenarios that all reach every mutant, "
        f"seeds from 1. {strong_ones} campaigns of `strong`, {others} of each other kind. Baselines, sentinels and the "
        "trials that confirm kills are counted; the controls' are a figure of their own. "
        "`strong`: half of 28 mutants lose .7 to 1 on one to three scenarios. `mix`: of 60 mutants 30 % lose .5 to 1, "
        "20 % lose .2 to .3 on one scenario, half lose nothing. `nothing lost`: none of 60 mutants loses anything."
    )
    return Section("Rounds: coarse first, finer as money allows", how, tuple(figures))


def play(on: Field, truth: Truth, seed: int, rng: np.random.Generator) -> Played:
    """Play a campaign to its end; trials are recorded in the order of their launches.

    Mutants of like promise come in a random order, since the worse ones stand first in a `Truth`.
    """
    shuffled = np.random.default_rng([seed, 29]).permutation(len(on.plan.mutants))
    order = tuple(on.plan.mutants[i].id for i in shuffled)
    plan = on.plan.model_copy(
        update={
            "seed": seed,
            "rounds": rounds_to(0.2),
            "baseline": 100,
            "baseline_limit": None,
            "order": order,
        }
    )
    state = CampaignState(plan, on.session.suite, on.session.tests.scenarios, on.tables)
    number = {mutant.id: i for i, mutant in enumerate(plan.mutants)}
    trials, controls, kills = 0, 0, []
    rounds: list[Reached] = []
    while (launch := state.launch()) is not None and not state.problem:
        if launch.arm and launch.arm not in number:
            controls += 1
        else:
            trials += 1
        at, rate = int(launch.scenario[1:]), truth.rates[int(launch.scenario[1:])]
        if launch.mutant == plan.destroyed.id:
            rate = 0.0
        elif launch.mutant in number:
            rate -= truth.worse[number[launch.mutant]].get(at, 0.0)
        now = state.round + 1
        open_before = launch.arm in number and state.arms[launch.arm].status is None
        state.record(launch, a_result(launch, bool(rng.random() < rate), float(trials)))
        if open_before and state.arms[launch.arm].status is Status.KILLED:
            kills.append((trials, bool(truth.worse[number[launch.arm]])))
        if len(rounds) < now and (state.decided or not state.baseline_complete):
            rounds.append(_reached(state, truth, trials))
    return Played(truth, rounds, kills, controls)


def _reached(state: CampaignState, truth: Truth, trials: int) -> Reached:
    found = [state.status(mutant.id) for mutant in state.plan.mutants]
    killed = [status is not None and status[0] is Status.KILLED for status in found]
    survived = sum(status is not None and status[0] is Status.SURVIVED for status in found)
    false = sum(is_killed and not worse for is_killed, worse in zip(killed, truth.worse, strict=True))
    return Reached(trials, sum(killed), false, survived)


def _campaigns(on: Field, make: Callable[[np.random.Generator], Truth], count: int) -> list[Played]:
    found = []
    for seed in range(1, count + 1):
        rng = np.random.default_rng([seed, 19])
        found.append(play(on, make(rng), seed, rng))
    return found


def _strong(on: Field, count: int) -> Iterator[Figure]:
    played = _campaigns(on, strong, count)
    value, error = _mean([each.found_by(620) for each in played])
    # two campaigns that happen to agree say nothing about the error: it is at least that of single kills
    error = max(error, math.sqrt(value * (1 - value) / sum(each.truth.real for each in played)))
    yield Figure("strong: kills found by 620 trials", value, "at least 0.95", low=0.95, error=error)
    for at, most in ((0, 720), (1, 1200)):
        yield _trials("strong", played, at, most)
    yield from _told("strong", played)


def _mix(on: Field, count: int) -> Iterator[Figure]:
    played = _campaigns(on, mix, count)
    yield _trials("mix", played, 3, 9500)
    value, error = _mean([each.rounds[-1].false for each in played])
    yield Figure("mix: false kills of a campaign", value, "at most 0.4", high=0.4, error=error)
    yield from _told("mix", played)


def _unchanged(on: Field, count: int) -> Iterator[Figure]:
    played = _campaigns(on, unchanged, count)
    value, error = _mean([each.rounds[-1].false / MIX for each in played])
    yield Figure(
        "nothing lost: false kills a mutant, at the end", value, "at most 0.02", high=0.02, error=error
    )


def _trials(name: str, played: Sequence[Played], at: int, most: float) -> Figure:
    value, error = _mean([each.rounds[min(at, len(each.rounds) - 1)].trials for each in played])
    what = f"{name}: trials until every mutant has its answer for {DELTAS[at]:g}"
    return Figure(what, value, f"at most {most:g}", high=most, error=error)


def _told(name: str, played: Sequence[Played]) -> Iterator[Figure]:
    value, error = _mean([each.controls for each in played])
    yield Figure(f"{name}: trials of the controls", value, "-", error=error)
    for at, delta in enumerate(DELTAS):
        here = [each.rounds[min(at, len(each.rounds) - 1)] for each in played]
        for what in ("trials", "killed", "survived"):
            value, error = _mean([getattr(reached, what) for reached in here])
            yield Figure(f"{name}: {what} at {delta:g}", value, "-", error=error)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    each = np.array(values, dtype=float)
    return float(each.mean()), float(each.std(ddof=1)) / math.sqrt(len(each)) if len(each) > 1 else 0.0


def _lost(
    rng: np.random.Generator, rates: np.ndarray, loss: Callable[[float], float], most: int = 3
) -> dict[int, float]:
    where = rng.choice(SCENARIOS, int(rng.integers(1, most + 1)), replace=False)
    return {int(j): min(float(rates[j]), loss(float(rates[j]))) for j in where}


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
