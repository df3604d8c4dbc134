"""Has an agent changed in the runs that arrive? Charts over imported runs in the order of their start."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import UsageError, make_importable
from agentmut.insight import NearestVersion, ScenarioRun, Scorer, nearest_version, scenario_run, scorer_of
from agentmut.nouns import Origins
from agentmut.store import Import, ImportQuery, Imports
from agentmut.usecases.analysis_runs import Judging, is_evidence
from agentmut.usecases.drift import Chart
from agentmut.usecases.importing import foreign_store
from agentmut.usecases.watch_charts import (
    CHARTS,
    FEWEST_SCORES,
    ChartInput,
    charts_of_behaviour,
    charts_of_pass_rate,
)
from agentmut.usecases.watch_report import ChartRow, VersionRuns, WatchReport

MOST_COMPARED = 1_000
"""Runs of a version, and watched runs, that are compared to tell the version."""


class WatchWish(NamedTuple):
    """How runs are watched."""

    query: ImportQuery = ImportQuery()
    reference: int = 50
    drop: float = 0.1
    """The fall of the pass rate that matters."""
    in_control: float = 1000.0
    """Runs to the first false alarm of any chart, on average."""
    seed: int = 0


class _Read(NamedTuple):
    """The runs that are watched, in the order of their start."""

    runs: list[ChartInput]
    scorer: Scorer
    origins: Origins


def watch_imports(project: str | Path = ".", wish: WatchWish | None = None) -> WatchReport:
    """Hold the imported runs of a project against the first ones, in the order of their start: `agentmut watch`.

    The runs are read a page at a time; a few numbers of each are kept. Raises `UsageError` where nothing is imported,
    and for values out of range.
    """
    asked = wish or WatchWish()
    _check(asked)
    with foreign_store(project) as home:
        imports = home.store.imports
        numbers = imports.numbers(asked.query)
        if not numbers:
            raise UsageError(_nothing(imports))
        if home.project is not None:
            make_importable(home.root)
        read = _read(imports.some(numbers), asked.reference, Judging((), home.project, home.root))
        return _report(imports, read, asked)


def _read(imported: Iterable[Import], reference: int, judging: Judging) -> _Read:
    runs: list[ChartInput] = []
    first: list[ScenarioRun] = []
    scorer: Scorer | None = None
    foreign = 0
    for record in imported:
        run = judging.judged(record.trial)
        if not is_evidence(run):
            continue
        foreign += not record.trial.trial.exported_as
        behaviour = scenario_run(run.found.scenario, run.trace)
        if len(first) < reference:
            first.append(behaviour)
            runs.append(ChartInput(record.number, run.passed))
            continue
        scorer = scorer or scorer_of(first)
        runs.append(ChartInput(record.number, run.passed, scorer.score(behaviour)))
    return _Read(runs, scorer or scorer_of(first), Origins(runs=len(runs), foreign=foreign))


def _report(imports: Imports, read: _Read, wish: WatchWish) -> WatchReport:
    """Return what charts say of the runs."""
    runs, later = read.runs, read.runs[wish.reference :]
    run_length = wish.in_control * CHARTS
    rate, on_rate = charts_of_pass_rate(runs, Chart(wish.drop, wish.reference, run_length))
    charts = [*on_rate, *charts_of_behaviour(read.scorer, later, run_length, wish.seed)]
    places = {run.number: at for at, run in enumerate(later)}
    begin = min((places.get(run.number, 0) for _, run in charts if run is not None), default=0)
    return WatchReport(
        reference=len(runs) - len(later),
        watched=len(later),
        in_control=wish.in_control,
        pass_rate=rate,
        within_scenarios=read.scorer.within_scenarios,
        charts=tuple(_placed(row, run, imports) for row, run in charts),
        origins=read.origins,
        versions=_versions(imports, runs, wish.reference),
        nearest=_nearest(imports, [run.number for run in later[begin:]], wish.seed),
    )


def _nothing(imports: Imports) -> str:
    """Return why there is no run to watch: the store has none, or none that fits."""
    stored = imports.totals()
    if not stored.trials:
        return "the store holds no imported run to watch. Name a file or folder with recorded runs."
    return (
        f"no imported run fits --since and --version. The store holds {stored.trials} imported runs of the versions "
        f"{', '.join(stored.versions)}."
    )


def _versions(imports: Imports, runs: Sequence[ChartInput], reference: int) -> tuple[VersionRuns, ...]:
    """Return how many runs of the reference, and how many watched runs, each version of the agent made."""
    version_of = dict(imports.versions())
    first, later = (
        Counter(version_of.get(run.number, "") for run in part)
        for part in (runs[:reference], runs[reference:])
    )
    rows = (VersionRuns(version=name, reference=first[name], watched=later[name]) for name in first | later)
    return tuple(sorted(rows, key=lambda row: (-row.reference - row.watched, row.version)))


def _check(wish: WatchWish) -> None:
    if not 0.01 <= wish.drop < 1:
        raise UsageError(f"--drop: a fall of the pass rate is from 0.01 to below 1, got {wish.drop!r}.")
    if wish.reference < 2 * FEWEST_SCORES:
        raise UsageError(f"--reference: give at least {2 * FEWEST_SCORES} runs, got {wish.reference!r}.")
    if not 10 <= wish.in_control <= 100_000:
        raise UsageError(f"--in-control: give from 10 to 100000 runs, got {wish.in_control!r}.")


def _placed(row: ChartRow, run: ChartInput | None, imports: Imports) -> ChartRow:
    """Return the row with the place of the run that raised its alarm."""
    for imported in imports.some([run.number] if run else ()):
        trial = imported.trial.trial
        row = row.model_copy(update={"run": str(trial.place), "started": trial.started})
    return row


def _nearest(imports: Imports, asked: Sequence[int], seed: int) -> NearestVersion | None:
    """Return which version made the runs at these places: those from the first alarm on, or all watched ones.

    All other runs of the store are known. Of a version with more than `MOST_COMPARED` runs, as many are drawn.
    """
    watched, stated = set(asked), set[str]()
    known: dict[str, list[int]] = {}
    for number, version in imports.versions():
        if number in watched:
            stated.add(version)
        else:
            known.setdefault(version, []).append(number)
    rng = random.Random(seed)
    runs = {version: _behaviours(imports, _drawn(numbers, rng)) for version, numbers in known.items()}
    nearest = nearest_version(runs, _behaviours(imports, _drawn(asked, rng)), sorted(stated), seed)
    return nearest and nearest.model_copy(update={"runs": len(asked)})


def _drawn(numbers: Sequence[int], rng: random.Random) -> list[int]:
    if len(numbers) <= MOST_COMPARED:
        return list(numbers)
    chosen = set(rng.sample(numbers, MOST_COMPARED))
    return [number for number in numbers if number in chosen]


def _behaviours(imports: Imports, numbers: Sequence[int]) -> list[ScenarioRun]:
    trials = (imported.trial for imported in imports.some(numbers))
    return [scenario_run(trial.scenario, trial.trial.trace) for trial in trials]
