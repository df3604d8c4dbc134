"""One result from the shards of a campaign: the ordinary loop reads their stored trials and runs nothing."""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from agentmut._base import RunError, UsageError
from agentmut.campaign.preparation.plan import Plan, new_run_id
from agentmut.campaign.preparation.session import Session, open_session, suite_digest
from agentmut.campaign.shards.shards import SHARED, merged_plan, same_campaign
from agentmut.nouns import Execution, HookUse
from agentmut.project import FOLDER
from agentmut.store import Claims, Spent, Store, StoredRun, StoredTrial, StoreUrl, Unshared, Where, is_later
from agentmut.trial import TrialRequest

FILE = "store.db"
Executed = tuple[str, str, str, float]
"""One execution of a trial: mutant, key, the run that executed it, and when it was finished."""


class ShardRun(NamedTuple):
    """A shard's run, and its store."""

    store: Where
    run: StoredRun
    plan: Plan

    @property
    def number(self) -> int:
        """Return which shard."""
        return self.plan.shard.number if self.plan.shard else 0

    def __str__(self) -> str:
        return f"run {self.run.id} in {_store_name(self.store)}"


class SharedTrials(NamedTuple):
    """The trials that all shards share: the baseline and the controls."""

    mutants: frozenset[str]
    """The controls, and the empty id of the original."""
    trials: frozenset[Executed]
    """The first shard's trials: another may have run a control's trials again, after trouble with the service."""


class MergedTrials:
    """The store of the merged run: it holds the trials of the shards only."""

    def __init__(self, store: Store, counted: Sequence[str], common: SharedTrials) -> None:
        self._store = store
        self._counted = counted
        self._common = common

    def find(self, key: str, run: str = "") -> StoredTrial | None:
        """Return the shard's trial; trials that the campaign executed count as executed by the merged run."""
        taken = next((trial for trial in self._store.taken_over(key, run) if self._is_used(trial)), None)
        return taken._replace(run=run) if taken and taken.run in self._counted else taken

    def _is_used(self, trial: StoredTrial) -> bool:
        executed = (trial.mutant, trial.key, trial.run, trial.finished)
        common = trial.mutant in self._common.mutants and (trial.mutant or not is_later(trial.repeat))
        return not common or executed in self._common.trials

    def save(
        self,
        run: str,
        finished: Sequence[StoredTrial],
        reused_ids: Sequence[int] = (),
        seconds: float | None = None,
        judges_usd: float = 0.0,
        hook_uses: Sequence[HookUse] = (),
    ) -> None:
        """Save nothing: a merge runs no trial."""

    def claims(self, run: str) -> Claims:
        """Return claims on nothing: a merge runs no trial."""
        return Unshared()

    def forget(self, run: str) -> None:
        """Forget nothing: the trials belong to the shards."""

    def spent(self, run: str) -> Spent:
        """Return the sum of what all shards and their baseline have executed, each trial once."""
        return self._store.spent_by(self._counted, run)

    def waits(self) -> Mapping[str, Sequence[float]]:
        """Return no waits: a merge runs no trial that could be late."""
        return {}


