"""The store: finished trials and runs, in a file of SQLite or in a PostgreSQL database, through SQLAlchemy Core."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    union,
    update,
)
from sqlalchemy.exc import IntegrityError

from agentmut._base import StoreError
from agentmut.nouns import Ending, Footprint, HookUse
from agentmut.store.address import StoreUrl, Where
from agentmut.store.claims import Claims, claims_of
from agentmut.store.connections import Connections, Database
from agentmut.store.fixed_evaluators import FixedSets
from agentmut.store.imported import Imports
from agentmut.store.listing import Listing
from agentmut.store.quarantine import Quarantine, sound
from agentmut.store.reports import Reports
from agentmut.store.rows import (
    Spent,
    StoredRun,
    StoredTrial,
    footprint_row,
    trial_of,
    trial_row,
)
from agentmut.store.schema import footprints, hooks, judged, quarantined, reports, reused, runs, trials
from agentmut.store.spending import counts_in, mean_cost_in, spent_in
from agentmut.store.used_trials import in_batches, trials_used, used_by, used_in
from agentmut.store.waits import waits_by_scenario

KEPT_FOOTPRINTS = 4096


class Store:
    """One `store.db`, or the schema of one project in a PostgreSQL database.

    Used by one thread at a time; raises `StoreError` for whatever the disk or the server does.
    """

    def __init__(self, where: Where) -> None:
        self._where = where
        self._stored_footprints: set[str] = set()
        self._footprints: dict[str, Footprint] = {}
        self._connections = Connections(database_of(where))
        self._keep_footprint = self._connections.upsert(footprints).on_conflict_do_nothing()
        self._link = self._connections.upsert(reused).on_conflict_do_nothing()
        self._add_run = self._connections.upsert(runs).on_conflict_do_nothing()
        new = self._connections.upsert(judged)
        self._note_judges = new.on_conflict_do_update(index_elements=["run"], set_={"usd": new.excluded.usd})
        asked = self._connections.upsert(hooks)
        values = {column.name: asked.excluded[column.name] for column in hooks.c if not column.primary_key}
        self._note_hooks = asked.on_conflict_do_update(index_elements=["run", "model"], set_=values)
        self.fixed = FixedSets(self._connections)
        """When evaluators were fixed."""
        self.quarantine = Quarantine(self._connections)
        """Trials that an outage has spoiled."""
        self.listing = Listing(self._connections, self._trial)
        """All trials, one by one."""
        self.imports = Imports(self._connections)
        """Runs that other tools recorded."""
        self.reports = Reports(self._connections)
        """What runs have reported."""

    @property
    def shown(self) -> str:
        """Return where the store stands, without secrets."""
        return self._connections.database.shown

    def close(self) -> None:
        """Release the file, or the connections to the server."""
        self._connections.close()

    def claims(self, run: str) -> Claims:
        """Return what `run` is executing, on connections of its own. Raises `StoreError`."""
        return claims_of(database_of(self._where), self._where, run)

    def find(self, key: str, run: str = "") -> StoredTrial | None:
        """Return the finished trial with this key: one that `run` has executed itself, else the latest.

        Trials that are no evidence are not found: they may end otherwise when they are run again.
        """
        return self._connections.first(_FIND, {"key_": key, "run_": run}, self._trial)

    def trials_of(
        self, run: str, mutant: str, most: int | None = None, besides: Collection[str] = ()
    ) -> list[StoredTrial]:
        """Return the trials of one mutant (of the original: an empty id) that a run executed or took over.

        With `most`, only so many of each scenario are read: the last that were stored. Trials of the scenarios
        `besides` are not read.
        """
        query = trials_used(run, mutant, most, besides)
        return self._connections.every(query, self._trial)

    def first_evidence(self, run: str, mutant: str, most: Mapping[str, int]) -> dict[str, list[StoredTrial]]:
        """Return the first trials of a mutant that are evidence, by scenario: as many of each scenario as `most` says.

        They come in the order of the repeats. Of a trial that was repeated after trouble the last one counts.
        """
        used = used_by(run, trials.c.mutant == mutant, trials.c.scenario.in_(most))
        ordered = select(used.c.id, used.c.scenario, used.c.repeat, used.c.ending)
        ordered = ordered.order_by(used.c.scenario, used.c.repeat, used.c.id)
        # the driver's plain rows: as mappings they take three times as long, and a campaign has a million
        rows = self._connections.read(lambda connection: connection.execute(ordered).all())
        latest = {(scenario, repeat): (id, ending) for id, scenario, repeat, ending in rows}
        wanted: dict[str, list[int]] = {}
        for (scenario, _), (id, ending) in latest.items():
            ids = wanted.setdefault(scenario, [])
            if len(ids) < most[scenario] and Ending(ending).is_evidence:
                ids.append(id)
        read = self._by_id([id for ids in wanted.values() for id in ids])
        return {scenario: [read[id] for id in ids] for scenario, ids in wanted.items()}

    def _by_id(self, ids: Iterable[int]) -> dict[int, StoredTrial]:
        return {trial.id: trial for trial in self.listing.some(ids)}

    def rows_of(self, run: str) -> Iterator[Mapping[Any, Any]]:
        """Yield what a run has executed or taken over, row by row, for `adopt` of another store."""
        used = used_by(run)
        query = (
            select(used, footprints.c.content)
            .join(footprints, footprints.c.digest == used.c.footprint)
            .order_by(used.c.id)
        )
        yield from self._connections.rows(query, lambda row: row)

    def adopt(self, run: str, rows: Iterable[Mapping[Any, Any]]) -> None:
        """Take rows of another store in, as taken over by `run`. One that is here already is not repeated."""
        for some in in_batches(rows):

            def adopted(connection: Connection, some: Sequence[Mapping[Any, Any]] = some) -> None:
                for row in some:
                    connection.execute(self._link, {"run": run, "trial": self._adopted(connection, row)})

            self._connections.write(adopted)

    def users(self, keys: Sequence[str]) -> set[str]:
        """Return the runs that executed or took over a trial with one of the keys."""
        executed = select(trials.c.run).where(trials.c.key.in_(keys))
        taken_over = (
            select(reused.c.run).join(trials, reused.c.trial == trials.c.id).where(trials.c.key.in_(keys))
        )
        query = union(executed, taken_over)
        return self._connections.read(lambda connection: set(connection.execute(query).scalars()))

    def taken_over(self, key: str, run: str) -> list[StoredTrial]:
        """Return the trials with this key that `run` took over, the latest first; those that are no evidence last."""
        final = trials.c.ending.in_([ending.value for ending in Ending if ending.is_final])
        query = (
            select(trials)
            .join(reused, reused.c.trial == trials.c.id)
            .where(reused.c.run == run, trials.c.key == key, sound())
            .order_by(final.desc(), trials.c.id.desc())
        )
        return self._connections.every(query, self._trial)

    def save(
        self,
        run: str,
        finished: Sequence[StoredTrial],
        reused_ids: Sequence[int] = (),
        seconds: float | None = None,
        judges_usd: float = 0.0,
        hook_uses: Sequence[HookUse] = (),
    ) -> None:
        """Keep trials that `run` has executed, and the rows it took over, in one durable transaction.

        `seconds` is how long the run has been at work, `judges_usd` what its model judges have cost so far, and
        `hook_uses` what its scenarios' hooks have asked of models so far: one for each model.
        """
        if not (finished or reused_ids):
            return
        rows = [trial_row(trial, run) for trial in finished]
        links = [{"run": run, "trial": row} for row in reused_ids]

        def saved(connection: Connection) -> set[str]:
            new = self._keep_footprints(connection, [trial.execution.footprint for trial in finished])
            if rows:
                self._connections.database.insert_all(connection, _INSERT, rows)
            if links:
                connection.execute(self._link, links)
            if seconds is not None:
                connection.execute(_SECONDS, {"run_": run, "seconds": seconds})
            if judges_usd:
                connection.execute(self._note_judges, {"run": run, "usd": judges_usd})
            for use in hook_uses:
                connection.execute(self._note_hooks, {"run": run, **use.model_dump()})
            return new

        try:
            self._stored_footprints |= self._connections.write(saved, lambda c: _is_there(c, rows))
        except StoreError as error:
            if not (isinstance(error.__cause__, IntegrityError) and self._stored_footprints):
                raise
            self._stored_footprints.clear()  # another process has cleaned the store
            self._stored_footprints |= self._connections.write(saved)

    def forget(self, run: str) -> None:
        """Hide the run's trials that never began from `find`; reports still see them.

        Those that it took over stay where others that it took over ran: they are what the agent does now and then.
        """
        taken_over = trials.c.id.in_(select(reused.c.trial).where(reused.c.run == run))
        unbegun, _ = self._by_beginning(trials.c.run == run)
        earlier, ran = self._by_beginning(taken_over)
        rows = [{"row": row} for row in (*unbegun, *(() if ran else earlier))]
        hide = update(trials).where(trials.c.id == bindparam("row")).values(key="")
        if rows:
            self._connections.write(lambda connection: connection.execute(hide, rows))

    def _by_beginning(self, which: ColumnElement[bool]) -> tuple[list[int], bool]:
        """Return the trials that raised before they did anything, and whether there are others that are evidence."""
        raised = trials.c.ending == Ending.RAISED.value
        counted = select(func.count()).select_from(trials).where(which, trials.c.ending.in_(_FINAL), ~raised)
        others = self._connections.read(lambda connection: connection.execute(counted).scalar_one())
        found = self._connections.every(select(trials).where(which, raised), self._trial)
        unbegun = [trial.id for trial in found if trial.execution.never_began]
        return unbegun, others > 0 or len(unbegun) < len(found)

    def spent(self, run: str) -> Spent:
        """Return what a run has executed so far, trials without evidence included."""
        return self._connections.read(lambda connection: spent_in(connection, trials.c.run == run, [run]))

    def spent_by(self, executed_by: Sequence[str], taken_over_by: str) -> Spent:
        """Return what some runs have executed of the trials that another one took over, each trial once."""
        taken_over = trials.c.id.in_(select(reused.c.trial).where(reused.c.run == taken_over_by))
        which = and_(trials.c.run.in_(executed_by), taken_over)
        return self._connections.read(lambda connection: spent_in(connection, which, executed_by))

    def waits(self) -> dict[str, list[float]]:
        """Return how long the latest trials waited for model services, by scenario, in seconds."""
        return self._connections.read(waits_by_scenario)

    def mean_cost(self) -> float | None:
        """Return the mean price of a trial of the original in US dollars; None if none is stored with a price."""
        return self._connections.read(mean_cost_in)

    def counts(self, run: str) -> tuple[int, int]:
        """Return how many trials a run has executed, and how many it took over from other runs."""
        return self._connections.read(lambda connection: counts_in(connection, run))

    def add_run(self, stored: StoredRun) -> None:
        """Register a run before its first trial."""
        known = select(runs.c.id).where(runs.c.id == stored.id)
        self._connections.write(
            lambda connection: connection.execute(insert(runs), stored._asdict()).rowcount,
            lambda connection: 1 if connection.execute(known).first() else None,
        )

    def adopt_run(self, stored: StoredRun) -> None:
        """Note a run of another store, unless it is noted here."""
        self._connections.write(lambda connection: connection.execute(self._add_run, stored._asdict()))

    def set_plan(self, run: str, plan: str) -> None:
        """Replace the plan of a run."""
        self._set(run, {"plan": plan})

    def set_status(self, run: str, status: str, seconds: float | None = None) -> None:
        """Note how far a run came, and for how many seconds it has been at work."""
        self._set(run, {"status": status} | ({} if seconds is None else {"seconds": seconds}))

    def _set(self, run: str, values: dict[str, Any]) -> None:
        change = update(runs).where(runs.c.id == run).values(values)
        self._connections.write(lambda connection: connection.execute(change))

    def runs(self) -> list[StoredRun]:
        """Return all runs, the latest first."""
        query = select(runs).order_by(runs.c.started.desc(), runs.c.id.desc())
        return self._connections.read(
            lambda connection: [StoredRun(*row) for row in connection.execute(query)]
        )

    def unused(self, keep: Sequence[str]) -> int:
        """Return how many trials `clean` would remove: those that no run in `keep` executed or took over."""
        query = select(func.count()).select_from(trials).where(trials.c.id.not_in(used_in(keep)))
        return self._connections.read(lambda connection: int(connection.execute(query).scalar_one()))

    def clean(self, keep: Sequence[str]) -> int:
        """Forget every run not in `keep`, and the trials that no kept run used. Returns trials removed."""

        def cleaned(connection: Connection) -> int:
            self._connections.database.alone(connection)
            connection.execute(delete(reused).where(reused.c.run.not_in(keep)))
            connection.execute(delete(judged).where(judged.c.run.not_in(keep)))
            connection.execute(delete(hooks).where(hooks.c.run.not_in(keep)))
            connection.execute(delete(reports).where(reports.c.run.not_in(keep)))
            connection.execute(delete(runs).where(runs.c.id.not_in(keep)))
            used = used_in(keep)
            connection.execute(delete(quarantined).where(quarantined.c.trial.not_in(used)))
            removed = connection.execute(delete(trials).where(trials.c.id.not_in(used))).rowcount
            shown = select(trials.c.footprint)
            connection.execute(delete(footprints).where(footprints.c.digest.not_in(shown)))
            return removed

        removed = self._connections.write(cleaned)
        self._stored_footprints.clear()
        self._connections.compact()
        return removed

    def _adopted(self, connection: Connection, row: Mapping[Any, Any]) -> int:
        values = {column.name: row[column.name] for column in trials.c if column.name != "id"}
        same = [trials.c[name] == row[name] for name in ("key", "run", "finished")]
        found = connection.execute(select(trials.c.id).where(*same)).scalar()
        if found is not None:
            return int(found)
        connection.execute(self._keep_footprint, {"digest": row["footprint"], "content": row["content"]})
        inserted = connection.execute(_INSERT, values).inserted_primary_key
        assert inserted is not None
        return int(inserted[0])

    def _trial(self, row: Mapping[Any, Any]) -> StoredTrial:
        return trial_of(row, self._footprint(row["footprint"]))

    def _footprint(self, digest: str) -> Footprint:
        """Return a footprint, read once: most trials share a footprint with others."""
        if digest not in self._footprints:
            if len(self._footprints) >= KEPT_FOOTPRINTS:
                self._footprints.clear()
            content = self._connections.read(
                lambda connection: connection.execute(_FOOTPRINT, {"digest_": digest}).scalar_one()
            )
            self._footprints[digest] = Footprint.model_validate_json(content)
        return self._footprints[digest]

    def _keep_footprints(self, connection: Connection, seen: Iterable[Footprint]) -> set[str]:
        new = {print_.digest: print_ for print_ in seen if print_.digest not in self._stored_footprints}
        if new:
            connection.execute(self._keep_footprint, [footprint_row(footprint) for footprint in new.values()])
        return set(new)


def database_of(where: Where) -> Database:
    """Return the database that stands there; it is not opened."""
    if isinstance(where, StoreUrl):
        from agentmut.store.postgres import PostgresServer

        return PostgresServer(where)
    from agentmut.store.read_only_file import ReadOnlyFile, is_read_only
    from agentmut.store.sqlite_file import SqliteFile

    return ReadOnlyFile(where) if is_read_only(where) else SqliteFile(where)


def _is_there(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> set[str] | None:
    """Return no footprint if a transaction with these trials was kept, though its connection was lost; else None."""
    if not rows:
        return None
    same = [trials.c[name] == rows[0][name] for name in ("key", "run", "repeat", "finished")]
    return set() if connection.execute(select(trials.c.id).where(*same)).first() else None


_FINAL: list[Any] = [literal_column(repr(ending.value)) for ending in Ending if ending.is_final]
_FIND = (
    select(trials)
    .where(trials.c.key == bindparam("key_"), trials.c.ending.in_(_FINAL), sound())
    .order_by((trials.c.run == bindparam("run_")).desc(), trials.c.id.desc())
)
"""It runs before every trial."""
_FOOTPRINT = select(footprints.c.content).where(footprints.c.digest == bindparam("digest_"))
_INSERT = insert(trials)
_SECONDS = update(runs).where(runs.c.id == bindparam("run_")).values(seconds=bindparam("seconds"))
