"""The stored trials and imported runs of a project for other tools: each with its scenario, verdict and config."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from agentmut.campaign import RunPlan, Session, plan_of, trial_key
from agentmut.nouns import AgentConfig, AgentTrace, Check, ImportedOutcome, ImportedTrial, Scenario
from agentmut.store import Import, ImportQuery, Store, StoredTrial
from agentmut.usecases.trial_rows import WholeTrial, whole_trials


@dataclass(frozen=True)
class ExportedTrial:
    """One run of the agent or of a mutant."""

    key: str
    """Identifies the trial; ids in the export are made from it, so that an export can be repeated."""
    number: int
    """Under which `agentmut trials` lists it."""
    run: str
    mutant: str
    """Empty for the original."""
    scenario: str
    repeat: int
    turns: tuple[JsonValue, ...]
    """The scenario's turns; empty where the suite does not have it any more."""
    outcome: str
    """By today's evaluators; empty where they cannot say."""
    reason: str
    checks: tuple[Check, ...]
    ending: str
    trace: AgentTrace
    finished: float
    """Seconds since the epoch."""
    config: AgentConfig | None
    """The config of today's agent; None for a trial of another version or of a mutant, whose config is not stored."""
    imported: ImportedTrial | None = None
    """The run as it was imported; None for a trial that agentmut ran."""

    @property
    def began(self) -> float:
        """Return the seconds since the epoch at which the run began."""
        return self.finished - self.trace.seconds


def exported_trials(
    session: Session,
    store: Store,
    *,
    scenario: str | None = None,
    mutant: str | None = None,
    failed: bool = False,
) -> Iterator[ExportedTrial]:
    """Yield the requested stored trials in the order of their ends, without quarantined ones.

    `mutant` is an id or its beginning, empty for the original. Raises `UsageError` as `stored_trials` does.
    """
    plans = {stored.id: plan for stored in store.runs() if (plan := plan_of(stored))}
    for stored, whole in whole_trials(session, store, scenario=scenario, mutant=mutant):
        if whole.row.quarantined or (failed and not whole.row.failed):
            continue
        yield _exported(session, stored, whole, plans.get(stored.run))


def exported_imports(store: Store, query: ImportQuery) -> Iterator[ExportedTrial]:
    """Yield the imported runs that are asked for in the order of their start, a page of them in memory."""
    return map(_exported_import, store.imports.found(query))


def _exported_import(found: Import) -> ExportedTrial:
    trial, known = found.trial.trial, found.trial
    judged = known.outcome in (ImportedOutcome.PASS, ImportedOutcome.FAIL)
    began = found.imported if trial.started is None else trial.started
    return ExportedTrial(
        key=f"import {known.format} {known.files}",
        number=found.number,
        run="",
        mutant="",
        scenario=known.scenario,
        repeat=0,
        turns=trial.turns,
        outcome=known.outcome.value if judged else "",
        reason=known.reason,
        checks=(),
        ending="answered",
        trace=trial.trace,
        finished=began + trial.trace.seconds,
        config=trial.config,
        imported=known,
    )


def _exported(
    session: Session, stored: StoredTrial, whole: WholeTrial, plan: RunPlan | None
) -> ExportedTrial:
    row, scenario = whole.row, session.tests.scenarios.get(stored.scenario)
    told = None if whole.trace.texts else scenario  # what the user says, and the prompt, are texts too
    config = _config(session, stored, told, plan) if told and plan else None
    return ExportedTrial(
        key=stored.key,
        number=row.trial,
        run=row.run,
        mutant=row.mutant,
        scenario=row.scenario,
        repeat=row.repeat,
        turns=told.turns if told else (),
        outcome=row.outcome,
        reason=row.reason,
        checks=whole.checks,
        ending=row.ending,
        trace=whole.trace,
        finished=row.finished,
        config=config,
    )


def _config(session: Session, stored: StoredTrial, scenario: Scenario, plan: RunPlan) -> AgentConfig | None:
    """Return the config of today where the trial's key says that it ran with it; None for any other."""
    config = session.suite.part(session.suite.full, stored.scenario)
    key = trial_key(
        plan.environment,
        plan.seed,
        config=config.digest,
        mutant="",
        scenario=scenario.digest,
        repeat=stored.repeat,
    )
    return config if key == stored.key else None