class NothingToRun:
    """An executor that runs nothing, for a run whose trials are all stored."""

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Begin and end a session that has no effect, since a merge runs nothing."""
        yield

    async def execute(self, request: TrialRequest) -> Execution:
        """Raise `RunError`, which names the missing trial."""
        who = f"mutant {request.mutant.id}" if request.mutant else "the original"
        raise RunError(
            f"a trial of {who} on scenario {request.scenario} is in none of the stores. Was one of them cleaned, or "
            "damaged? `agentmut run` with the same --shard there runs what is missing"
        )


class Merge(NamedTuple):
    """The parts of a campaign, found to belong together, and the plan of the whole."""

    session: Session
    plan: Plan
    shards: Sequence[ShardRun]
    common: SharedTrials

    def taken_in(self, store: Store) -> MergedTrials:
        """Return the trials and plans of the shards, as part of a store in which the plan is registered."""
        return MergedTrials(store, _import(store, self.shards, self.plan), self.common)

    def runs_after_kills(self) -> frozenset[tuple[str, str, int]]:
        """Return mutant, scenario and repeat of the runs after kills that the shards have made.

        A shard whose budget ended first lacks some of them, and a merge runs nothing.
        """
        runs: set[tuple[str, str, int]] = set()
        for shard in self.shards:
            with _opened(shard.store) as store:
                rows = store.rows_of(shard.run.id)
                runs.update((r["mutant"], r["scenario"], r["repeat"]) for r in rows if _is_after_kill(r))
        return frozenset(runs)


def plan_merge(session: Session, stores: Sequence[Where], now: float) -> Merge:
    """Find the shards in these stores, or in folders that hold one, and combine their plans.

    Raises `UsageError` where they are not all the shards of one campaign on one baseline, or where the project is
    not as it was.
    """
    shards, notes = _shards(stores)
    plan = merged_plan({str(shard): shard.plan for shard in shards}, new_run_id(now), now)
    plan = plan.model_copy(update={"notes": (*plan.notes, *notes)})
    return Merge(_fitting(session, plan), plan, shards, _common(shards, plan))


class Shards(NamedTuple):
    """The shards to merge, in their order."""

    found: tuple[ShardRun, ...]
    notes: tuple[str, ...]
    """What was passed over."""


def _shards(stores: Iterable[Where]) -> Shards:
    """Return the newest finished run of each shard of the campaign that ran last.

    Runs of other campaigns are what a shared folder held before; they are told of where shards are missing.
    """
    runs = _runs(stores)
    newest = max(runs, key=lambda shard: shard.plan.started)
    same = [shard for shard in runs if same_campaign(shard.plan, newest.plan)]
    chosen = {shard.number: shard for shard in sorted(same, key=_preference)}
    others = [shard for shard in runs if shard not in same]
    if newest.plan.shard and len(chosen) < newest.plan.shard.of:
        chosen |= {-at: shard for at, shard in enumerate(others, 1)}  # so that what differs is said
    for shard in chosen.values():
        if shard.run.status != "finished":
            raise UsageError(
                f"shard {shard.plan.shard} is not finished ({shard}: {shard.run.status}). `agentmut resume` there, "
                "then merge again."
            )
    ordered = sorted(chosen.values(), key=lambda shard: shard.number)
    return Shards(tuple(ordered), tuple(_passed_over(ordered, same)))


def _preference(shard: ShardRun) -> tuple[bool, float]:
    """Return the sort key of a run: a finished run comes after others, a newer run after older; the last is taken."""
    return shard.run.status == "finished", shard.plan.started


def _passed_over(chosen: Iterable[ShardRun], same: Sequence[ShardRun]) -> Iterator[str]:
    for shard in chosen:
        older = [run.run.id for run in same if run.number == shard.number and run.run.id != shard.run.id]
        if older:
            yield (
                f"shard {shard.plan.shard} was run more than once: {shard.run.id}, the newest finished run, is "
                f"merged, and not {', '.join(older)}"
            )


def _runs(stores: Iterable[Where]) -> list[ShardRun]:
    """Return every run of a shard in the stores, each once; a run is finished if one store has it finished."""
    by_id: dict[str, ShardRun] = {}
    for store in map(_place, stores):
        for shard in _shards_in(store):
            known = by_id.setdefault(shard.run.id, shard)
            if known.run.status != "finished":  # copied while it was at work
                by_id[shard.run.id] = shard
    return list(by_id.values())


def _shards_in(where: Where) -> list[ShardRun]:
    with _opened(where) as store:
        plans = ((run, _plan(run)) for run in store.runs())
        shards = [ShardRun(where, run, plan) for run, plan in plans if plan and plan.shard]
    if not shards:
        raise UsageError(f"{_store_name(where)} holds no shard: run `agentmut run --shard k/n` there first.")
    return shards


def _place(where: Where) -> Where:
    """Return the store file in a folder; a database's place is its URL."""
    return where if isinstance(where, StoreUrl) else _store_file(where)


