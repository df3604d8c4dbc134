"""What `agentmut watch` does to an agent that does not change."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from agentmut.insight import ScenarioRun, scenario_run, scorer_of
from agentmut.stats import cusum_for, simulated_run_length
from agentmut.stats.sequential.run_length import average_run_length
from agentmut.usecases.watch_charts import MORE_UNUSUAL, page_hinkley_on_scores, usual_up_to
from benchmarks.calibration.behaviour import Agent, run
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SEED = 25
REFERENCE = 50
"""Runs of the reference, on two scenarios in turn."""
FURTHER = 500
"""Runs of the same agent that stand for all further ones."""
EACH = 400.0
"""Runs to a false alarm of one chart: four charts share --in-control 100."""
SOON = 20
"""A run length of 400 that is about geometric alarms within so many runs with chance .05."""


class Lengths(NamedTuple):
    """What the two charts on behaviour do to one reference."""

    cusum: float
    page_hinkley: float
    soon: float
    """The share of walks on which Page-Hinkley alarms within `SOON` runs."""


def section(*, thorough: bool) -> Section:
    """Return true run lengths of the charts on behaviour."""
    references = 80 if thorough else 10
    how = (
        f"Simulated (seed {SEED}): {references} references of {REFERENCE} runs of the agent of the section on "
        f"behaviour. {FURTHER} further runs of each are scored, and the charts' true run lengths are those on draws "
        f"from these. Each chart is planned for {EACH:g} runs to a false alarm, in 90 of 100 references or more."
    )
    return Section("Watching", how, tuple(_of_charts(references)))


def _of_charts(references: int) -> Iterator[Figure]:
    found = [_lengths(np.random.default_rng([SEED, i])) for i in range(references)]
    for name, lengths in (
        ("CUSUM", [each.cusum for each in found]),
        ("Page-Hinkley", [each.page_hinkley for each in found]),
    ):
        rate, error = simulated_rate(length >= EACH for length in lengths)
        what = f"{name} on behaviour: references with a run length of {EACH:g} or more"
        yield Figure(what, rate, "at least .9", low=0.9, error=error)
        yield Figure("  the median run length", float(np.median(lengths)), f"at least {EACH:g}", low=EACH)
    soon = np.array([each.soon for each in found])
    what = f"Page-Hinkley on behaviour: false alarm within {SOON} runs, over references"
    error = float(soon.std(ddof=1)) / len(soon) ** 0.5
    yield Figure(what, float(soon.mean()), "at most .05", high=0.05, error=error)


def _lengths(rng: Generator) -> Lengths:
    runs = behaviours(run, rng, REFERENCE + FURTHER)
    scorer = scorer_of(runs[:REFERENCE])
    scores = np.array([one for each in runs[REFERENCE:] if (one := scorer.score(each)) is not None])
    limit, rate = usual_up_to(scorer.reference)
    plan = cusum_for(rate, MORE_UNUSUAL, EACH)
    chart, _ = page_hinkley_on_scores(scorer.reference, EACH, SEED)
    draws = partial(_draws, scores)
    walks = simulated_run_length(chart, draws, rng, runs=100, horizon=4 * round(EACH))
    length = walks.mean / max(1 - walks.silent, 1 / walks.runs)
    soon = simulated_run_length(chart, draws, rng, runs=1_000, horizon=SOON)
    usual = min(0.999, round(float((scores <= limit).mean()), 3))
    return Lengths(average_run_length(plan.chart, usual), length, 1 - soon.silent)


def _draws(scores: np.ndarray, rng: Generator, size: int) -> np.ndarray:
    return np.asarray(rng.choice(scores, size))


def behaviours(agent: Agent, rng: Generator, count: int) -> Sequence[ScenarioRun]:
    """Return runs of an agent on two scenarios in turn."""
    return [scenario_run(f"s{i % 2}", agent(rng).trace) for i in range(count)]
