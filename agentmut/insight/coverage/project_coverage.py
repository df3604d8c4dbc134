"""The coverage of a project, from its stored trials and results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from agentmut._base import Frozen, UsageError, keep_json, nearest
from agentmut.campaign import (
    CODE_CHANGED,
    MOST_READ,
    Heads,
    Kept,
    Plan,
    Session,
    baseline_heads,
    original_heads,
    plan_of,
    spot,
)
from agentmut.insight.coverage.context import CoverageContext, Place
from agentmut.insight.coverage.measure import Measurement
from agentmut.insight.coverage.nouns import Coverage, LeftOut
from agentmut.insight.coverage.sightings import Traces
from agentmut.nouns import About, AgentTrace, Ending, MutantRow, Origin, Origins, Result, Status, read_result
from agentmut.project import FOLDER
from agentmut.store import Store, StoredTrial, of_imported_runs

FILE = "coverage.json"
"""In the project's folder: lambda of each config, as its first measurement estimated it."""
LAST_ONES = f"of a scenario with more than {MOST_READ:,} stored trials, the last {MOST_READ:,} are read"
NO_VALUES = "values of arguments are not kept (store.texts), so no trial shows a boundary"


class CalibratedLambda(Frozen):
    """Lambda by the digest of the config."""

    states: dict[str, float] = Field(default_factory=dict)


class CoverageRequest(NamedTuple):
    """The request of a command."""

    run: str | None = None
    """Only the campaign that this begins."""
    scenarios: Sequence[str] = ()
    calibrate: bool = False
    """Estimate lambda again."""

    @property
    def is_whole(self) -> bool:
        """Return whether the request covers everything that is stored."""
        return self.run is None and not self.scenarios


def project_coverage(session: Session, store: Store, request: CoverageRequest | None = None) -> Coverage:
    """Return the coverage of the stored trials that fit the present agent and suite.

    Lambda is estimated by the first measurement of all trials of a config, and kept in `.agentmut/coverage.json`.
    Raises `UsageError` where nothing is stored that fits, for an unknown scenario or run, and where that file
    cannot be read.
    """
    request = request or CoverageRequest()
    _check_scenarios(session, request.scenarios)
    heads, left_out, notes = _heads(session, store, request)
    wanted = {n: trials for n, trials in heads.items() if not request.scenarios or n in request.scenarios}
    file = session.project.root / FOLDER / FILE
    known = _calibrated(file)
    context = _context(session, store, request, known)
    measured = Measurement(session.suite.full, session.project.coverage, context)
    read = _measure(measured, store.listing.some(head.id for trials in wanted.values() for head in trials))
    if not read.runs:
        raise UsageError(
            f"{_nothing([*left_out, *read.unfit])}{of_imported_runs(store.imports.totals().trials)}"
        )
    coverage = measured.coverage()
    _keep(file, known, session, request, coverage.states)
    further = {
        "left_out": (*left_out, *read.unfit, *coverage.left_out),
        "notes": (*notes, *([NO_VALUES] if read.wordless else []), *coverage.notes),
        "origins": Origins(runs=read.runs, foreign=read.foreign),
        "failed": len(read.failed),
        "failure": read.first_failure,
    }
    return coverage.model_copy(update=further)


@dataclass
class TrialsRead:
    """What was seen of the trials behind a coverage, beside what the coverage itself tallies."""

    runs: int = 0
    """Trials that are evidence."""
    foreign: int = 0
    wordless: bool = False
    """Whether any trial was kept without texts."""
    failed: dict[int, str] = field(default_factory=dict)
    """How trials without an answer ended, and why, by the number of their row."""
    others: Counter[str] = field(default_factory=Counter)
    """How trials that are no evidence ended -> how many."""

    def add(self, trial: StoredTrial) -> None:
        """Take in one trial."""
        run = trial.execution
        self.wordless |= bool(run.trace.texts)
        if not run.ending.is_evidence:
            self.others[run.ending.value] += 1
            return
        self.runs += 1
        self.foreign += run.trace.foreign is not None
        if run.ending is not Ending.ANSWERED:
            self.failed[trial.id] = f"{run.ending.value}: {run.reason}" if run.reason else run.ending.value

    @property
    def first_failure(self) -> str:
        """Return how the trial that failed first ended; empty where none failed."""
        return self.failed[min(self.failed)] if self.failed else ""

    @property
    def unfit(self) -> list[LeftOut]:
        """Return the trials that are no evidence."""
        return [_unfit(ending, count) for ending, count in sorted(self.others.items())]


def _measure(measured: Measurement, trials: Iterable[StoredTrial]) -> TrialsRead:
    """Measure trials that come one after the other: none stays in memory."""
    read = TrialsRead()
    for trial in trials:
        read.add(trial)
        if trial.execution.ending.is_evidence:
            measured.add(trial.scenario, _trace_of(trial))
    return read


def traces_of(kept: Kept) -> Traces:
    """Return the traces of the trials that are evidence."""
    traces = {
        name: [_trace_of(trial) for trial in trials if trial.execution.ending.is_evidence]
        for name, trials in kept.items()
    }
    return {name: found for name, found in traces.items() if found}


def _unfit(ending: str, count: int) -> LeftOut:
    return LeftOut(what=_counted(count), why=f"ended as `{ending}`, which says nothing about the agent")


