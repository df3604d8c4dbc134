"""The coverage of a project, from its stored trials and results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from agentmut._base import Frozen, UsageError, keep_json, nearest
from agentmut.campaign import (
    CODE_CHANGED,
    MOST_READ,
    Kept,
    Plan,
    Session,
    plan_of,
    spot,
    stored_campaign,
    stored_originals,
)
from agentmut.insight.coverage.context import CoverageContext, Place
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Coverage, LeftOut
from agentmut.insight.coverage.sightings import Traces
from agentmut.nouns import About, AgentTrace, Ending, MutantRow, Origin, Origins, Result, Status, read_result
from agentmut.project import FOLDER
from agentmut.store import Store, StoredTrial

FILE = "coverage.json"
"""In the project's folder: lambda of each config, as its first measurement estimated it."""
LAST_ONES = f"of a scenario with more than {MOST_READ:,} stored trials, the last {MOST_READ:,} are read"
NO_VALUES = "values of arguments are not kept (store.texts), so no trial shows a boundary"


class Calibrated(Frozen):
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


def project_coverage(session: Session, store: Store, asked: CoverageRequest | None = None) -> Coverage:
    """Return the coverage of the stored trials that fit the present agent and suite.

    Lambda is estimated by the first measurement of all trials of a config, and kept in `.agentmut/coverage.json`.
    Raises `UsageError` where nothing is stored that fits, for an unknown scenario or run, and where that file
    cannot be read.
    """
    asked = asked or CoverageRequest()
    _check_scenarios(session, asked.scenarios)
    kept, left_out, notes = _trials(session, store, asked)
    wanted = {n: trials for n, trials in kept.items() if not asked.scenarios or n in asked.scenarios}
    traces, unfit = traces_of(wanted)
    if not traces:
        raise UsageError(_nothing([*left_out, *unfit]))
    file = session.project.root / FOLDER / FILE
    known = _calibrated(file)
    context = _context(session, store, asked, known)
    coverage = measure(traces, session.suite.full, session.project.coverage, context)
    _keep(file, known, session, asked, coverage.states)
    failures = failures_of(wanted)
    if any(trial.execution.trace.texts for trials in wanted.values() for trial in trials):
        notes.append(NO_VALUES)
    further = {
        "left_out": (*left_out, *unfit, *coverage.left_out),
        "notes": (*notes, *coverage.notes),
        "origins": _origins(traces),
        "failed": len(failures),
        "failure": failures[0] if failures else "",
    }
    return coverage.model_copy(update=further)


def traces_of(kept: Kept) -> tuple[Traces, list[LeftOut]]:
    """Return the traces of the trials that are evidence, and the number of the other trials."""
    traces = {name: [_trace_of(t) for t in trials if _speaks(t)] for name, trials in kept.items()}
    others = Counter(t.execution.ending.value for trials in kept.values() for t in trials if not _speaks(t))
    left_out = [
        LeftOut(what=_counted(count), why=f"ended as `{ending}`, which says nothing about the agent")
        for ending, count in sorted(others.items())
    ]
    return {name: found for name, found in traces.items() if found}, left_out


def failures_of(kept: Kept) -> list[str]:
    """Return how the counted trials without an answer ended, and why, in order."""
    failed = [
        trial
        for trials in kept.values()
        for trial in trials
        if _speaks(trial) and trial.execution.ending is not Ending.ANSWERED
    ]
    runs = [trial.execution for trial in sorted(failed, key=lambda trial: trial.id)]
    return [f"{run.ending.value}: {run.reason}" if run.reason else run.ending.value for run in runs]


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
    """Tells where characters of the prompt are written in the user's files."""

    def place(start: int, end: int) -> tuple[str, int | None, int | None, int | None]:
        target, last, _ = spot(About(pointer="/prompt", span=(start, end)), origin)
        return target.path or "prompt", target.line, last, target.column

    return place


def _check_scenarios(session: Session, wanted: Iterable[str]) -> None:
    known = [scenario.name for scenario in session.scenarios]
    for name in wanted:
        if name not in known:
            raise UsageError(f"--scenario {name}: there is no such scenario. {nearest(name, known)}")


def _trials(session: Session, store: Store, asked: CoverageRequest) -> tuple[Kept, list[LeftOut], list[str]]:
    if asked.run is not None:
        campaign = stored_campaign(session, store, asked.run)
        kept, skipped = campaign.original, campaign.skipped
    else:
        kept, skipped = stored_originals(session, store, most=MOST_READ)
    left_out = [LeftOut(what=_counted(count), why=why) for why, count in sorted(skipped.items())]
    notes = [CODE_CHANGED.format(run=run) for run in sorted(_runs_of_other_code(session, store, kept))]
    if asked.run is None and any(len(trials) >= MOST_READ for trials in kept.values()):
        notes.append(LAST_ONES)
    return kept, left_out, notes


def _runs_of_other_code(session: Session, store: Store, kept: Kept) -> Iterator[str]:
    used = {trial.run for trials in kept.values() for trial in trials}
    for stored in store.runs():
        plan = plan_of(stored) if stored.id in used else None
        if plan and plan.environment.code != session.environment.code:
            yield stored.id


def _origins(traces: Traces) -> Origins:
    every = [trace for found in traces.values() for trace in found]
    return Origins(runs=len(every), foreign=sum(trace.foreign is not None for trace in every))


def _trace_of(trial: StoredTrial) -> AgentTrace:
    """Return a trial's trace; without texts, its arguments have no values, since digests are no values."""
    trace = trial.execution.trace
    if not trace.texts:
        return trace
    steps = (step.model_copy(update={"arguments": None}) for step in trace.steps)
    return trace.model_copy(update={"steps": tuple(steps)})


def _speaks(trial: StoredTrial) -> bool:
    return trial.execution.ending.is_evidence


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


def _context(session: Session, store: Store, asked: CoverageRequest, known: Calibrated) -> CoverageContext:
    result = latest_result(session, asked.run)
    return CoverageContext(
        scenarios=[s for s in session.scenarios if not asked.scenarios or s.name in asked.scenarios],
        swap_models=session.project.mutation.swap_models,
        also_run=models_run(store, result, asked.scenarios) if result else {},
        calibrated=None if asked.calibrate else known.states.get(session.suite.full.digest),
        place=place_of_rules(session.origin),
        mutants=_ablation(result, asked.scenarios) if result else None,
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


def _calibrated(file: Path) -> Calibrated:
    try:
        return Calibrated.model_validate_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Calibrated()
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise UsageError(
            f"{file} cannot be read: {first}. Delete it: lambda is then estimated anew."
        ) from None


def _keep(
    file: Path, known: Calibrated, session: Session, asked: CoverageRequest, states: float | None
) -> None:
    """Store lambda for later measurements, unless the settings give it or only a part was measured."""
    digest = session.suite.full.digest
    given = session.project.coverage.states is not None
    if given or states is None or not asked.is_whole or known.states.get(digest) == states:
        return
    keep_json(
        Calibrated(states={**known.states, digest: states}), file, "measure again with `agentmut coverage`"
    )
