"""What a CI run would have seen, end to end: campaigns of coins through the engine, with the runs after each kill.

`python -m benchmarks.calibration.ci_engine` prints the mean errors, and stores them with `--write`. `--size N` takes N
campaigns a cell.
"""

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentmut.campaign import CampaignState, chances_of_red
from agentmut.nouns import Status
from agentmut.stats import rounds_to
from benchmarks.calibration.__main__ import report
from benchmarks.calibration.ci import THRESHOLD, red_at
from benchmarks.calibration.drift import SCENARIOS, Field, a_result, field
from benchmarks.calibration.figures import Figure, Section
from benchmarks.calibration.rounds import MIX, Truth, mix

RATES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
RATES_QUICK = (0.95,)
LOSSES = (0.1, 0.2, 0.4, 0.8)
"""Each mutant loses one of these on one of ten scenarios, at most its pass rate."""
WEAK = 0.2
EACH = 4
"""Mutants of each loss."""
RUNS = (1, 10)
CAMPAIGNS, CAMPAIGNS_QUICK = 40, 2
MIXED = 2
"""Campaigns of the realistic mix, for the price."""


class Seen(NamedTuple):
    """A mutant with its answer: what it lost, and the error of its chance of red, for each number of runs."""

    lost: float
    killed: bool
    errors: tuple[float, ...]


class Course(NamedTuple):
    """A campaign: its mutants, its trials, and how many of these were runs after kills."""

    mutants: Sequence[Seen]
    left_out: int
    trials: int
    after_kills: int


def play(on: Field, truth: Truth, seed: int, rng: np.random.Generator) -> Course:
    """Play a campaign in rounds to its end, and compare its chances of red with those at the true rates."""
    plan = on.plan.model_copy(update={"seed": seed, "rounds": rounds_to(0.2), "baseline": 100})
    state = CampaignState(plan, on.session.suite, on.session.tests.scenarios, on.tables)
    number, trials = {mutant.id: i for i, mutant in enumerate(plan.mutants)}, 0
    while (launch := state.launch()) is not None and not state.problem:
        trials += 1
        at = int(launch.scenario[1:])
        rate = 0.0 if launch.mutant == plan.destroyed.id else truth.rates[at]
        if launch.mutant in number:
            rate -= truth.worse[number[launch.mutant]].get(at, 0.0)
        state.record(launch, a_result(launch, bool(rng.random() < rate), float(trials)))
    if state.problem:
        raise ArithmeticError(state.problem)
    return Course(
        *_seen(on, state, truth), trials, sum(j.counts.trials for j in state.after_kills.jobs.values())
    )


def _seen(on: Field, state: CampaignState, truth: Truth) -> tuple[list[Seen], int]:
    found, left_out = [], 0
    for mutant, worse in zip(state.plan.mutants, truth.worse, strict=True):
        status, _ = state.status(mutant.id) or (Status.UNDECIDED, "")
        if status not in (Status.KILLED, Status.SURVIVED):
            continue
        rates = [rate - worse.get(at, 0.0) for at, rate in enumerate(truth.rates)]
        red = [(each.runs, each.value) for each in chances_of_red(on.session, state, mutant)]
        errors = [value - red_at(rates, THRESHOLD, runs) for runs, value in red if value is not None]
        if len(errors) == len(RUNS):
            found.append(Seen(max(worse.values(), default=0.0), status is Status.KILLED, tuple(errors)))
        else:
            left_out += 1
    return found, left_out


def truth_at(p: float) -> Truth:
    """Return ten scenarios of one pass rate, and mutants that each lose on one of them."""
    losses = [min(p, loss) for loss in LOSSES for _ in range(EACH)]
    return Truth([p] * SCENARIOS, [{i % SCENARIOS: loss} for i, loss in enumerate(losses)])


def section(*, thorough: bool, size: int | None = None) -> Section:
    """Return the mean errors of the chance of red on killed mutants, and the price of the runs after kills."""
    campaigns, rates = (size or CAMPAIGNS, RATES) if thorough else (CAMPAIGNS_QUICK, RATES_QUICK)
    with tempfile.TemporaryDirectory() as folder:
        on = field(_made(Path(folder) / "few"), EACH * len(LOSSES))
        figures = [figure for p in rates for figure in _errors(on, p, campaigns)]
        if thorough:
            figures += _price(field(_made(Path(folder) / "mix"), MIX))
    how = (
        f"Whole campaigns of coins through the campaign's state, in rounds, seeds from 1: {SCENARIOS} scenarios of one "
        f"pass rate, threshold {THRESHOLD:g}, {campaigns} campaigns a cell. Each of {EACH * len(LOSSES)} mutants loses "
        f"{', '.join(f'{loss:g}' for loss in LOSSES)} on one scenario. A figure is the mean error of the chance of "
        "red over killed mutants; its standard error is taken over campaigns. The price is that of the realistic mix "
        f"of the section on rounds, {MIXED} campaigns."
    )
    return Section("Red CI runs: killed mutants, through the engine", how, tuple(figures))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _errors(on: Field, p: float, campaigns: int) -> Iterator[Figure]:
    rngs = [np.random.default_rng([seed, round(1000 * p), 23]) for seed in range(1, campaigns + 1)]
    played = [play(on, truth_at(p), seed, rng) for seed, rng in enumerate(rngs, 1)]
    for name, most in (("killed mutants", 1.0), ("killed mutants that lost 0.1 or 0.2", WEAK)):
        groups = [[x for x in course.mutants if x.killed and x.lost <= most] for course in played]
        for at, runs in enumerate(RUNS):
            mean, error = pooled_mean([[seen.errors[at] for seen in group] for group in groups])
            what = f"mean error on {name}, ten scenarios at {p:g}, R = {runs}"
            yield Figure(what, mean, "at most 0.02 either way", -0.02, 0.02, error)


def pooled_mean(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the mean of all values and its standard error, where values of one group resemble each other."""
    count = sum(map(len, groups))
    if not count:
        return 0.0, 0.0
    mean = sum(map(sum, groups)) / count
    apart = [sum(group) - mean * len(group) for group in groups]
    return mean, max(math.sqrt(sum(each**2 for each in apart)) / count, 1e-3)


def _price(on: Field) -> Iterator[Figure]:
    played = []
    for seed in range(1, MIXED + 1):
        rng = np.random.default_rng([seed, 19])
        played.append(play(on, mix(rng), seed, rng))
    share = sum(course.after_kills for course in played) / sum(course.trials for course in played)
    kills = sum(seen.killed for course in played for seen in course.mutants)
    each = sum(course.after_kills for course in played) / kills
    yield Figure(
        "runs after kills, share of all trials, the realistic mix", share, "at most 0.015", high=0.015
    )
    yield Figure("runs after a kill, the realistic mix", each, "-")


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("--size", type=int)
    asked.add_argument("--write", action="store_true")
    given = asked.parse_args()
    report(
        section(thorough=True, size=given.size),
        "python -m benchmarks.calibration.ci_engine",
        write=given.write,
    )
