"""The analysis of imported runs, with no agent present and no money spent."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import UsageError, make_importable
from agentmut.assessment import Checked, clause_rows
from agentmut.campaign import Runs, bounds_of, reliability_of
from agentmut.insight import Coverage, CoverageContext, measure
from agentmut.nouns import AgentConfig, ImportedOutcome, ImportedTrial, Origins, Scenario
from agentmut.project import CoverageSettings, Project
from agentmut.stats import bonferroni_intervals, mean_over_scenarios
from agentmut.store import ContractRow, Import, ImportQuery, ImportTotals
from agentmut.trace_formats import Places, completed, report_of, scenario_of
from agentmut.usecases.analysis_relations import relation_counts
from agentmut.usecases.analysis_rows import (
    Analysis,
    EvaluatorRow,
    Evidence,
    GroupRow,
    ScenarioRow,
    SpentElsewhere,
)
from agentmut.usecases.analysis_runs import JudgedRun, Judges, by_scenario, judged_runs
from agentmut.usecases.foreign_scenarios import write_scenarios
from agentmut.usecases.importing import foreign_store

ERROR = 0.05
"""The chance that any interval of a table misses, read together."""
VERSION = "version"
"""The `by` that groups runs by the version of their agent, whatever field it stands in."""
GROUPED = Places("--", "--by")


class AnalysisWish(NamedTuple):
    """Which runs are looked at, and by what."""

    query: ImportQuery = ImportQuery()
    by: str = ""
    """A field of the records, or `version`; empty for no groups."""
    contracts: tuple[str, ...] = ()
    """Files of contracts that every run is judged by, besides the project's evaluators."""
    relations: tuple[str, ...] = ()
    """Names or families; empty for those of the project, or all."""
    scenarios_file: str = ""
    """Where scenarios of the runs are written; empty for nowhere."""


def analyze(project: str | Path = ".", wish: AnalysisWish | None = None) -> Analysis:
    """Return the analysis of the imported runs of a project, or of a folder without one: `agentmut analyze`.

    No agent and no model is asked. Raises `UsageError` where the store has no such run.
    """
    asked = wish or AnalysisWish()
    with foreign_store(project) as home:
        imports = list(home.store.imports.found(asked.query))
        totals = home.store.imports.totals()
    if not imports:
        raise UsageError(_nothing(totals))
    if home.project is not None:
        make_importable(home.root)
    return _analysis(imports, totals, asked, home.project, home.root)


def _nothing(totals: ImportTotals) -> str:
    if not totals.trials:
        return "the store holds no imported run. `agentmut import FILE` puts recorded runs there."
    versions = ", ".join(version or "(none named)" for version in totals.versions[:5])
    more = f" and {len(totals.versions) - 5} more" if len(totals.versions) > 5 else ""
    return (
        f"no imported run fits the filters: the store holds {totals.trials}, of the versions {versions}{more}. Leave "
        "--version, --since or --scenario out, or name what is there."
    )


def _analysis(
    imports: Sequence[Import], totals: ImportTotals, asked: AnalysisWish, project: Project | None, root: Path
) -> Analysis:
    trials = [each.trial for each in imports]
    judged = judged_runs(trials, asked.contracts, project, root)
    evidence, scenarios = judged.evidence, judged.scenarios
    config = completed(project.config if project else AgentConfig(), report_of(imports).config)
    own = {scenario.name: scenario for scenario in project.scenarios} if project else {}
    path = Path(asked.scenarios_file) if asked.scenarios_file else None
    added = 0 if path is None else write_scenarios(evidence, own, path)
    notes = [f"{judged.skipped} evaluators ask a model and were left out"] if judged.skipped else []
    settings = project.coverage if project else CoverageSettings()
    return Analysis(
        evidence=_evidence(imports, totals),
        outcomes=dict(sorted(Counter(map(_outcome, judged.runs)).items())),
        reliability=reliability_of(_repeated(evidence, own)),
        scenarios=tuple(_rows(evidence)),
        by=asked.by,
        groups=tuple(_groups(evidence, asked.by)) if asked.by else (),
        coverage=_coverage(evidence, config, settings, tuple(scenarios.values())),
        evaluators=tuple(_evaluator_rows(evidence)),
        contracts=tuple(_contracts(evidence, judged.judges)),
        relations=tuple(relation_counts(evidence, scenarios, config, asked.relations, project, root)),
        spent=_spent(evidence),
        scenarios_written=added,
        notes=tuple(notes),
    )


def _outcome(run: JudgedRun) -> str:
    if run.found.outcome is ImportedOutcome.NO_EVIDENCE:
        return ImportedOutcome.NO_EVIDENCE.value
    return "unjudged" if run.passed is None else "pass" if run.passed else "fail"


def _repeated(runs: Iterable[JudgedRun], scenarios: Mapping[str, Scenario]) -> list[Runs]:
    """Return the judged runs of each scenario; `scenarios` are the project's, which name categories."""
    judged = (run for run in runs if run.passed is not None)
    return [
        Runs(
            name,
            sum(bool(run.passed) for run in own),
            len(own),
            tuple(bool(run.passed) for run in own),
            tuple(run.trace.seconds for run in own if run.trace.seconds > 0),
            scenarios[name].category if name in scenarios else None,
            sum(run.trace.setup_seconds for run in own),
        )
        for name, own in by_scenario(judged).items()
    ]


