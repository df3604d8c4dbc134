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
    """Runs of such a batch: as many as were asked about, or half of the version with the fewest."""
    by_chance: float
    """The share that guessing would get wrong."""


class _Known(NamedTuple):
    values: "Array"
    """A row for each run."""
    labels: Sequence[str]
    sums: Mapping[str, "Array"]
    """The sum of the rows of each version."""

    @classmethod
    def of(cls, values: "Array", labels: Sequence[str]) -> "_Known":
        """Return the known runs with the sums of their versions."""
        import numpy as np

        names = np.array(labels)
        return cls(values, labels, {name: values[names == name].sum(axis=0) for name in sorted(set(labels))})


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
    table = _Known.of(values, labels)
    fewest = min(map(len, versions.values()))
    batch = max(1, min(len(asked), fewest // 2))
    ones = _errors(table, [[at] for at in range(len(labels))])
    batches = _errors(table, _batches(table, batch, np.random.default_rng(seed)))
    return NearestVersion(
        version=_nearest(table, new.mean(axis=0), ()),
        runs=len(asked),
        stated=tuple(sorted(set(stated))),
        versions=tuple(versions),
        error_of_one=sum(ones.values()) / len(ones),
        errors_of_one=ones,
        error_of_batch=sum(batches.values()) / len(batches),
        errors_of_batch=batches,
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


def _nearest(table: _Known, point: "Array", left_out: Sequence[int]) -> str:
    """Return the version with the nearest mean over its rows; `left_out` are rows of one version that are not used."""
    own = table.labels[left_out[0]] if left_out else None
    counted = Counter(table.labels)

    def distance(name: str) -> float:
        total, count = table.sums[name], counted[name]
        if name == own:
            total, count = total - table.values[list(left_out)].sum(axis=0), count - len(left_out)
        return float(((total / count - point) ** 2).sum())

    return min(table.sums, key=distance)


def _errors(table: _Known, batches: Sequence[Sequence[int]]) -> dict[str, float]:
    """Return, by version, the share of its batches (rows of one version) that are misclassified when left out."""
    wrong: dict[str, list[bool]] = {}
    for rows in batches:
        name = table.labels[rows[0]]
        told = _nearest(table, table.values[list(rows)].mean(axis=0), rows)
        wrong.setdefault(name, []).append(told != name)
    return {name: sum(each) / len(each) for name, each in sorted(wrong.items())}


def _batches(table: _Known, size: int, rng: "object") -> list[list[int]]:
    import numpy as np

    assert isinstance(rng, np.random.Generator)
    rows = {
        name: [at for at, label in enumerate(table.labels) if label == name] for name in set(table.labels)
    }
    names = sorted(rows)
    drawn = [names[number % len(names)] for number in range(DRAWS)]
    return [[int(at) for at in rng.choice(rows[name], size, replace=False)] for name in drawn]