def _store_name(where: Where) -> str:
    return where.shown if isinstance(where, StoreUrl) else str(where)


_NAMED = f"Name the {FOLDER} folder of a shard, the project that holds it, or its {FILE}."
_SQLITE = b"SQLite format 3\0"
"""How each file of SQLite begins."""


def _store_file(path: Path) -> Path:
    candidates = (path, path / FILE, path / FOLDER / FILE)
    store = next((each for each in candidates if each.is_file()), None)
    if store is None:
        raise UsageError(f"{path} holds no store. {_NAMED}")
    if store == path and not _may_be_store(path):
        raise UsageError(f"{path} is no store. {_NAMED}")
    return store


def _may_be_store(file: Path) -> bool:
    """Return whether a file begins as SQLite's do; one without content is a store that holds nothing."""
    with file.open("rb") as opened:
        begin = opened.read(len(_SQLITE))
    return begin in (_SQLITE, b"")


@contextmanager
def _opened(where: Where) -> Iterator[Store]:
    store = Store(where)
    try:
        yield store
    finally:
        store.close()


def _plan(run: StoredRun) -> Plan | None:
    try:
        return Plan.model_validate_json(run.plan)
    except ValidationError:  # of a test or comparison, or of another version
        return None


def _fitting(session: Session, plan: Plan) -> Session:
    """Return the session with the plan's scenarios. Raises `UsageError` where the shards were run on something else."""
    missing = set(plan.scenarios) - set(session.tests.scenarios)
    if not missing and set(plan.scenarios) != set(session.tests.scenarios):
        session = open_session(session.project, plan.scenarios)
    now = {"the agent's config": session.suite.full.digest, "the suite": suite_digest(session)}
    then = {"the agent's config": plan.config_digest, "the suite": plan.suite_digest}
    if differing := [name for name, digest in now.items() if digest != then[name]]:
        raise UsageError(
            f"{session.project.path} differs from the project of the shards in {' and '.join(differing)}. Merge in the "
            "project with which the shards were run."
        )
    return session


def _common(shards: Sequence[ShardRun], plan: Plan) -> SharedTrials:
    """Return what all shards have.

    Raises `UsageError` unless they compared with the very same trials of the original.
    """
    mutants = frozenset({"", plan.destroyed.id, *(mutant.id for mutant in plan.identity)})
    first, *others = shards
    common = SharedTrials(mutants, frozenset(_executions(first, mutants)))
    baseline = {executed for executed in common.trials if not executed[0]}
    for shard in others:
        if set(_executions(shard, {""})) != baseline:
            raise UsageError(
                f"{shard} and {first} do not have the same trials of the baseline. {SHARED} If some of its trials "
                "found the model service in trouble, give --baseline-only again before you copy it."
            )
    return common


def _executions(shard: ShardRun, mutants: Collection[str]) -> Iterator[Executed]:
    with _opened(shard.store) as store:
        for row in store.rows_of(shard.run.id):
            beside = not row["mutant"] and is_later(row["repeat"])  # each shard has its own
            if row["mutant"] in mutants and not beside:
                yield row["mutant"], row["key"], row["run"], row["finished"]


def _is_after_kill(row: Mapping[str, Any]) -> bool:
    return bool(row["mutant"]) and is_later(row["repeat"])


def _import(store: Store, shards: Sequence[ShardRun], plan: Plan) -> list[str]:
    """Import the shards' trials and plans; return the runs that executed them as part of the campaign."""
    counted: dict[str, None] = {}
    for shard in shards:
        with _opened(shard.store) as theirs:
            for run in theirs.runs():
                if _belongs(run, shard.plan):
                    store.adopt_run(run)
                    counted[run.id] = None
            store.adopt(plan.run_id, theirs.rows_of(shard.run.id))
            store.fixed.adopt(theirs.fixed)
    return list(counted)


def _belongs(run: StoredRun, shard: Plan) -> bool:
    """Return whether the run belongs to this campaign: a shard's run, or the run of the baseline."""
    plan = _plan(run)
    return plan is not None and bool(plan.shard or not plan.mutants) and same_campaign(plan, shard)