def _rows(runs: Sequence[JudgedRun]) -> Iterator[ScenarioRow]:
    grouped = by_scenario(runs)
    counts = {name: _counts(own) for name, own in grouped.items()}
    judged = {name: each for name, each in counts.items() if each[1]}
    joint = bonferroni_intervals(list(judged.values()), 1 - ERROR, "clopper-pearson") if judged else ()
    intervals = dict(zip(judged, map(bounds_of, joint), strict=True))
    for name, own in grouped.items():
        passes, total = counts[name]
        spent = _spent(own)
        yield ScenarioRow(
            scenario=name,
            runs=total,
            passes=passes,
            interval=intervals.get(name),
            unjudged=len(own) - total,
            tokens=spent.input_tokens + spent.output_tokens,
            usd=spent.usd if spent.priced else None,
        )


def _counts(runs: Iterable[JudgedRun]) -> tuple[int, int]:
    judged = [run.passed for run in runs if run.passed is not None]
    return sum(judged), len(judged)


def _groups(runs: Iterable[JudgedRun], by: str) -> Iterator[GroupRow]:
    """Yield the pass rate of each value of a field, with intervals that hold together."""
    found: dict[str, list[JudgedRun]] = {}
    for run in runs:
        if run.passed is not None:
            found.setdefault(_value(run.found, by), []).append(run)
    for value, own in sorted(found.items()):
        counts = [_counts(some) for some in by_scenario(own).values()]
        rate = mean_over_scenarios(counts, level=1 - ERROR / len(found))
        jointly = bounds_of(rate._replace(method=f"{rate.method}, jointly for {len(found)} by Bonferroni"))
        passes, total = _counts(own)
        yield GroupRow(value=value, scenarios=len(counts), runs=total, passes=passes, pass_rate=jointly)


def _value(found: ImportedTrial, by: str) -> str:
    return found.version if by == VERSION else scenario_of(found.trial, by, GROUPED)


def _evaluator_rows(runs: Iterable[JudgedRun]) -> Iterator[EvaluatorRow]:
    passes: Counter[str] = Counter()
    total: Counter[str] = Counter()
    first: dict[str, str] = {}
    for run in runs:
        for check in run.checks:
            total[check.evaluator] += 1
            passes[check.evaluator] += check.passed
            if not check.passed:
                first.setdefault(check.evaluator, f"{run.found.trial.place}: {check.reason}")
    for name, count in sorted(total.items()):
        yield EvaluatorRow(evaluator=name, passes=passes[name], runs=count, first=first.get(name, ""))


def _coverage(
    evidence: Sequence[JudgedRun],
    config: AgentConfig,
    settings: CoverageSettings,
    scenarios: Sequence[Scenario],
) -> Coverage:
    traces = {name: [run.trace for run in own] for name, own in by_scenario(evidence).items()}
    found = measure(traces, config, settings, CoverageContext(scenarios=scenarios))
    foreign = sum(not run.found.trial.exported_as for run in evidence)
    return found.model_copy(update={"origins": Origins(runs=len(evidence), foreign=foreign)})


def _contracts(runs: Iterable[JudgedRun], judges: Mapping[str, Judges]) -> Iterator[ContractRow]:
    """Yield each contract with its violated clauses, over all scenarios with the same evaluators."""
    grouped: dict[str, Checked] = {}
    own = {each.key: each.evaluators for each in judges.values()}
    for run in runs:
        grouped.setdefault(judges[run.found.scenario].key, Checked()).take_in(run.checks)
    for key, checked in grouped.items():
        yield from clause_rows(own[key], checked)


def _evidence(imports: Sequence[Import], totals: ImportTotals) -> Evidence:
    started = [each.trial.trial.started for each in imports if each.trial.trial.started is not None]
    return Evidence(
        imported=len(imports),
        origins=Origins(runs=len(imports), foreign=sum(not each.trial.trial.exported_as for each in imports)),
        formats=tuple(sorted({each.trial.format for each in imports})),
        files=tuple(sorted({each.trial.files for each in imports})),
        versions=tuple(sorted({each.trial.version for each in imports})),
        first=min(started, default=None),
        last=max(started, default=None),
        stored=totals.trials,
        stored_bytes=totals.bytes,
    )


def _spent(runs: Iterable[JudgedRun]) -> SpentElsewhere:
    usd, used = 0.0, Counter[str]()
    for run in runs:
        prices = [step.usd for step in run.trace.steps if step.usd is not None]
        usage = run.trace.usage
        usd += sum(prices)
        used.update(
            priced=bool(prices),
            counted=bool(usage.total),
            inputs=usage.input_tokens,
            outputs=usage.output_tokens,
        )
    return SpentElsewhere(
        usd=round(usd, 6),
        priced=used["priced"],
        input_tokens=used["inputs"],
        output_tokens=used["outputs"],
        counted=used["counted"],
    )
