"""What `agentmut watch` does to an agent that does not change, and how often it names the wrong version."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from agentmut.insight import ScenarioRun, nearest_version, scenario_run, scorer_of
from agentmut.stats import cusum_for, simulated_run_length
from agentmut.stats.sequential.run_length import average_run_length
from agentmut.usecases.watching import MORE_UNUSUAL, page_hinkley_on_scores, usual_up_to
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
KNOWN = 40
ASKED = (1, 5, 20)
BATCHES = 10
"""Runs of each version that are asked about beside the same known runs, in batches."""
FAULTY = partial(run, verifies=0.6, words=27)
"""The other version: it verifies less often, and its answers are a tenth shorter."""


class Lengths(NamedTuple):
    """What the two charts on behaviour do to one reference."""

    cusum: float
    page_hinkley: float
    soon: float
    """The share of walks on which Page-Hinkley alarms within `SOON` runs."""


def section(*, thorough: bool) -> Section:
    """Return true run lengths of the charts on behaviour, and stated against true errors of versions."""
    references, batches = (80, 60) if thorough else (10, 10)
    how = (
        f"Simulated (seed {SEED}): {references} references of {REFERENCE} runs of the agent of the section on "
        f"behaviour. {FURTHER} further runs of each are scored, and the charts' true run lengths are those on draws "
        f"from these. Each chart is planned for {EACH:g} runs to a false alarm, in 90 of 100 references or more. "
        f"Versions: {batches} times {KNOWN} known runs of each of two versions, and as many batches of the one as of "
        "the other; one verifies in 95 % of its runs and the other one in 60 %, with answers a tenth shorter."
    )
    return Section("Watching", how, (*_of_charts(references), *_of_versions(batches)))


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
    runs = _runs(run, rng, REFERENCE + FURTHER)
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


def _of_versions(batches: int) -> Iterator[Figure]:
    for asked in ASKED:
        found = [_told(np.random.default_rng([SEED, asked, i]), asked) for i in range(batches)]
        wrong, stated = (np.array(each) for each in zip(*found, strict=True))
        error = float(wrong.std(ddof=1)) / len(wrong) ** 0.5
        said = float(stated.mean())
        what = f"which version made a batch of {asked}: told wrongly"
        promise = f"as stated, {said:.3f}, to .03"
        yield Figure(what, float(wrong.mean()), promise, low=said - 0.03, high=said + 0.03, error=error)


def _told(rng: Generator, asked: int) -> tuple[float, float]:
    """Return the share of batches that the wrong version is named for, and the error rate that is stated with it.

    Both versions are asked about equally often.
    """
    known = {"old": _runs(run, rng, KNOWN), "new": _runs(FAULTY, rng, KNOWN)}
    wrong, stated = list[bool](), 0.0
    for name, agent in (("old", run), ("new", FAULTY)):
        for _ in range(max(1, BATCHES // asked)):
            found = nearest_version(known, _runs(agent, rng, asked), (), SEED)
            assert found is not None
            wrong.append(found.version != name)
            stated = found.error_of_batch
    return float(np.mean(wrong)), stated


def _runs(agent: Agent, rng: Generator, count: int) -> Sequence[ScenarioRun]:
    return [scenario_run(f"s{i % 2}", agent(rng).trace) for i in range(count)]
