"""The version of an agent that made some runs: the one with the most similar runs, with its error rate."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agentmut._base import Frozen
from agentmut.insight.behaviour_score import WITHIN, ScenarioRun
from agentmut.insight.fingerprint import Feature

if TYPE_CHECKING:
    from numpy import int64
    from numpy.random import Generator
    from numpy.typing import NDArray

    from agentmut.stats import Array, GroupedRows

    Rows = NDArray[int64]

FEWEST = 5
"""Runs of a version from which it is known."""
DRAWS = 200
"""Batches of known runs on which the error of a batch is tried."""
MOST_SINGLE = 1_000
"""Known runs at most on which the error of a single run is tried."""


class NearestVersion(Frozen):
    """The version whose runs are most similar to the given ones."""

    version: str
    runs: int
    """Runs that were asked about; of many, some are compared."""
    stated: tuple[str, ...]
    """The versions that the runs themselves state."""
    versions: tuple[str, ...]
    """The versions that were compared."""
    error_of_one: float
    """The mean over versions of the share of known runs told wrongly from that run alone, each left out in turn."""
    errors_of_one: dict[str, float]
    """That share by version. A version whose runs vary more is told wrongly more often."""
    error_of_batch: float
    """The mean over versions of the share of batches of known runs told wrongly, each batch left out in turn."""
    errors_of_batch: dict[str, float]
    """That share by version."""
    batch: int
    """Runs of such a batch: as many as were asked about, or a quarter of the version with the fewest."""
    by_chance: float
    """The share that guessing would get wrong."""


def nearest_version(
    known: Mapping[str, Sequence[ScenarioRun]],
    asked: Sequence[ScenarioRun],
    stated: Sequence[str],
    seed: int = 0,
) -> NearestVersion | None:
    """Return the nearest version with at least `FEWEST` runs; None if fewer than two versions have so many.

    A run is its features in units of their spread. Effects of versions are fitted within scenarios, and the version
    with the nearest effect is the answer (`agentmut.stats.GroupedRows`). Where fewer than `WITHIN` of the runs are of
    scenarios that several versions have run, scenarios are not told apart. Versions that behave alike are told apart no
    better than by chance, which `error_of_batch` says.
    """
    import numpy as np

    from agentmut.stats import error_rates

    versions = {name: list(runs) for name, runs in known.items() if len(runs) >= FEWEST}
    if len(versions) < 2 or not asked:
        return None
    table, nearest = compared_versions(versions, asked)
    batch = max(1, min(len(asked), min(map(len, versions.values())) // 4))
    names, rng = list(versions), np.random.default_rng(seed)
    ones = error_rates(table, _ones(table, rng))
    batches = ones if batch == 1 else error_rates(table, _batches(table, batch, rng))
    by_one, by_batch = ({names[at]: rate for at, rate in sorted(found.items())} for found in (ones, batches))
    return NearestVersion(
        version=names[nearest],
        runs=len(asked),
        stated=tuple(sorted(set(stated))),
        versions=tuple(versions),
        error_of_one=_mean(by_one),
        errors_of_one=by_one,
        error_of_batch=_mean(by_batch),
        errors_of_batch=by_batch,
        batch=batch,
        by_chance=1 - 1 / len(versions),
    )


def _mean(rates: Mapping[str, float]) -> float:
    return sum(rates.values()) / len(rates)


def compared_versions(
    versions: Mapping[str, Sequence[ScenarioRun]], asked: Sequence[ScenarioRun]
) -> "tuple[GroupedRows, int]":
    """Return the known runs as a table, and the place of the version that the asked runs are nearest to."""
    import numpy as np

    from agentmut.stats import GroupedRows

    every = [run for runs in versions.values() for run in runs]
    values, new = _tables(every, asked)
    groups = np.repeat(np.arange(len(versions)), [len(runs) for runs in versions.values()])
    places = {name: at for at, name in enumerate(sorted({run.scenario for run in every}))}
    blocks = np.array([places[run.scenario] for run in every])
    of_asked = np.array([places.get(run.scenario, -1) for run in asked])
    table = GroupedRows(values, groups, blocks)
    if not table.comparable or _shared(table) < WITHIN or (of_asked >= 0).mean() < WITHIN:
        table, of_asked = GroupedRows(values, groups, np.zeros_like(blocks)), np.zeros_like(of_asked)
    known = of_asked >= 0
    return table, table.nearest(new[known], of_asked[known])


def _shared(table: "GroupedRows") -> float:
    """Return the share of runs whose scenario several versions have run."""
    several = (table.counts > 0).sum(axis=1) > 1
    return float(table.counts[several].sum() / table.counts.sum())


def _tables(known: Sequence[ScenarioRun], asked: Sequence[ScenarioRun]) -> "tuple[Array, Array]":
    """Return both as rows of features, in units of the spread of known runs within their scenarios."""
    import numpy as np

    names = sorted({name for run in known for name in run.fingerprint.features})
    place = {name: at for at, name in enumerate(names)}
    values, new = (_filled(runs, place) for runs in (known, asked))
    scenarios = np.array([run.scenario for run in known])
    centred = values.copy()
    for name in set(scenarios.tolist()):
        centred[scenarios == name] -= values[scenarios == name].mean(axis=0)
    spread = centred.std(axis=0)
    spread[spread == 0] = 1.0
    return values / spread, new / spread


def _filled(runs: Sequence[ScenarioRun], place: Mapping[Feature, int]) -> "Array":
    import numpy as np

    values = np.zeros((len(runs), len(place)))
    for row, run in enumerate(runs):
        for name, value in run.fingerprint.features.items():
            if name in place:
                values[row, place[name]] = value
    return values


def _ones(table: "GroupedRows", rng: "Generator") -> "list[Rows]":
    """Return single runs: all, or as many as `MOST_SINGLE`."""
    import numpy as np

    rows = np.arange(len(table.values))
    chosen = rows if len(rows) <= MOST_SINGLE else np.sort(rng.choice(rows, MOST_SINGLE, replace=False))
    return [chosen[at : at + 1] for at in range(len(chosen))]


def _batches(table: "GroupedRows", size: int, rng: "Generator") -> "list[Rows]":
    """Return batches drawn from known runs, of each version in turn."""
    import numpy as np

    of = [np.flatnonzero(table.groups == group) for group in range(table.counts.shape[1])]
    return [rng.choice(of[number % len(of)], size, replace=False) for number in range(DRAWS)]
