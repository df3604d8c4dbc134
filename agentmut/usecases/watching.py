"""Has an agent changed in the runs that arrive? Charts over imported runs in the order of their start."""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentmut._base import Frozen, UsageError, __version__, make_importable
from agentmut.insight import NearestVersion, ScenarioRun, Scorer, nearest_version, scenario_run, scorer_of
from agentmut.nouns import Origins
from agentmut.store import ImportQuery
from agentmut.usecases.analysis_runs import JudgedRun, is_evidence, judged_runs
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


def watch_imports(project: str | Path = ".", wish: WatchWish | None = None) -> WatchReport:
    """Hold the imported runs of a project against the first ones, in the order of their start: `agentmut watch`.

    Raises `UsageError` where nothing is imported, and for values out of range.
    """
    asked = wish or WatchWish()
    _check(asked)
    with foreign_store(project) as home:
        every = list(home.store.imports.found())
        numbers = home.store.imports.numbers(asked.query)
    trials = [each.trial for each in every]
    if not numbers:
        raise UsageError(
            "the store holds no imported run to watch. Name a file or folder with recorded runs."
        )
    if home.project is not None:
        make_importable(home.root)
    runs = judged_runs(trials, (), home.project, home.root).runs
    kept = set(numbers)
    wanted = [run for each, run in zip(every, runs, strict=True) if each.number in kept and is_evidence(run)]
    others = [
        run for each, run in zip(every, runs, strict=True) if each.number not in kept and is_evidence(run)
    ]
    return watched(wanted, asked, others)


def watched(runs: Sequence[JudgedRun], asked: WatchWish, others: Sequence[JudgedRun] = ()) -> WatchReport:
    """Return what charts say of runs in the order of their start; `others` make further versions known."""
    first, later = runs[: asked.reference], runs[asked.reference :]
    each = asked.in_control * CHARTS
    scorer = scorer_of([_scored(run) for run in first])
    rate, rows = _on_pass_rate(runs, asked, each)
    charts = (*rows, *_on_behaviour(scorer, later, each, asked.seed))
    return WatchReport(
        reference=len(first),
        watched=len(later),
        in_control=asked.in_control,
        pass_rate=rate,
        within_scenarios=scorer.within_scenarios,
        charts=charts,
        origins=Origins(runs=len(runs), foreign=sum(not run.found.trial.exported_as for run in runs)),
        nearest=_nearest([*others, *first], later, charts, asked.seed),
    )


def _check(asked: WatchWish) -> None:
    if not 0.01 <= asked.drop < 1:
        raise UsageError(f"--drop: a fall of the pass rate is from 0.01 to below 1, got {asked.drop!r}.")
    if asked.reference < 2 * FEWEST_SCORES:
        raise UsageError(f"--reference: give at least {2 * FEWEST_SCORES} runs, got {asked.reference!r}.")
    if not 10 <= asked.in_control <= 100_000:
        raise UsageError(f"--in-control: give from 10 to 100000 runs, got {asked.in_control!r}.")


def _scored(run: JudgedRun) -> ScenarioRun:
    return scenario_run(run.found.scenario, run.trace)


def _on_pass_rate(
    runs: Sequence[JudgedRun], asked: WatchWish, each: float
) -> tuple[Watch, tuple[ChartRow, ...]]:
    from agentmut.stats import page_hinkley_for, page_hinkley_run_length

    judged = [run for run in runs if run.passed is not None]
    passed = [bool(run.passed) for run in judged]
    found = watch("all runs", passed, Chart(asked.drop, asked.reference, each))
    if found.pass_rate is None:
        why = found.reason.replace("trials are stored", "judged runs are stored")
        names = ("cusum", "page-hinkley")
        return found, tuple(ChartRow(chart=name, of="pass rate", reason=why) for name in names)
    later = judged[asked.reference :]
    rate = round(min(found.pass_rate, LARGEST_RATE), 2)  # its chart is a walk on whole hundredths
    rate = min(rate, 0.99)
    chart = page_hinkley_for(rate, max(0.01, round(asked.drop / 2, 2)), each)
    exact = page_hinkley_run_length(chart, rate)
    values = [(run, float(not run.passed)) for run in later]
    base = ChartRow(
        chart="cusum",
        of="pass rate",
        in_control=found.in_control,
        watched=len(later),
        alarm_at=found.alarm_at,
    )
    return found, (
        _placed(base, later),
        _charted(ChartRow(chart="page-hinkley", of="pass rate", in_control=exact), chart, values),
    )


def _on_behaviour(scorer: Scorer, later: Sequence[JudgedRun], each: float, seed: int) -> tuple[ChartRow, ...]:
    from agentmut.stats import cusum_for

    rows = [ChartRow(chart=name, of="behaviour") for name in ("cusum", "page-hinkley")]
    if len(scorer.reference) < FEWEST_SCORES or not later:
        why = (
            "no run has come after the reference"
            if not later
            else "the reference has too few runs to compare"
        )
        return tuple(row.model_copy(update={"reason": why}) for row in rows)
    scores = [(run, found) for run in later if (found := scorer.score(_scored(run))) is not None]
    limit, rate = usual_up_to(scorer.reference)
    plan = cusum_for(rate, MORE_UNUSUAL, each)
    unusual = [(run, score <= limit) for run, score in scores]
    first = rows[0].model_copy(update={"in_control": plan.in_control})
    chart, length = page_hinkley_on_scores(scorer.reference, each, seed)
    second = rows[1].model_copy(update={"in_control": length, "simulated": True})
    return _charted(first, plan.chart, unusual), _charted(second, chart, scores)


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


def _charted(
    row: ChartRow, chart: "Cusum | PageHinkley", values: Sequence[tuple[JudgedRun, float | bool]]
) -> ChartRow:
    from agentmut.stats import DriftState

    state = DriftState()
    for _, value in values:
        state = chart.update(state, value)  # type: ignore[arg-type]  # each chart has values of its own kind
    made = {
        "watched": len(values),
        "alarm_at": state.alarm_at,
        "level": round(state.level / chart.threshold, 4),
    }
    return _placed(row.model_copy(update=made), [run for run, _ in values])


def _placed(row: ChartRow, runs: Sequence[JudgedRun]) -> ChartRow:
    """Return the row with the place of the run that raised its alarm."""
    if row.alarm_at is None:
        return row
    trial = runs[row.alarm_at - 1].found.trial
    return row.model_copy(update={"run": str(trial.place), "started": trial.started})


def _nearest(
    before: Sequence[JudgedRun], later: Sequence[JudgedRun], charts: Sequence[ChartRow], seed: int
) -> NearestVersion | None:
    """Return which version of the runs before made the watched ones, from the first alarm on."""
    alarms = [row.alarm_at for row in charts if row.alarm_at]
    begin = min(alarms) - 1 if alarms else 0
    asked, earlier = later[begin:], [*before, *later[:begin]]
    known: dict[str, list[ScenarioRun]] = {}
    for run in earlier:
        known.setdefault(run.found.version, []).append(_scored(run))
    return nearest_version(known, [_scored(run) for run in asked], [run.found.version for run in asked], seed)
