"""Relations on the stored runs of a rescored campaign: the same check as `agentmut relations --survivors --stored`."""

import time
from collections.abc import Iterator

from agentmut._base import RunError
from agentmut.assessment import RunSettings
from agentmut.campaign import Session, StoredCampaign, Tables
from agentmut.nouns import MutantRow, Result
from agentmut.project import Project
from agentmut.relating.preparation import Wish, wish
from agentmut.relating.survivor_check import campaign_with, judge_stored
from agentmut.relating.survivors import with_kills
from agentmut.store import RelationFlip, RelationsRescored, Store, SurvivorsReport


def relations_rescored(
    session: Session, store: Store, stored: StoredCampaign, before: Result, after: Result
) -> tuple[RelationsRescored | None, Result]:
    """Return the findings of today's relations, and `after` with their kills.

    `after` is the result by today's evaluators, with the kills of earlier checks carried over. None and the same
    result where the project names no relations and none was checked before. Raises `UsageError` for names that are
    none, `RunError` for a relation that raises.
    """
    checked_before = before.score_with_relations is not None
    if not (checked_before or _names_some(session.project)):
        return None, after
    wanted = _wanted(session, stored)
    report, result = _judged(session, store, stored, wanted, _of_today(after, wanted))
    if result.score_with_relations is None:  # nothing was judged: what is left of earlier kills counts
        result = with_kills(
            result, (), (), Tables.from_project(session.project), session.project.statistics.scoring
        )
    assert result.score_with_relations is not None
    rescored = RelationsRescored(
        relations=tuple(dict.fromkeys(fit.chosen.label for fit in wanted.fits)),
        before=before.score_with_relations,
        after=result.score_with_relations,
        flipped=tuple(_flips(before, result)),
        kept=dict(_unconfirmed_kills(report, result)),
        report=report,
        notes=wanted.notes,
    )
    return rescored, result


def _names_some(project: Project) -> bool:
    return project.relations.use is not None or bool(project.relations.own)


def _wanted(session: Session, stored: StoredCampaign) -> Wish:
    """Return the relations in use on the unchanged scenarios; none if `relations.use` is empty."""
    if session.project.relations.use == ():
        return Wish((), {})
    found = wish(session, ())
    return found._replace(fits=tuple(fit for fit in found.fits if fit.scenario.name in stored.original))


def _of_today(result: Result, wanted: Wish) -> Result:
    """Return the result without kills by relations that are no longer used or no longer fit."""
    places = {f"{fit.chosen.label} @ {fit.scenario.name}" for fit in wanted.fitting}
    rows = tuple(
        row.model_copy(
            update={"killed_by_relations": tuple(one for one in row.killed_by_relations if one in places)}
        )
        for row in result.mutants
    )
    return result.model_copy(update={"mutants": rows})


def _judged(
    session: Session, store: Store, stored: StoredCampaign, wanted: Wish, result: Result
) -> tuple[SurvivorsReport | None, Result]:
    campaign = campaign_with(stored, result, wanted)
    if not campaign.survivors or not wanted.fitting:
        return None, result
    report, found = judge_stored(session, store, wanted, campaign, RunSettings(time.time()))
    if report.problem:
        raise RunError(report.problem)
    return report, found


def _flips(before: Result, after: Result) -> Iterator[RelationFlip]:
    """Yield the mutants that relations kill now or then, and not both."""
    old = {row.id: row.killed_by_relations for row in before.mutants}
    for row in after.mutants:
        if bool(row.killed_by_relations) is not bool(old.get(row.id, ())):
            yield _flip(row, old.get(row.id, ()))


def _flip(row: MutantRow, before: tuple[str, ...]) -> RelationFlip:
    return RelationFlip(
        mutant=row.id,
        operator=row.operator,
        description=row.description,
        before=before,
        after=row.killed_by_relations,
    )


def _unconfirmed_kills(
    report: SurvivorsReport | None, result: Result
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the kills that are in the result, and were not found now."""
    found = (
        {(kill.mutant, f"{kill.relation} @ {kill.scenario}") for kill in report.kills} if report else set()
    )
    for row in result.mutants:
        if kept := tuple(place for place in row.killed_by_relations if (row.id, place) not in found):
            yield row.id, kept
