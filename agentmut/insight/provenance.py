"""The version of an agent that made some runs: the one with the most similar runs, with its error rate."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentmut._base import Frozen
from agentmut.insight.behaviour_score import ScenarioRun
from agentmut.insight.fingerprint import Feature

if TYPE_CHECKING:
    from agentmut.stats import Array

FEWEST = 5
"""Runs of a version from which it is known."""
DRAWS = 200
"""Batches of known runs on which the error of a batch is tried."""


class NearestVersion(Frozen):
    """The version whose runs are most similar to the given ones."""

    version: str
    runs: int
    """Runs that were asked about."""
    stated: tuple[str, ...]
    """The versions that the runs themselves state."""
    versions: tuple[str, ...]
    """The versions that were compared."""
    error_of_one: float
    """The share of known runs whose version is told wrongly from that run alone, each left out in turn."""
    error_of_batch: float
    """The share of batches of known runs that are told wrongly, each left out in turn."""
    batch: int
    """Runs of such a batch: as many as were asked about, or half of the version with the fewest."""
    by_chance: float
    """The share that guessing would get wrong."""


class _Known(NamedTuple):
    values: "Array"
    """A row for each run."""
    labels: Sequence[str]


def nearest_version(
    known: Mapping[str, Sequence[ScenarioRun]],
    asked: Sequence[ScenarioRun],
    stated: Sequence[str],
    seed: int = 0,
) -> NearestVersion | None:
    """Return the nearest version with at least `FEWEST` runs; None if fewer than two versions have so many.

    A run is its features less their mean over all known runs of its scenario, in units of their spread. The nearest
    version has the nearest mean (squared distance). Versions that behave alike are told apart no better than by
    chance, which `error_of_batch` says.
    """
    import numpy as np

    versions = {name: list(runs) for name, runs in known.items() if len(runs) >= FEWEST}
    if len(versions) < 2 or not asked:
        return None
    labels = [name for name, runs in versions.items() for _ in runs]
    every = [run for runs in versions.values() for run in runs]
    values, new = _tables(every, asked)
    table = _Known(values, labels)
    fewest = min(map(len, versions.values()))
    batch = max(1, min(len(asked), fewest // 2))
    rng = np.random.default_rng(seed)
    return NearestVersion(
        version=_nearest(table, new.mean(axis=0), np.ones(len(labels), dtype=bool)),
        runs=len(asked),
        stated=tuple(sorted(set(stated))),
        versions=tuple(versions),
        error_of_one=_error(table, [[at] for at in range(len(labels))]),
        error_of_batch=_error(table, _batches(table, batch, rng)),
        batch=batch,
        by_chance=1 - 1 / len(versions),
    )


def _tables(known: Sequence[ScenarioRun], asked: Sequence[ScenarioRun]) -> "tuple[Array, Array]":
    """Return both as rows of features, relative to their scenario's mean and the known runs' spread."""
    import numpy as np

    names = sorted({name for run in known for name in run.fingerprint.features})
    place = {name: at for at, name in enumerate(names)}
    values, new = (_filled(runs, place) for runs in (known, asked))
    scenarios = [run.scenario for run in known]
    counted = Counter(scenarios)
    whole = values.mean(axis=0)
    means = {name: values[[s == name for s in scenarios]].mean(axis=0) for name in counted}
    values = values - np.array([means[name] for name in scenarios])
    new = new - np.array([means.get(run.scenario, whole) for run in asked])
    spread = values.std(axis=0)
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


def _nearest(table: _Known, point: "Array", used: "Array") -> str:
    """Return the version with the nearest mean over the rows that are used."""
    labels = table.labels

    def distance(name: str) -> float:
        rows = [label == name and bool(used[at]) for at, label in enumerate(labels)]
        return float(((table.values[rows].mean(axis=0) - point) ** 2).sum())

    return min(sorted(set(labels)), key=distance)


def _error(table: _Known, batches: Sequence[Sequence[int]]) -> float:
    """Return the share of batches (rows of one version) that are misclassified when they are left out."""
    import numpy as np

    wrong = 0
    for rows in batches:
        used = np.ones(len(table.labels), dtype=bool)
        used[list(rows)] = False
        point = table.values[list(rows)].mean(axis=0)
        wrong += _nearest(table, point, used) != table.labels[rows[0]]
    return wrong / len(batches)


def _batches(table: _Known, size: int, rng: "object") -> list[list[int]]:
    import numpy as np

    assert isinstance(rng, np.random.Generator)
    rows = {
        name: [at for at, label in enumerate(table.labels) if label == name] for name in set(table.labels)
    }
    names = sorted(rows)
    drawn = [names[number % len(names)] for number in range(DRAWS)]
    return [[int(at) for at in rng.choice(rows[name], size, replace=False)] for name in drawn]
