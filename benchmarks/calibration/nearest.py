"""How often the nearest version is the wrong one, and what is stated of it, where scenarios have few or many runs."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from agentmut.insight.provenance import compared_versions, nearest_version
from agentmut.stats import GroupedRows, error_rates
from benchmarks.calibration.behaviour import Agent, run
from benchmarks.calibration.figures import Figure, Section
from benchmarks.calibration.watch import behaviours

SEED = 26
SEED_OF_AGENTS = 25
KNOWN_RUNS = 40
ASKED = (1, 5, 10)
BATCHES = 60
PER_VERSION = 10
"""Runs of each version that are asked about beside the same known runs, in batches."""
FAULTY = partial(run, verifies=0.6, words=27)
"""The other version: it verifies less often, and its answers are a tenth shorter."""
FEATURES = 6
FURTHER = 20
"""Further batches of each version that are told, for each set of known runs."""
LEFT_OUT = 100
"""Batches of known runs that are left out in turn."""
TOLERANCE = 0.05


class Known(NamedTuple):
    """Known runs of two versions, on scenarios in turn."""

    first: int
    second: int
    scenarios: int
    apart: float
    """By how many standard deviations of a run the versions differ, in one of the features."""

    @property
    def batch(self) -> int:
        """Return the largest batch whose error `agentmut watch` states."""
        return max(1, min(self.first, self.second) // 4)

    def __str__(self) -> str:
        where = f"{self.scenarios} scenario{'' if self.scenarios == 1 else 's'}"
        return f"{self.first} and {self.second} runs on {where}, {self.apart:g} apart"


KNOWN = tuple(
    Known(*sizes, apart)
    for apart in (0.0, 0.7)
    for sizes in ((40, 40, 2), (40, 40, 20), (40, 40, 40), (12, 60, 6), (8, 8, 2))
)


def section(*, thorough: bool) -> Section:
    """Return true errors beside stated ones: of a simulated agent, and of rows of normal numbers."""
    how = (
        f"Simulated (seeds {SEED} and {SEED_OF_AGENTS}). First, {BATCHES} sets of {KNOWN_RUNS} known runs of each of "
        "two versions of the agent of the section on behaviour, on two scenarios in turn; one version verifies in 95 % "
        "of its runs and the other one in 60 %, with answers a tenth shorter. Then, 120 sets of known runs that are "
        f"{FEATURES} normal numbers each, around a mean of their scenario. Batches of both versions are told "
        "equally often."
    )
    return Section("Which version made these runs", how, (*_of_agents(thorough), *_of_numbers(thorough)))


def _of_numbers(thorough: bool) -> Iterator[Figure]:
    """Yield true errors against stated ones: both are means over sets of known runs."""
    for known in KNOWN if thorough else KNOWN[1:8:6]:
        found = np.array(
            [told(np.random.default_rng([SEED, i]), known) for i in range(120 if thorough else 20)]
        )
        (wrong, said), error = found.mean(axis=0), found.std(axis=0, ddof=1) / len(found) ** 0.5
        yield Figure(
            f"{known}, a batch of {known.batch}: told wrongly",
            float(wrong),
            f"as stated, {said:.3f}, to {TOLERANCE:g}",
            low=float(said) - TOLERANCE,
            high=float(said) + TOLERANCE,
            error=float(np.hypot(*error)),
        )


def told(rng: Generator, known: Known) -> tuple[float, float]:
    """Return the share of further batches that are told wrongly, and the stated error, for one set of known runs."""
    places = rng.normal(scale=3.0, size=(known.scenarios, FEATURES))
    shift = np.zeros((2, FEATURES))
    shift[1, 0] = known.apart
    groups = np.repeat([0, 1], known[:2])
    blocks = np.concatenate([np.arange(size) % known.scenarios for size in known[:2]])
    table = GroupedRows(
        places[blocks] + shift[groups] + rng.normal(size=(len(groups), FEATURES)), groups, blocks
    )
    wrong = []
    for number in range(2 * FURTHER):
        of = rng.integers(known.scenarios, size=known.batch)
        rows = places[of] + shift[number % 2] + rng.normal(size=(known.batch, FEATURES))
        wrong.append(table.nearest(rows, of) != number % 2)
    rows_of = [np.flatnonzero(groups == group) for group in range(2)]
    drawn = [rng.choice(rows_of[number % 2], known.batch, replace=False) for number in range(LEFT_OUT)]
    stated = error_rates(table, drawn)
    return float(np.mean(wrong)), sum(stated.values()) / len(stated)


def _of_agents(thorough: bool) -> Iterator[Figure]:
    batches = BATCHES if thorough else 10
    for asked in ASKED:
        found = [
            _told_of_agents(np.random.default_rng([SEED_OF_AGENTS, asked, i]), asked) for i in range(batches)
        ]
        wrong, stated = (np.array(each) for each in zip(*found, strict=True))
        error = float(wrong.std(ddof=1)) / len(wrong) ** 0.5
        said = float(stated.mean())
        what = f"which version made a batch of {asked}: told wrongly"
        promise = f"as stated, {said:.3f}, to .03"
        yield Figure(what, float(wrong.mean()), promise, low=said - 0.03, high=said + 0.03, error=error)


def _told_of_agents(rng: Generator, asked: int) -> tuple[float, float]:
    """Return the share of batches that the wrong version is named for, and the error rate that is stated with it.

    Both versions are asked about equally often.
    """
    known = {"old": behaviours(run, rng, KNOWN_RUNS), "new": behaviours(FAULTY, rng, KNOWN_RUNS)}
    wrong, first = list[bool](), behaviours(run, rng, asked)
    agents: tuple[Agent, Agent] = (run, FAULTY)
    for group, agent in enumerate(agents):
        for _ in range(max(1, PER_VERSION // asked)):
            wrong.append(compared_versions(known, behaviours(agent, rng, asked))[1] != group)
    found = nearest_version(known, first, (), SEED_OF_AGENTS)
    assert found is not None
    assert found.batch == asked
    return float(np.mean(wrong)), found.error_of_batch
