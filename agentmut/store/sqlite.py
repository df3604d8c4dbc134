"""The store: finished trials and runs in SQLite, through SQLAlchemy Core.

WAL with synchronous NORMAL: what `save` has returned from survives SIGKILL (not a power cut).
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    LargeBinary,
    and_,
    bindparam,
    cast,
    create_engine,
    delete,
    event,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    union,
    update,
)
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.exc import SQLAlchemyError

from agentmut._base import StoreError, make_private_folder, touch_private
from agentmut.nouns import Ending, Footprint
from agentmut.store.durable import make_durable
from agentmut.store.explanation import explanation
from agentmut.store.fixed import FixedSets
from agentmut.store.imported import Imports
from agentmut.store.listing import Listing
from agentmut.store.migrations import VERSION, migrate
from agentmut.store.quarantine import Quarantine, sound
from agentmut.store.rows import (
    LATER,
    SERIES,
    Spent,
    StoredRun,
    StoredTrial,
    footprint_row,
    trial_of,
    trial_row,
)
from agentmut.store.schema import footprints, judged, metadata, quarantined, reused, runs, trials
from agentmut.store.waits import waits_by_scenario

__all__ = ["Spent", "Store", "StoredRun", "StoredTrial"]
KEPT_FOOTPRINTS = 4096


class Store:
    """One `store.db`. Used by one thread at a time; raises `StoreError` for whatever the disk does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stored_footprints: set[str] = set()
        self._footprints: dict[str, Footprint] = {}
        self._engine = create_engine(f"sqlite:///{path}")
        event.listen(self._engine, "connect", make_durable)
        try:
            with self._explained("open"):
                make_private_folder(path.parent)
                touch_private(path)
                self._connection = self._engine.connect()
                self._prepare()
                self.fixed = FixedSets(self._connection, self._explained, self._writing)
                """When evaluators were fixed."""
                self.quarantine = Quarantine(self._connection, self._explained, self._writing)
                """Trials that an outage has spoiled."""
                self.listing = Listing(self._connection, self._explained, self._trial)
                """All trials, one by one."""
                self.imports = Imports(self._connection, self._explained, self._writing)
                """Runs that other tools recorded."""
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Release the file."""
        self._connection.close()
        self._engine.dispose()

    def find(self, key: str, run: str = "") -> StoredTrial | None:
        """Return the finished trial with this key: one that `run` has executed itself, else the latest.

        Trials that are no evidence are not found: they may end otherwise when they are run again.
        """
        with self._explained("read"):
            row = self._driver().execute(_FIND, {"key_": key, "run_": run}).fetchone()
            return self._trial(dict(zip(trials.c.keys(), row, strict=True))) if row else None

    def trials_of(self, run: str, mutant: str) -> list[StoredTrial]:
        """Return the trials of one mutant (of the original: an empty id) that a run executed or took over."""
        taken_over = trials.c.id.in_(select(reused.c.trial).where(reused.c.run == run))
        query = (
            select(trials)
            .where(or_(trials.c.run == run, taken_over), trials.c.mutant == mutant, sound())
            .order_by(trials.c.scenario, trials.c.repeat, trials.c.id)
        )
        with self._explained("read"):
            return [self._trial(row) for row in self._connection.execute(query).mappings()]

    def rows_of(self, run: str) -> Iterator[Mapping[Any, Any]]:
        """Everything that a run has executed or taken over, row by row, for `adopt` of another store."""
        taken_over = trials.c.id.in_(select(reused.c.trial).where(reused.c.run == run))
        query = (
            select(trials, footprints.c.content)
            .join(footprints, footprints.c.digest == trials.c.footprint)
            .where(or_(trials.c.run == run, taken_over), sound())
            .order_by(trials.c.id)
        )
        with self._explained("read"):
            yield from self._connection.execute(query.execution_options(yield_per=200)).mappings()

    def adopt(self, run: str, rows: Iterable[Mapping[Any, Any]]) -> None:
        """Take rows of another store in, as taken over by `run`. One that is here already is not repeated."""
        with self._writing() as connection:
            for row in rows:
                connection.execute(_LINK, {"run": run, "trial": self._adopted(connection, row)})

    def taken_over(self, key: str, run: str) -> list[StoredTrial]:
        """Return the trials with this key that `run` took over, the latest first; those that are no evidence last."""
        final = trials.c.ending.in_([ending.value for ending in Ending if ending.is_final])
        query = (
            select(trials)
            .join(reused, reused.c.trial == trials.c.id)
            .where(reused.c.run == run, trials.c.key == key, sound())
            .order_by(final.desc(), trials.c.id.desc())
        )
        with self._explained("read"):
            return [self._trial(row) for row in self._connection.execute(query).mappings()]

    def save(
        self,
        run: str,
        finished: Sequence[StoredTrial],
        reused_ids: Sequence[int] = (),
        seconds: float | None = None,
        judges_usd: float = 0.0,
    ) -> None:
        """Keep trials that `run` has executed, and the rows it took over, in one durable transaction.

        `seconds` is how long the run has been at work, and `judges_usd` what its model judges have cost so far.
        """
        if not (finished or reused_ids):
            return
        with self._writing() as connection:
            if finished:
                self._keep_footprints(connection, [trial.execution.footprint for trial in finished])
                connection.execute(_INSERT, [trial_row(trial, run) for trial in finished])
            if reused_ids:
                connection.execute(_LINK, [{"run": run, "trial": row} for row in reused_ids])
            if seconds is not None:
                connection.execute(_SECONDS, {"run_": run, "seconds": seconds})
            if judges_usd:
                connection.execute(_JUDGED, {"run": run, "usd": judges_usd})

    def forget(self, run: str) -> None:
        """Hide the run's trials that never began from `find`; reports still see them.

        Those that it took over stay where others that it took over ran: they are what the agent does now and then.
        """
        taken_over = trials.c.id.in_(select(reused.c.trial).where(reused.c.run == run))
        unbegun, _ = self._by_beginning(trials.c.run == run)
        earlier, ran = self._by_beginning(taken_over)
        rows = [{"row": row} for row in (*unbegun, *(() if ran else earlier))]
        with self._writing() as connection:
            if rows:
                connection.execute(update(trials).where(trials.c.id == bindparam("row")).values(key=""), rows)

    def _by_beginning(self, which: ColumnElement[bool]) -> tuple[list[int], bool]:
        """Return the trials that raised before they did anything, and whether there are others that are evidence."""
        ended = trials.c.ending.in_(_FINAL)
        raised = trials.c.ending == Ending.RAISED.value
        with self._explained("read"):
            others = self._connection.execute(
                select(func.count()).select_from(trials).where(which, ended, ~raised)
            ).scalar_one()
            rows = self._connection.execute(select(trials).where(which, raised)).mappings().all()
            found = [self._trial(row) for row in rows]
        unbegun = [trial.id for trial in found if trial.execution.never_began]
        return unbegun, others > 0 or len(unbegun) < len(found)

    def spent(self, run: str) -> Spent:
        """Return what a run has executed so far, trials without evidence included."""
        return self._spent(trials.c.run == run, [run])

    def spent_by(self, executed_by: Sequence[str], taken_over_by: str) -> Spent:
        """Return what some runs have executed of the trials that another one took over, each trial once."""
        taken_over = trials.c.id.in_(select(reused.c.trial).where(reused.c.run == taken_over_by))
        return self._spent(and_(trials.c.run.in_(executed_by), taken_over), executed_by)

    def _spent(self, which: ColumnElement[bool], at_work: Sequence[str]) -> Spent:
        cut = func.instr(trials.c.trace, cast(b'"texts_cut":', LargeBinary)) > 0
        sizes = select(func.coalesce(func.sum(func.length(trials.c.trace)), 0), func.count().filter(cut))
        query = select(
            func.count(),
            func.count().filter(and_(trials.c.mutant == "", trials.c.repeat % SERIES < LATER)),
            func.coalesce(func.sum(trials.c.tokens), 0),
            func.coalesce(func.sum(trials.c.usd), 0.0),
            func.count() - func.count(trials.c.usd),
            func.count().filter(trials.c.abandoned),
        ).where(which)
        seconds_of = select(func.sum(runs.c.seconds)).where(runs.c.id.in_(at_work))
        judges_of = select(func.sum(judged.c.usd)).where(judged.c.run.in_(at_work))
        with self._explained("read"):
            counted = self._connection.execute(query).one()
            seconds = self._connection.execute(seconds_of).scalar()
            judges = self._connection.execute(judges_of).scalar()
            kept = self._connection.execute(sizes.where(which)).one()
            return Spent._make([*counted, seconds or 0.0, judges or 0.0, *kept])

    def waits(self) -> dict[str, list[float]]:
        """Return how long the latest trials waited for model services, by scenario, in seconds."""
        with self._explained("read"):
            return waits_by_scenario(self._connection)

    def mean_cost(self) -> float | None:
        """US dollars of a trial of the original, on average over all that are stored with a price; None if none is."""
        query = select(func.avg(trials.c.usd)).where(trials.c.mutant == "")
        with self._explained("read"):
            found = self._connection.execute(query).scalar()
            return None if found is None else float(found)

    def counts(self, run: str) -> tuple[int, int]:
        """Return how many trials a run has executed, and how many it took over from other runs."""
        with self._explained("read"):
            executed, taken_over = (
                self._connection.execute(
                    select(func.count()).select_from(table).where(table.c.run == run)
                ).scalar_one()
                for table in (trials, reused)
            )
        return executed, taken_over

    def add_run(self, stored: StoredRun) -> None:
        """Register a run before its first trial."""
        with self._writing() as connection:
            connection.execute(insert(runs), stored._asdict())

    def adopt_run(self, stored: StoredRun) -> None:
        """Note a run of another store, unless it is noted here."""
        with self._writing() as connection:
            connection.execute(_ADOPT_RUN, stored._asdict())

    def set_plan(self, run: str, plan: str) -> None:
        """Replace the plan of a run."""
        with self._writing() as connection:
            connection.execute(update(runs).where(runs.c.id == run).values(plan=plan))

    def set_status(self, run: str, status: str, seconds: float | None = None) -> None:
        """Note how far a run came, and for how many seconds it has been at work."""
        values: dict[str, Any] = {"status": status} | ({} if seconds is None else {"seconds": seconds})
        with self._writing() as connection:
            connection.execute(update(runs).where(runs.c.id == run).values(values))

    def runs(self) -> list[StoredRun]:
        """Return all runs, the latest first."""
        query = select(runs).order_by(runs.c.started.desc(), runs.c.id.desc())
        with self._explained("read"):
            return [StoredRun(*row) for row in self._connection.execute(query)]

    def unused(self, keep: Sequence[str]) -> int:
        """Return how many trials `clean` would remove: those that no run in `keep` executed or took over."""
        query = select(func.count()).select_from(trials).where(trials.c.id.not_in(_used(keep)))
        with self._explained("read"):
            return int(self._connection.execute(query).scalar_one())

    def clean(self, keep: Sequence[str]) -> int:
        """Forget every run not in `keep`, and the trials that no kept run used. Returns trials removed."""
        with self._writing() as connection:
            connection.execute(delete(reused).where(reused.c.run.not_in(keep)))
            connection.execute(delete(judged).where(judged.c.run.not_in(keep)))
            connection.execute(delete(runs).where(runs.c.id.not_in(keep)))
            used = _used(keep)
            connection.execute(delete(quarantined).where(quarantined.c.trial.not_in(used)))
            removed = connection.execute(delete(trials).where(trials.c.id.not_in(used))).rowcount
            shown = select(trials.c.footprint)
            connection.execute(delete(footprints).where(footprints.c.digest.not_in(shown)))
        self._stored_footprints.clear()
        with self._explained("compact"):
            self._connection.execute(text("VACUUM"))
            self._connection.commit()
        return removed

    def _adopted(self, connection: Connection, row: Mapping[Any, Any]) -> int:
        values = {column.name: row[column.name] for column in trials.c if column.name != "id"}
        same = [trials.c[name] == row[name] for name in ("key", "run", "finished")]
        found = connection.execute(select(trials.c.id).where(*same)).scalar()
        if found is not None:
            return int(found)
        connection.execute(_KEEP_FOOTPRINT, {"digest": row["footprint"], "content": row["content"]})
        inserted = connection.execute(_INSERT, values).inserted_primary_key
        assert inserted is not None
        return int(inserted[0])

    def _trial(self, row: Mapping[Any, Any]) -> StoredTrial:
        return trial_of(row, self._footprint(row["footprint"]))

    def _driver(self) -> sqlite3.Connection:
        driver = self._connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        return driver

    def _footprint(self, digest: str) -> Footprint:
        """Return a footprint, read once: most trials share theirs with others."""
        if digest not in self._footprints:
            if len(self._footprints) >= KEPT_FOOTPRINTS:
                self._footprints.clear()
            content = self._connection.execute(_FOOTPRINT, {"digest_": digest}).scalar_one()
            self._footprints[digest] = Footprint.model_validate_json(content)
        return self._footprints[digest]

    def _keep_footprints(self, connection: Connection, seen: Iterable[Footprint]) -> None:
        new = {print_.digest: print_ for print_ in seen if print_.digest not in self._stored_footprints}
        if new:
            connection.execute(_KEEP_FOOTPRINT, [footprint_row(footprint) for footprint in new.values()])
            self._stored_footprints.update(new)

    def _prepare(self) -> None:
        """Make the tables of a new store, or bring those of an earlier format to today's: all or none."""
        if self._version() == VERSION:
            self._connection.commit()
            return
        self._connection.execute(text("BEGIN IMMEDIATE"))  # another process may be making them right now
        version = self._version()
        if version:
            migrate(self._connection, version)
        else:
            self._refuse_foreign_tables()
            metadata.create_all(self._connection)
        self._connection.execute(text(f"PRAGMA user_version = {VERSION}"))
        self._connection.commit()

    def _version(self) -> int:
        found = int(self._connection.execute(text("PRAGMA user_version")).scalar_one())
        if found not in range(VERSION + 1):
            raise StoreError(
                f"{self._path} was written by another version of agentmut (format {found}, this one reads up to "
                f"{VERSION}). Use that version, or move the file away and run again without its trials."
            )
        return found

    def _refuse_foreign_tables(self) -> None:
        if self._connection.execute(text("SELECT count(*) FROM sqlite_master")).scalar_one():
            raise StoreError(
                f"{self._path} is a database of something else: it is not a store of agentmut. Move it away and "
                "run again."
            )

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._explained("write to"):
            try:
                yield self._connection
                self._connection.commit()
            except BaseException:
                self._stored_footprints.clear()  # those of this transaction are not stored after all
                self._connection.rollback()
                raise

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, OSError, ValueError) as error:
            raise StoreError(explanation(self._path, doing, error)) from error


