"""The runs of a check of relations: source runs and follow-up runs, or what is in the store."""

from collections.abc import Callable
from typing import Any

from agentmut._base import RunError, UsageError
from agentmut.campaign import (
    Guard,
    Session,
    Spend,
    Stop,
    Tables,
    run_amid_outages,
    run_work,
    together,
)
from agentmut.relating import (
    AnyRun,
    CheckedRelations,
    PreparedLanes,
    Progress,
    RelationsPlan,
    SourceTrials,
    Wish,
    any_run,
    carry_out_stored,
    executions_of,
    first_and_anew,
    giving_up,
    materials_of,
    prepare,
    source_work,
    stored_sources,
    unanswered,
)
from agentmut.store import Store, of_imported_runs

_AGAIN = "give the same command again"
"""How a check that an outage has ended goes on."""


def checked_relations(
    session: Session, store: Store, wanted: Wish, plan: RelationsPlan, progress: Progress
) -> CheckedRelations:
    """Carry out the source runs, then the follow-up runs."""
    if not plan.scenarios:
        return CheckedRelations(plan, Stop.FINISHED, Spend())
    return _RelationRuns(session, store, wanted, plan, progress).checked()


class _RelationRuns:
    """The source runs and the follow-up runs of one check."""

    def __init__(
        self, session: Session, store: Store, wanted: Wish, plan: RelationsPlan, progress: Progress
    ) -> None:
        self._session, self._store, self._wanted = session, store, wanted
        self._plan, self._progress = plan, progress

    def checked(self) -> CheckedRelations:
        """Carry out the source runs, then the follow-up runs."""
        plan = self._plan
        sources, stop = run_amid_outages(
            self._store,
            plan.run_id,
            lambda: giving_up(source_work(self._session, plan)),
            self._run_in(self._session),
            _AGAIN,
        )
        problem = sources.problem or ("" if stop is Stop.INTERRUPTED else sources.silence())
        if problem:
            return CheckedRelations(
                plan, Stop.FAILED, sources.spend, problem, sources.refused, forgot=sources.forgot
            )
        self._store.set_status(plan.run_id, "planned", sources.spend.seconds)
        return self._followed_up(sources, stop)

    def _followed_up(self, sources: SourceTrials, stop: Stop) -> CheckedRelations:
        """Carry out the follow-up runs; where the source runs did not finish, judge only what needs no run."""
        plan = self._plan
        materials = materials_of(self._session, plan, executions_of(self._store, plan))
        tables = Tables.from_project(self._session.project)

        def anew() -> PreparedLanes:
            return prepare(self._session, plan, self._wanted.fitting, materials, tables)

        try:
            prepared = anew()
        except RunError as error:
            return CheckedRelations(plan, Stop.FAILED, sources.spend, str(error))
        work, spend, forgot = prepared.work, sources.spend, sources.forgot
        if stop is not Stop.FINISHED:
            work.judge_free()
        else:
            work, stop = run_amid_outages(
                self._store,
                plan.run_id,
                first_and_anew(work, lambda: anew().work),
                self._run_in(prepared.session),
                _AGAIN,
            )
            spend, forgot = together(spend, work.spend), work.forgot
            if work.unbegun and stop is Stop.FINISHED:
                probe = self._probe()
                spend = together(spend, probe.spend)
                if probe.unable:
                    return CheckedRelations(plan, Stop.FAILED, spend, probe.problem, forgot=probe.forgot)
        return CheckedRelations(
            plan, stop, spend, work.problem, work.refused, work.lanes, prepared.identity, forgot=forgot
        )

    def _run_in(self, where: Session) -> Callable[[Any, Guard], Stop]:
        """Return a function that runs work with the agent and the evaluators of a session."""
        return lambda work, guard: run_work(
            where, work, self._store, progress=lambda: self._progress(work), guard=guard
        )

    def _probe(self) -> AnyRun:
        """Run the unchanged agent once more after follow-up runs that never began.

        The cause may be their changed input, or a key that is missing by now.
        """
        probe = any_run(source_work(self._session, self._plan))
        run_work(self._session, probe, self._store, progress=lambda: self._progress(probe))
        return probe


def stored_relations(session: Session, store: Store, wanted: Wish, plan: RelationsPlan) -> CheckedRelations:
    """Judge what the store has: source runs, and follow-ups that need no further run or whose runs are stored."""
    if not plan.scenarios:
        return CheckedRelations(plan, Stop.FINISHED, Spend())
    stored = stored_sources(session, store, plan)
    if not any(stored.by_scenario.values()):
        why = "; ".join(stored.notes) or "no run of the unchanged agent is stored"
        raise UsageError(
            f"nothing in the store can be used: {why}. `agentmut run`, `test` or `relations` makes runs."
            f"{of_imported_runs(store.imports.totals().trials)}"
        )
    if silence := unanswered(run for runs in stored.by_scenario.values() for _, run in runs):
        return CheckedRelations(stored.plan, Stop.FAILED, Spend(), silence, notes=stored.notes)
    materials = materials_of(session, stored.plan, stored.by_scenario)
    tables = Tables.from_project(session.project)
    runs = [run for runs in stored.by_scenario.values() for _, run in runs]
    spend = Spend(reused=len(runs), foreign=sum(run.trace.foreign is not None for run in runs))
    try:
        prepared = prepare(session, stored.plan, wanted.fitting, materials, tables, stored.repeats_of)
    except RunError as error:
        return CheckedRelations(stored.plan, Stop.FAILED, spend, str(error), notes=stored.notes)
    carry_out_stored(prepared.session, prepared.work, store)
    lanes, problem = prepared.work.lanes, prepared.work.problem
    stop = Stop.FAILED if problem else Stop.FINISHED
    return CheckedRelations(
        stored.plan, stop, spend, problem, lanes=lanes, identity=prepared.identity, notes=stored.notes
    )
