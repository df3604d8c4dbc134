"""The importer of recorded runs: scenarios of the records, and an adapter that hands the records out."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import ClassVar

from agentmut._base import UsageError, moment
from agentmut.nouns import AgentConfig, EvaluatorSpec, ForeignTrial, Scenario
from agentmut.project import FILE_NAME, FOLDER, evaluator_spec, load_project
from agentmut.seams import Adapter, AgentSpec, Catalogue, Group, SetsRule, SuiteRule, SuiteSpec
from agentmut.store import ImportQuery, Store
from agentmut.suites.suite_argument import read_settings
from agentmut.suites.traces.adapter import RecordedRun, TracesAdapter
from agentmut.suites.traces.traces_settings import WHERE, ImportedRuns, TracesSettings
from agentmut.trace_formats import (
    FORMAT_SECONDS,
    Places,
    TraceReport,
    checks_of,
    completed,
    decided_together,
    deciding_score,
    found_files,
    read_traces,
    report_of,
    scenario_of,
    why_left_out,
)
from agentmut.usecases import store_place

MOST_TRIALS = 10_000
"""The largest number of trials of a scenario that `test.trials` takes."""
PLACES = Places(f"{WHERE}.")
_SHOWN = 3
"""Records that cannot be read which a remark names."""


class Traces(SetsRule):
    """`suite: {traces: runs/*.json}`: a recorded case is a scenario, and its recorded runs are the trials."""

    name: ClassVar[str] = "traces"

    def __init__(self, settings: TracesSettings, root: Path) -> None:
        self._settings = settings
        self._report, self._outcome = _read(settings, root)
        self._specs = _evaluators(settings, root)
        if not self._outcome and not self._specs:
            raise UsageError(
                f"{WHERE}.evaluators: the records have no score that decides, so evaluators have to judge them; "
                "give a list, as in a scenario file"
            )
        self._runs = _by_scenario(settings, self._report, self._outcome)

    @classmethod
    def create(cls, spec: SuiteSpec) -> "Traces":
        """Read the files; the argument is a pattern, or a mapping as `TracesSettings`. Raises `UsageError`."""
        return cls(read_settings(TracesSettings, spec.argument, WHERE, short="files"), Path(spec.root))

    @property
    def rule(self) -> SuiteRule:
        """Return that every recorded trial is looked at, once."""
        most = max(map(len, self._runs.values()))
        return SuiteRule(method="fixed", trials=min(most, MOST_TRIALS))

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the recorded cases in the order in which they come first, each as its first run has it."""
        decides = (EvaluatorSpec(name="suite", argument=self._outcome),) if self._outcome else ()
        return tuple(
            Scenario(name=name, turns=runs[0].turns, evaluators=(*decides, *self._specs))
            for name, runs in self._runs.items()
        )

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return what hands the recorded runs out. Raises `UsageError` where the project names an agent, too."""
        if agent.adapter != self.name:
            raise UsageError(
                f"agent.adapter: recorded runs need no agent, and there is {agent.adapter!r}. Leave it out, or leave "
                "suite.traces out to run the agent"
            )
        runs = {
            name: tuple(RecordedRun(one, tuple(checks_of(one, self._settings.pass_score))) for one in runs)
            for name, runs in self._runs.items()
        }
        return TracesAdapter(
            completed(config, self._report.config),
            runs,
            self._report.digest,
            self._settings,
            tuple(_remarks(self._report, self._outcome)),
        )


def _read(settings: TracesSettings, root: Path) -> tuple[TraceReport, str]:
    """Return the recorded runs, and the name of the score that decides; empty where evaluators alone do."""
    least, wanted = settings.pass_score, settings.outcome
    try:
        files = () if settings.imported else found_files(settings.files, root)
        if files and wanted is None:
            report, outcome = decided_together(files, settings.format, least, PLACES, _seconds(root))
        else:
            report = (
                _from_store(settings.imported, root)
                if settings.imported
                else read_traces(files, settings.format, _seconds(root))
            )
            outcome = deciding_score(report.trials, wanted, least, PLACES)
    except UsageError as error:
        said = str(error)
        raise UsageError(said if said.startswith(WHERE) else f"{WHERE}: {said}") from None
    if not any(not trial.no_evidence for trial in report.trials):
        first = next((str(one) for one in report.broken), "the files hold no runs that are evidence")
        raise UsageError(f"{WHERE}: there is no run to look at. {first}")
    return report, outcome


def _seconds(root: Path) -> float:
    """Return how long a call of a trace format may take that is of another package."""
    file = root / FILE_NAME
    return load_project(file).execution.evaluator_timeout if file.is_file() else FORMAT_SECONDS


def _from_store(asked: ImportedRuns, root: Path) -> TraceReport:
    """Return the imported runs that are asked for. Raises `UsageError` where there are none."""
    now = time.time()
    file, own = root / FILE_NAME, root / FOLDER / "store.db"
    where = store_place(load_project(file)) if file.is_file() else own
    since, until = (
        None if text is None else moment(text, now, f"imported.{name}")
        for name, text in (("since", asked.since), ("until", asked.until))
    )
    query = ImportQuery(asked.scenarios, asked.versions, (), since, until, asked.sample, asked.seed)
    if where != own or own.is_file():
        with closing(Store(where)) as store:
            report = report_of(store.imports.found(query))
        if report.trials:
            return report
    raise UsageError("the store has no such imported run. `agentmut import FILE` puts recorded runs there")


def _evaluators(settings: TracesSettings, root: Path) -> tuple[EvaluatorSpec, ...]:
    installed = Catalogue.from_group(Group.EVALUATORS)
    try:
        return tuple(evaluator_spec(written, installed, root) for written in settings.evaluators)
    except UsageError as error:
        raise UsageError(f"{WHERE}.evaluators: {error}") from None


def _by_scenario(
    settings: TracesSettings, report: TraceReport, outcome: str
) -> dict[str, list[ForeignTrial]]:
    """Return the runs of each scenario, in the order of the files, without those that are no evidence."""
    found: dict[str, list[ForeignTrial]] = {}
    for trial in report.trials:
        name = scenario_of(trial, settings.scenario_by, PLACES)
        if not why_left_out(trial, outcome):
            found.setdefault(name, []).append(trial)
    return found


def _remarks(report: TraceReport, outcome: str) -> Iterator[str]:
    formats = ", ".join(report.formats)
    left = [(trial, why) for trial in report.trials if (why := why_left_out(trial, outcome))]
    count = len(report.trials) - len(left)
    what = "the only trial was" if count == 1 else f"all {count} trials were"
    yield (
        f"{what} run and recorded by another tool ({formats}, files "
        f"with the digest {report.digest[:12]}); agentmut ran none of them"
    )
    if left:
        yield f"{len(left)} recorded runs are no evidence, such as {left[0][0].place}: {left[0][1]}"
    if report.broken:
        shown = "; ".join(map(str, report.broken[:_SHOWN]))
        records = "record" if len(report.broken) == 1 else "records"
        yield f"{len(report.broken)} {records} could not be read: {shown}"
    if report.prompts > 1:
        yield f"the runs have {report.prompts} different prompts; the config has the most frequent one"
