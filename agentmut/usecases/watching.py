"""Has an agent changed in the runs that arrive? Charts over imported runs in the order of their start."""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentmut._base import Frozen, UsageError, __version__, make_importable
from agentmut.insight import NearestVersion, ScenarioRun, Scorer, nearest_version, scenario_run, scorer_of
from agentmut.nouns import BrokenRecord, Origins
from agentmut.store import Import, ImportQuery, Imports
from agentmut.usecases.analysis_runs import Judging, is_evidence
from agentmut.usecases.drift import LARGEST_RATE, Chart, Watch, watch
from agentmut.usecases.importing import foreign_store

if TYPE_CHECKING:
    import numpy as np

    from agentmut.stats import Array, Cusum, PageHinkley

CHARTS = 4
"""CUSUM and Page-Hinkley, each on the pass rate and on behaviour."""
UNUSUAL = 0.1
"""The share of the reference's runs that counts as unusual."""
MORE_UNUSUAL = 0.3
"""By so much the share of unusual runs has to rise for the CUSUM of behaviour to be quick."""
TOLERANCE = 0.25
"""Page-Hinkley on behaviour tolerates so many standard deviations of the reference's scores."""
GUARD = 0.9
"""The level at which the charts of behaviour allow for what a reference leaves open."""
SIMULATED = 200
"""Simulated sequences behind the run length of Page-Hinkley on behaviour."""
MOST_COMPARED = 1_000
"""Runs of a version, and watched runs, that are compared to tell the version."""
FEWEST_SCORES = 10
"""Scores of a reference from which behaviour is watched."""


class ChartRow(Frozen):
    """One chart."""

    chart: str
    """cusum or page-hinkley."""
    of: str
    """`pass rate` or `behaviour`."""
    in_control: float | None = None
    """Runs to a false alarm on average; None where nothing is watched."""
    simulated: bool = False
    """Whether that length is simulated on the reference's runs; else it is exact at the reference's rate."""
    watched: int = 0
    level: float = 0.0
    """Now, as a share of the threshold."""
    alarm_at: int | None = None
    """Which watched run raised the alarm, from 1."""
    run: str = ""
    """Where that run stands."""
    started: float | None = None
    """When that run started, in seconds since the epoch."""
    reason: str = ""
    """Why nothing is watched, where it is not."""


class VersionRuns(Frozen):
    """How many runs come from one version of the agent."""

    version: str
    reference: int
    watched: int


class WatchReport(Frozen):
    """What has become of an agent in the runs that arrived."""

    schema_version: int = 1
    kind: str = "watch"
    agentmut_version: str = __version__
    reference: int
    """First runs that the others are held against."""
    watched: int
    added: int | None = None
    """Runs that this command imported; None where it was given no source."""
    broken: tuple[BrokenRecord, ...] = ()
    """Records of the source that could not be read."""
    in_control: float
    """Runs to the first false alarm of any chart, on average, or more, if the reference's pass rate is the true one.
    As to behaviour, what the reference leaves open is allowed for at `GUARD`."""
    pass_rate: Watch
    """The pass rate of all runs together, with the chance of a false alarm in as many runs."""
    within_scenarios: bool
    """Whether a run's behaviour is compared with runs of its own scenario; else with all runs together."""
    charts: tuple[ChartRow, ...]
    origins: Origins = Origins()
    """The runs of the reference and the watched ones, and how many of them another tool recorded."""
    versions: tuple[VersionRuns, ...] = ()
    """The versions of the agent that made these runs, the most frequent one first."""
    nearest: NearestVersion | None = None
    """The version nearest to the runs from the alarm on, or to all watched runs; None with fewer than two versions."""

    @property
    def changed(self) -> bool:
        """Return whether any chart has raised an alarm."""
        return any(row.alarm_at for row in self.charts)

    @property
    def enough(self) -> bool:
        """Return whether anything is watched."""
        return any(row.in_control is not None and row.watched for row in self.charts)


class WatchWish(NamedTuple):
    """How runs are watched."""

    query: ImportQuery = ImportQuery()
    reference: int = 50
    drop: float = 0.1
    """The fall of the pass rate that matters."""
    in_control: float = 1000.0
    """Runs to the first false alarm of any chart, on average."""
    seed: int = 0


class _ChartInput(NamedTuple):
    """What the charts need of a run: no run stays in memory once it is read."""

    number: int
    """Its place in the store."""
    passed: bool | None
    score: float | None = None
    """How unusual it is; None for a run of the reference, and for one of a scenario that the reference lacks."""


class _Read(NamedTuple):
    """The runs that are watched, in the order of their start."""

    runs: list[_ChartInput]
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