def latest_result(session: Session, run: str | None = None) -> Result | None:
    """Return the result whose id begins with `run`, or the latest, on today's config; None if there is none."""
    for path in sorted(session.project.runs.glob("*/result.json"), reverse=True):
        if run is None or path.parent.name.startswith(run):
            try:
                result = read_result(path)
            except UsageError:  # of another version, or damaged: there is nothing to learn from it
                continue
            if result.agent.digest == session.suite.full.digest:
                return result
    return None


def place_of_rules(origin: Origin) -> Place:
    """Return a function that tells where characters of the prompt are written in the user's files."""

    def place(start: int, end: int) -> tuple[str, int | None, int | None, int | None]:
        target, last, _ = spot(About(pointer="/prompt", span=(start, end)), origin)
        return target.path or "prompt", target.line, last, target.column

    return place


def _check_scenarios(session: Session, wanted: Iterable[str]) -> None:
    known = [scenario.name for scenario in session.scenarios]
    for name in wanted:
        if name not in known:
            raise UsageError(f"--scenario {name}: there is no such scenario. {nearest(name, known)}")


def _heads(
    session: Session, store: Store, request: CoverageRequest
) -> tuple[Heads, list[LeftOut], list[str]]:
    if request.run is not None:
        heads, skipped = baseline_heads(session, store, request.run)
    else:
        heads, skipped = original_heads(session, store, most=MOST_READ)
    left_out = [LeftOut(what=_counted(count), why=why) for why, count in sorted(skipped.items())]
    notes = [CODE_CHANGED.format(run=run) for run in sorted(_runs_of_other_code(session, store, heads))]
    if request.run is None and any(len(trials) >= MOST_READ for trials in heads.values()):
        notes.append(LAST_ONES)
    return heads, left_out, notes


def _runs_of_other_code(session: Session, store: Store, heads: Heads) -> Iterator[str]:
    used = {trial.run for trials in heads.values() for trial in trials}
    for stored in store.runs():
        plan = plan_of(stored) if stored.id in used else None
        if plan and plan.environment.code != session.environment.code:
            yield stored.id


def _trace_of(trial: StoredTrial) -> AgentTrace:
    """Return a trial's trace; without texts, its arguments have no values, since digests are no values."""
    trace = trial.execution.trace
    if not trace.texts:
        return trace
    steps = (step.model_copy(update={"arguments": None}) for step in trace.steps)
    return trace.model_copy(update={"steps": tuple(steps)})


def _counted(count: int) -> str:
    return f"{count} stored trial{'' if count == 1 else 's'}"


def _nothing(left_out: Sequence[LeftOut]) -> str:
    why = "; ".join(f"{each.what}: {each.why}" for each in left_out)
    said = (
        f"no stored trial fits the agent and its suite as they are ({why})"
        if why
        else "nothing is stored yet"
    )
    return f"there is nothing to measure coverage on: {said}. `agentmut test` or `agentmut run` makes trials."


def _context(
    session: Session, store: Store, request: CoverageRequest, known: CalibratedLambda
) -> CoverageContext:
    result = latest_result(session, request.run)
    return CoverageContext(
        scenarios=[s for s in session.scenarios if not request.scenarios or s.name in request.scenarios],
        swap_models=session.project.mutation.swap_models,
        also_run=models_run(store, result, request.scenarios) if result else {},
        calibrated=None if request.calibrate else known.states.get(session.suite.full.digest),
        place=place_of_rules(session.origin),
        mutants=_ablation(result, request.scenarios) if result else None,
        wordless=session.tests.texts.is_hidden,
    )


def _ablation(result: Result, wanted: Sequence[str]) -> tuple[MutantRow, ...]:
    """Return the rows that decide about the wanted scenarios; a kill by other scenarios decides nothing."""
    rows = result.mutants
    return tuple(
        r for r in rows if not wanted or r.status is not Status.KILLED or set(r.killed_by) & set(wanted)
    )


def models_run(store: Store, result: Result, wanted: Sequence[str]) -> dict[str, set[str]]:
    """Return, for each model that a mutant set and that answered, the scenarios that ran with it."""
    found: dict[str, set[str]] = {}
    put_in = _models_put_in(store, result.run_id)
    for row in result.mutants:
        if row.id in put_in and row.witness:
            tried = (item.scenario for item in row.evidence if not wanted or item.scenario in wanted)
            found.setdefault(put_in[row.id], set()).update(tried)
    return found


def _models_put_in(store: Store, run: str) -> dict[str, str]:
    """Return, for each single mutant that changes only the model's name, the new name."""
    stored = next((each for each in store.runs() if each.id == run), None)
    try:
        plan = Plan.model_validate_json(stored.plan if stored else "{}")
    except ValidationError:
        return {}
    return {
        mutant.id: str(mutant.edits[0].after)
        for mutant in plan.mutants
        if [edit.pointer for edit in mutant.edits] == ["/model/name"]
    }


def _calibrated(file: Path) -> CalibratedLambda:
    try:
        return CalibratedLambda.model_validate_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return CalibratedLambda()
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise UsageError(
            f"{file} cannot be read: {first}. Delete it: lambda is then estimated anew."
        ) from None


def _keep(
    file: Path, known: CalibratedLambda, session: Session, request: CoverageRequest, states: float | None
) -> None:
    """Store lambda for later measurements, unless the settings give it or only a part was measured."""
    digest = session.suite.full.digest
    given = session.project.coverage.states is not None
    if given or states is None or not request.is_whole or known.states.get(digest) == states:
        return
    keep_json(
        CalibratedLambda(states={**known.states, digest: states}),
        file,
        "measure again with `agentmut coverage`",
    )