def _used(keep: Sequence[str]) -> CompoundSelect[Any]:
    """Select the trials that these runs executed or took over."""
    taken_over = select(reused.c.trial).where(reused.c.run.in_(keep))
    return union(taken_over, select(trials.c.id).where(trials.c.run.in_(keep)))


_FINAL: list[Any] = [literal_column(repr(ending.value)) for ending in Ending if ending.is_final]
_FIND = str(
    select(trials)
    .where(trials.c.key == bindparam("key_"), trials.c.ending.in_(_FINAL), sound())
    .order_by((trials.c.run == bindparam("run_")).desc(), trials.c.id.desc())
    .compile(dialect=dialect(paramstyle="named"))
)
"""Compiled once and run on the driver's connection: it runs before every trial, and looking takes a few
microseconds, everything around it ten times as long."""
_FOOTPRINT = select(footprints.c.content).where(footprints.c.digest == bindparam("digest_"))
_INSERT = insert(trials)
_KEEP_FOOTPRINT = upsert(footprints).on_conflict_do_nothing()
_ADOPT_RUN = upsert(runs).on_conflict_do_nothing()
_LINK = upsert(reused).on_conflict_do_nothing()
_INSERT_JUDGED = upsert(judged)
_JUDGED = _INSERT_JUDGED.on_conflict_do_update(
    index_elements=["run"], set_={"usd": _INSERT_JUDGED.excluded.usd}
)
_SECONDS = update(runs).where(runs.c.id == bindparam("run_")).values(seconds=bindparam("seconds"))