def _read(found: Iterable[Import], reference: int, judging: Judging) -> _Read:
    runs: list[_ChartInput] = []
    first: list[ScenarioRun] = []
    scorer: Scorer | None = None
    foreign = 0
    for each in found:
        run = judging.judged(each.trial)
        if not is_evidence(run):
            continue
        foreign += not each.trial.trial.exported_as
        behaviour = scenario_run(run.found.scenario, run.trace)
        if len(first) < reference:
            first.append(behaviour)
            runs.append(_ChartInput(each.number, run.passed))
            continue
        scorer = scorer or scorer_of(first)
        runs.append(_ChartInput(each.number, run.passed, scorer.score(behaviour)))
    return _Read(runs, scorer or scorer_of(first), Origins(runs=len(runs), foreign=foreign))


def _report(imports: Imports, read: _Read, wish: WatchWish) -> WatchReport:
    """Return what charts say of the runs."""
    runs, later = read.runs, read.runs[wish.reference :]
    each = wish.in_control * CHARTS
    rate, on_rate = _on_pass_rate(runs, wish, each)
    charts = [*on_rate, *_on_behaviour(read.scorer, later, each, wish.seed)]
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
    there = imports.totals()
    if not there.trials:
        return "the store holds no imported run to watch. Name a file or folder with recorded runs."
    return (
        f"no imported run fits --since and --version. The store holds {there.trials} imported runs of the versions "
        f"{', '.join(there.versions)}."
    )


def _versions(imports: Imports, runs: Sequence[_ChartInput], reference: int) -> tuple[VersionRuns, ...]:
    """Return how many runs of the reference, and how many watched runs, each version of the agent made."""
    version_of = dict(imports.versions())
    first, later = (
        Counter(version_of.get(run.number, "") for run in part)
        for part in (runs[:reference], runs[reference:])
    )
    found = (VersionRuns(version=one, reference=first[one], watched=later[one]) for one in first | later)
    return tuple(sorted(found, key=lambda one: (-one.reference - one.watched, one.version)))


def _check(wish: WatchWish) -> None:
    if not 0.01 <= wish.drop < 1:
        raise UsageError(f"--drop: a fall of the pass rate is from 0.01 to below 1, got {wish.drop!r}.")
    if wish.reference < 2 * FEWEST_SCORES:
        raise UsageError(f"--reference: give at least {2 * FEWEST_SCORES} runs, got {wish.reference!r}.")
    if not 10 <= wish.in_control <= 100_000:
        raise UsageError(f"--in-control: give from 10 to 100000 runs, got {wish.in_control!r}.")


_Placed = tuple[ChartRow, "_ChartInput | None"]
"""A chart, and the run that raised its alarm."""


def _on_pass_rate(runs: Sequence[_ChartInput], wish: WatchWish, each: float) -> tuple[Watch, list[_Placed]]:
    from agentmut.stats import page_hinkley_for, page_hinkley_run_length

    judged = [run for run in runs if run.passed is not None]
    passed = [bool(run.passed) for run in judged]
    found = watch("all runs", passed, Chart(wish.drop, wish.reference, each))
    if found.pass_rate is None:
        why = found.reason.replace("trials are stored", "judged runs are stored")
        names = ("cusum", "page-hinkley")
        return found, [(ChartRow(chart=name, of="pass rate", reason=why), None) for name in names]
    later = judged[wish.reference :]
    rate = round(min(found.pass_rate, LARGEST_RATE), 2)  # its chart is a walk on whole hundredths
    rate = min(rate, 0.99)
    chart = page_hinkley_for(rate, max(0.01, round(wish.drop / 2, 2)), each)
    exact = page_hinkley_run_length(chart, rate)
    base = ChartRow(
        chart="cusum",
        of="pass rate",
        in_control=found.in_control,
        watched=len(later),
        alarm_at=found.alarm_at,
    )
    second = ChartRow(chart="page-hinkley", of="pass rate", in_control=exact)
    failed = [float(not run.passed) for run in later]
    return found, [_with_run(base, later), _with_run(_charted(second, chart, failed), later)]


