"""The importer of recorded runs: scenarios of the records, and an adapter that hands the records out."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from agentmut._base import UsageError, nearest, passes, told
from agentmut.nouns import AgentConfig, Check, EvaluatorSpec, ForeignTrial, Scenario
from agentmut.project import evaluator_spec
from agentmut.seams import Adapter, AgentSpec, Catalogue, Group, SetsRule, SuiteRule, SuiteSpec
from agentmut.suites.suite_argument import read_settings
from agentmut.suites.traces.adapter import RecordedRun, TracesAdapter
from agentmut.suites.traces.traces_settings import EVALUATORS, WHERE, TracesSettings
from agentmut.trace_formats import TraceReport, found_files, read_traces

MOST_TRIALS = 10_000
"""The largest number of trials of a scenario that `test.trials` takes."""
_SHOWN = 3
"""Records that cannot be read which a remark names."""


class Traces(SetsRule):
    """`suite: {traces: runs/*.json}`: a recorded case is a scenario, and its recorded runs are the trials."""

    name: ClassVar[str] = "traces"

    def __init__(self, settings: TracesSettings, root: Path) -> None:
        self._settings = settings
        self._report = _read(settings, root)
        self._outcome = _outcome(settings, self._report)
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
            name: tuple(RecordedRun(one, tuple(_checks(one, self._settings))) for one in runs)
            for name, runs in self._runs.items()
        }
        return TracesAdapter(
            _completed(config, self._report.config),
            runs,
            self._report.digest,
            self._settings,
            tuple(_remarks(self._report, self._outcome)),
        )


def _read(settings: TracesSettings, root: Path) -> TraceReport:
    try:
        report = read_traces(found_files(settings.files, root), settings.format)
    except UsageError as error:
        raise UsageError(f"{WHERE}: {error}") from None
    if not any(not trial.no_evidence for trial in report.trials):
        first = next((str(one) for one in report.broken), "the files hold no runs that are evidence")
        raise UsageError(f"{WHERE}: there is no run to look at. {first}")
    return report


def _outcome(settings: TracesSettings, report: TraceReport) -> str:
    """Return the score that decides; empty where evaluators alone do. Raises `UsageError` for an unknown one."""
    known = {name for trial in report.trials for name in trial.scores}
    wanted = settings.outcome
    if wanted == EVALUATORS or (wanted is None and not known):
        return ""
    if wanted is None and len(known) > 1:
        raise UsageError(
            f"{WHERE}.outcome: is missing, and the records have several scores. {nearest('', known)}"
        )
    name = next(iter(known)) if wanted is None else wanted
    if name not in known:
        raise UsageError(
            f"{WHERE}.outcome: no record has the score {name!r}. {nearest(name, {*known, EVALUATORS})}"
        )
    unclear = next(
        (t for t in report.trials if name in t.scores and _passed(t, name, settings) is None), None
    )
    if unclear is not None:
        raise UsageError(
            f"{WHERE}.pass_score: is missing: {name} is {unclear.scores[name].value!r} in {unclear.place}, which is "
            "neither yes nor no. Give the least score that passes"
        )
    return name


def _evaluators(settings: TracesSettings, root: Path) -> tuple[EvaluatorSpec, ...]:
    installed = Catalogue.of(Group.EVALUATORS)
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
        name = trial.scenario if settings.scenario_by is None else _named_by(trial, settings.scenario_by)
        if not _why_left_out(trial, outcome):
            found.setdefault(name, []).append(trial)
    return found


def _why_left_out(trial: ForeignTrial, outcome: str) -> str:
    """Return why a run is no evidence: by its record, or since it lacks the score that decides."""
    missing = bool(outcome) and outcome not in trial.scores
    return trial.no_evidence or (f"it has no score {outcome}" if missing else "")


def _named_by(trial: ForeignTrial, field: str) -> str:
    """Return the value of a field; names of fields may have dots themselves, as `session.id` has."""
    value, rest = trial.fields, field
    while True:
        if rest in value:
            return str(value[rest])
        known = value
        part, _, rest = rest.partition(".")
        deeper = value.get(part)
        if not isinstance(deeper, Mapping) or not rest:
            raise UsageError(
                f"{WHERE}.scenario_by: the record in {trial.place} has no field {field!r}. {nearest(part, known)}"
            )
        value = deeper


def _checks(trial: ForeignTrial, settings: TracesSettings) -> Iterator[Check]:
    """Yield the recorded scores that say yes or no."""
    for name, score in trial.scores.items():
        passed = _passed(trial, name, settings)
        if passed is not None:
            reason = score.reason or told(score.value, name, settings.pass_score)
            yield Check(evaluator=name, passed=passed, reason=reason)


def _passed(trial: ForeignTrial, name: str, settings: TracesSettings) -> bool | None:
    return passes(trial.scores[name].value, name, settings.pass_score)


def _completed(config: AgentConfig, recorded: AgentConfig) -> AgentConfig:
    """Return the project's config with what the records tell in the place of parts that it leaves out."""
    model = config.model if config.model.name else recorded.model
    found = {
        "prompt": config.prompt or recorded.prompt,
        "tools": config.tools or recorded.tools,
        "model": model,
    }
    return config.model_copy(update=found)


def _remarks(report: TraceReport, outcome: str) -> Iterator[str]:
    formats = ", ".join(report.formats)
    left = [(trial, why) for trial in report.trials if (why := _why_left_out(trial, outcome))]
    yield (
        f"all {len(report.trials) - len(left)} trials were run and recorded by another tool ({formats}, files "
        f"with the digest {report.digest[:12]}); agentmut ran none of them"
    )
    if left:
        yield f"{len(left)} recorded runs are no evidence, such as {left[0][0].place}: {left[0][1]}"
    if report.broken:
        shown = "; ".join(map(str, report.broken[:_SHOWN]))
        yield f"{len(report.broken)} records could not be read: {shown}"
    if report.prompts > 1:
        yield f"the runs have {report.prompts} different prompts; the config has the most frequent one"
