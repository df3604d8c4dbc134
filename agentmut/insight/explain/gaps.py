"""Classify each survivor by what the suite lacks: an assertion, a scenario, or unknown."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from agentmut._base import without_cyclic_collection
from agentmut.campaign import Arm, CampaignState
from agentmut.nouns import BehaviourChange, Intent, MutantRow, Result, Status, VisibleChanges
from agentmut.stats import KillTable
from agentmut.store import Store


def with_gaps(
    result: Result,
    state: CampaignState,
    store: Store,
    explained: Callable[[int, int], None] = lambda done, of: None,
) -> Result:
    """Return the result with `behaviour` and `gap` of every survivor; scores and statuses stay unchanged.

    `explained` is told how many survivors are done, and of how many: before the first one, and after each.
    """
    survived = [row for row in result.mutants if row.status is Status.SURVIVED and row.id in state.arms]
    if not survived:
        return _with_rows(result, result.mutants)
    found = {}
    explained(0, len(survived))
    with without_cyclic_collection():  # fingerprints are many small tuples
        for id, change in _changes(state, store, [row.id for row in survived]):
            found[id] = change
            explained(len(found), len(survived))
    rows = tuple(_with_change(row, found[row.id]) if row.id in found else row for row in result.mutants)
    return _with_rows(result, rows)


def carried_over(before: Result, after: Result) -> Result:
    """Return the new decision `after` with the parts that need no evaluator: behaviour, kills by relations."""
    old = {row.id: row for row in before.mutants}
    rows = tuple(_carried(row, old[row.id]) if row.id in old else row for row in after.mutants)
    return _with_rows(after, rows)


def visible_changes(rows: Iterable[MutantRow]) -> VisibleChanges:
    """Return how many of the harmful mutants visibly changed behaviour, by whether the suite noticed."""
    counted = Counter(
        "noticed" if row.status is Status.KILLED else row.gap
        for row in rows
        if row.intent is not Intent.PRESERVE
        and not row.parts
        and row.status in (Status.KILLED, Status.SURVIVED)
    )
    return VisibleChanges(
        noticed=counted["noticed"], unnoticed=counted["assertion"], unknown=counted["unknown"]
    )


def _with_rows(result: Result, rows: tuple[MutantRow, ...]) -> Result:
    return result.model_copy(update={"mutants": rows, "visible_changes": visible_changes(rows)})


def _carried(row: MutantRow, before: MutantRow) -> MutantRow:
    kept = row.model_copy(update={"killed_by_relations": before.killed_by_relations})
    return _with_change(kept, before.behaviour) if row.status is Status.SURVIVED else kept


def _with_change(row: MutantRow, change: BehaviourChange | None) -> MutantRow:
    return row.model_copy(update={"behaviour": change, "gap": _gap(row.intent, change)})


def _gap(intent: Intent, change: BehaviourChange | None) -> str | None:
    """Return the gap of a change; a change that should not matter leaves none."""
    if intent is Intent.PRESERVE:
        return None
    words: dict[bool | None, str] = {True: "assertion", False: "scenario"}
    return words.get(change.changed, "unknown") if change else "unknown"


def _changes(
    state: CampaignState, store: Store, mutants: Iterable[str]
) -> Iterator[tuple[str, BehaviourChange | None]]:
    from agentmut.insight.explain.behaviour import ENOUGH, ComparedRuns, TraceTest
    from agentmut.insight.fingerprint import Fingerprint, fingerprint

    def prints(mutant: str, most: Mapping[str, int]) -> dict[str, list[Fingerprint]]:
        kept = store.first_evidence(state.plan.run_id, mutant, most)
        return {name: [fingerprint(trial.execution) for trial in trials] for name, trials in kept.items()}

    sizes = {mutant: _sizes(state.arms[mutant]) for mutant in mutants}
    tried_on = sorted(set[str]().union(*sizes.values()))
    test = TraceTest(prints("", dict.fromkeys(tried_on, ENOUGH)), state.plan.seed)
    for mutant, most in sizes.items():
        tried = prints(mutant, most)
        yield mutant, test.change(mutant, [ComparedRuns(name, tried.get(name, [])) for name in most])


def _sizes(arm: Arm) -> dict[str, int]:
    """Return how many runs of each scenario are compared."""
    return {lane.scenario: first_block(lane.table) for lane in arm.lanes}


def first_block(table: KillTable) -> int:
    """Return the number of runs that every survivor has on a scenario: the fewest with which one can survive.

    Who gets more than these depends on failures, and so may not be compared.
    """
    return next((n for n, failures in enumerate(table.survive_at) if failures >= 0), 0)