def _on_behaviour(scorer: Scorer, later: Sequence[_ChartInput], each: float, seed: int) -> list[_Placed]:
    from agentmut.stats import cusum_for

    rows = [ChartRow(chart=name, of="behaviour") for name in ("cusum", "page-hinkley")]
    if len(scorer.reference) < FEWEST_SCORES or not later:
        why = (
            "no run is stored after the reference runs"
            if not later
            else "too few reference runs have a behaviour that can be compared"
        )
        return [(row.model_copy(update={"reason": why}), None) for row in rows]
    known = [run for run in later if run.score is not None]
    scores = [float(run.score or 0.0) for run in known]
    limit, rate = usual_up_to(scorer.reference)
    plan = cusum_for(rate, MORE_UNUSUAL, each)
    first = rows[0].model_copy(update={"in_control": plan.in_control})
    chart, length = page_hinkley_on_scores(scorer.reference, each, seed)
    second = rows[1].model_copy(update={"in_control": length, "simulated": True})
    return [
        _with_run(_charted(first, plan.chart, [score <= limit for score in scores]), known),
        _with_run(_charted(second, chart, scores), known),
    ]


def usual_up_to(scores: Sequence[float]) -> tuple[float, float]:
    """Return the score up to which a run is usual, and the least chance of that for an unchanged run.

    The chance that a further score is at most the k-th smallest of m others is Beta(k, m + 1 - k) over references,
    whatever their spread; its lower bound at `GUARD` is given.
    """
    from scipy.stats import beta

    ordered, m = sorted(scores), len(scores)
    k = min(m, max(1, round((1 - UNUSUAL) * (m + 1))))
    return ordered[k - 1], float(beta.ppf(1 - GUARD, k, m + 1 - k))


def page_hinkley_on_scores(scores: Sequence[float], each: float, seed: int) -> "tuple[PageHinkley, float]":
    """Return the chart on scores with a simulated run length of `each` or more, by bisection of its threshold.

    The tolerance grows by how far the reference's mean may lie below the true one. One score a standard deviation
    above the largest stands for those that the reference has not seen: one further score in m + 1 is larger than all.
    """
    import numpy as np
    from scipy.stats import norm

    from agentmut.stats import page_hinkley

    values = np.array(scores)
    spread = float(values.std(ddof=1)) or 1.0
    unsure = float(norm.ppf(GUARD)) / math.sqrt(len(scores))
    make = partial(page_hinkley, (TOLERANCE + unsure) * spread, mean=float(values.mean()))
    values = np.append(values, values.max() + spread) + unsure * spread
    low, high = 1.0, 2.0
    while (length := _length(make(high * spread), values, each, seed)) < each and high < 4096:
        low, high = high, 2 * high
    for _ in range(6):
        middle = (low + high) / 2
        found = _length(make(middle * spread), values, each, seed)
        low, high, length = (low, middle, found) if found >= each else (middle, high, length)
    return make(high * spread), length


def _length(chart: "PageHinkley", values: "Array", each: float, seed: int) -> float:
    """Return the average run length on draws from the reference's scores.

    Runs are close to geometric, so those cut at the horizon are counted as geometric runs are: time over alarms.
    """
    import numpy as np

    from agentmut.stats import simulated_run_length

    def draws(rng: "np.random.Generator", size: int) -> "Array":
        return np.asarray(rng.choice(values, size))

    found = simulated_run_length(
        chart, draws, np.random.default_rng(seed), runs=SIMULATED, horizon=max(1, round(each))
    )
    return found.mean / max(1 - found.silent, 1 / SIMULATED)


def _charted(row: ChartRow, chart: "Cusum | PageHinkley", values: Sequence[float | bool]) -> ChartRow:
    from agentmut.stats import DriftState

    state = DriftState()
    for value in values:
        state = chart.update(state, value)  # type: ignore[arg-type]  # each chart has values of its own kind
    return row.model_copy(
        update={
            "watched": len(values),
            "alarm_at": state.alarm_at,
            "level": round(state.level / chart.threshold, 4),
        }
    )


def _with_run(row: ChartRow, runs: Sequence[_ChartInput]) -> _Placed:
    """Return a chart with the run of its alarm; `runs` are those that the chart watched."""
    return row, None if row.alarm_at is None else runs[row.alarm_at - 1]


def _placed(row: ChartRow, run: _ChartInput | None, imports: Imports) -> ChartRow:
    """Return the row with the place of the run that raised its alarm."""
    for found in imports.some([run.number] if run else ()):
        trial = found.trial.trial
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
    found = nearest_version(runs, _behaviours(imports, _drawn(asked, rng)), sorted(stated), seed)
    return found and found.model_copy(update={"runs": len(asked)})


def _drawn(numbers: Sequence[int], rng: random.Random) -> list[int]:
    if len(numbers) <= MOST_COMPARED:
        return list(numbers)
    chosen = set(rng.sample(numbers, MOST_COMPARED))
    return [number for number in numbers if number in chosen]


def _behaviours(imports: Imports, numbers: Sequence[int]) -> list[ScenarioRun]:
    found = imports.some(numbers)
    return [scenario_run(each.trial.scenario, each.trial.trial.trace) for each in found]
