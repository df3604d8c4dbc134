"""The analysis of imported runs, with no agent present and no money spent.

The runs are read twice, a page at a time: once for what their records tell of the agent, once to be counted.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from agentmut._base import UsageError, make_importable
from agentmut.campaign import reliability_of
from agentmut.insight import CoverageContext, Measurement
from agentmut.nouns import AgentConfig, ImportedOutcome, ImportedTrial, Origins
from agentmut.project import CoverageSettings
from agentmut.store import ImportQuery, ImportTotals
from agentmut.trace_formats import Places, completed, scenario_of
from agentmut.usecases.analysis_relations import RelationTallies
from agentmut.usecases.analysis_rows import Analysis
from agentmut.usecases.analysis_runs import JudgedRun, Judging, is_evidence
from agentmut.usecases.analysis_survey import Survey
from agentmut.usecases.analysis_tallies import (
    EvaluatorTally,
    GroupTally,
    ScenarioTally,
    SpentTally,
    scenario_rows,
)
from agentmut.usecases.foreign_scenarios import ScenarioWriter
from agentmut.usecases.importing import ForeignHome, foreign_store

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

    No agent and no model is asked. Memory grows with the scenarios and with what runs show, not with the runs.
    Raises `UsageError` where the store has no such run.
    """
    asked = wish or AnalysisWish()
    with foreign_store(project) as home:
        imports, totals = home.store.imports, home.store.imports.totals()
        if not imports.numbers(asked.query):
            raise UsageError(_nothing(totals))
        if home.project is not None:
            make_importable(home.root)
        survey = Survey()
        judging = Judging(asked.contracts, home.project, home.root)
        for each in imports.found(asked.query):
            survey.add(each.trial)
            judging.meet(each.trial)
        counts = _Counts(asked, home, survey, judging)
        for each in imports.found(asked.query):
            counts.add(judging.judged(each.trial))
        return counts.analysis(survey, totals)


def _nothing(totals: ImportTotals) -> str:
    if not totals.trials:
        return "the store holds no imported run. `agentmut import FILE` puts recorded runs there."
    versions = ", ".join(version or "(none named)" for version in totals.versions[:5])
    more = f" and {len(totals.versions) - 5} more" if len(totals.versions) > 5 else ""
    return (
        f"no imported run fits the filters: the store holds {totals.trials}, of the versions {versions}{more}. Leave "
        "--version, --since or --scenario out, or name what is there."
    )


class _Counts:
    """All that an analysis counts, run by run."""

    def __init__(self, wish: AnalysisWish, home: ForeignHome, survey: Survey, judging: Judging) -> None:
        project = home.project
        self._by = wish.by
        self._own = {scenario.name: scenario for scenario in project.scenarios} if project else {}
        config = completed(project.config if project else AgentConfig(), survey.config)
        self._judging = judging
        self._outcomes: Counter[str] = Counter()
        self._scenarios: dict[str, ScenarioTally] = {}
        self._groups = GroupTally()
        context = CoverageContext(scenarios=tuple(judging.scenarios.values()))
        settings = project.coverage if project else CoverageSettings()
        self._coverage = Measurement(config, settings, context)
        self._covering = Counter[str]()
        self._evaluators = EvaluatorTally()
        self._relations = RelationTallies(
            survey.with_called_tools(config), wish.relations, project, home.root
        )
        self._spent = SpentTally()
        self._writer = ScenarioWriter(Path(wish.scenarios_file), self._own) if wish.scenarios_file else None

    def add(self, run: JudgedRun) -> None:
        """Count one run."""
        self._outcomes[_outcome(run)] += 1
        if is_evidence(run):
            self._add(run)

    def _add(self, run: JudgedRun) -> None:
        name = run.found.scenario
        scenario = self._judging.scenarios[name]
        self._scenarios.setdefault(name, ScenarioTally()).add(run)
        if self._by and run.passed is not None:
            self._groups.add(_value(run.found, self._by), run)
        self._coverage.add(name, run.trace)
        self._covering["foreign"] += not run.found.trial.exported_as
        self._covering["runs"] += 1
        self._evaluators.add(run, self._judging.judges[name])
        self._relations.add(run, scenario)
        self._spent.add(run)
        if self._writer:
            self._writer.add(run)

    def analysis(self, survey: Survey, totals: ImportTotals) -> Analysis:
        """Return the analysis of the runs so far."""
        runs = [each.runs(name, self._own.get(name)) for name, each in self._scenarios.items() if each.passed]
        skipped = self._judging.skipped
        origins = Origins(runs=self._covering["runs"], foreign=self._covering["foreign"])
        return Analysis(
            evidence=survey.evidence(totals),
            outcomes=dict(sorted(self._outcomes.items())),
            reliability=reliability_of(runs),
            scenarios=tuple(scenario_rows(self._scenarios)),
            by=self._by,
            groups=tuple(self._groups.rows()),
            coverage=self._coverage.coverage().model_copy(update={"origins": origins}),
            evaluators=tuple(self._evaluators.rows()),
            contracts=tuple(self._evaluators.contract_rows()),
            relations=tuple(self._relations.rows()),
            spent=self._spent.row(),
            scenarios_written=self._writer.write() if self._writer else 0,
            notes=(f"{skipped} evaluators ask a model and were left out",) if skipped else (),
        )


def _outcome(run: JudgedRun) -> str:
    if run.found.outcome is ImportedOutcome.NO_EVIDENCE:
        return ImportedOutcome.NO_EVIDENCE.value
    return "unjudged" if run.passed is None else "pass" if run.passed else "fail"


def _value(found: ImportedTrial, by: str) -> str:
    return found.version if by == VERSION else scenario_of(found.trial, by, GROUPED)
