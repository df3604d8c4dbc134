"""The store: finished trials and runs in SQLite, through SQLAlchemy Core.

WAL with synchronous NORMAL: what `save` has returned from survives SIGKILL (not a power cut).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection, create_engine, delete, event, func, insert, select, text, update
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.exc import SQLAlchemyError

from agentmut.errors import StoreError
from agentmut.execution import Ending, Execution
from agentmut.store.schema import VERSION, footprints, metadata, run_trials, runs, trials
from agentmut.trace import AgentTrace
from agentmut.wire.footprint import Footprint


class StoredTrial(NamedTuple):
    """A finished trial with its identity."""

    key: str
    mutant: str
    """Mutant id; empty for the original."""
    scenario: str
    repeat: int
    execution: Execution
    finished: float
    """Seconds since the epoch."""


class StoredRun(NamedTuple):
    """A campaign: its plan as JSON, and how far it came."""

    id: str
    started: float
    plan: str
    status: str


class Store:
    """One `store.db`. Used by one thread at a time; raises `StoreError` for whatever the disk does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept_footprints: set[str] = set()
        with self._explained("open"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._engine = create_engine(f"sqlite:///{path}")
            event.listen(self._engine, "connect", _make_durable)
            self._connection = self._engine.connect()
            self._check_version()
            metadata.create_all(self._connection)
            self._connection.commit()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()
        self._engine.dispose()

    def find(self, key: str) -> StoredTrial | None:
        """The finished trial with this key."""
        query = select(trials, footprints.c.content).join(footprints).where(trials.c.key == key)
        with self._explained("read"):
            row = self._connection.execute(query).mappings().first()
            return _trial(row) if row else None

    def trials_of(self, run: str, mutant: str) -> list[StoredTrial]:
        """The trials of one mutant (or, with an empty id, of the original) that a run used."""
        query = (
            select(trials, footprints.c.content)
            .join(footprints)
            .join(run_trials, run_trials.c.key == trials.c.key)
            .where(run_trials.c.run == run, trials.c.mutant == mutant)
            .order_by(trials.c.scenario, trials.c.repeat)
        )
        with self._explained("read"):
            return [_trial(row) for row in self._connection.execute(query).mappings()]

    def save(self, run: str, finished: Sequence[StoredTrial], reused: Sequence[str] = ()) -> None:
        """Keep finished trials and note that `run` used them, in one durable transaction."""
        with self._writing() as connection:
            if finished:
                self._keep_footprints(connection, finished)
                connection.execute(_REPLACE_TRIAL, [_row(trial) for trial in finished])
            links = [{"run": run, "key": trial.key, "reused": False} for trial in finished]
            links += [{"run": run, "key": key, "reused": True} for key in reused]
            if links:
                connection.execute(_LINK, links)

    def executed_keys(self, run: str) -> frozenset[str]:
        """Keys of the trials that a run has executed itself."""
        query = select(run_trials.c.key).where(run_trials.c.run == run, run_trials.c.reused.is_(False))
        with self._explained("read"):
            return frozenset(self._connection.execute(query).scalars())

    def counts(self, run: str) -> tuple[int, int]:
        """How many trials a run has executed, and how many it took over from earlier runs."""
        query = (
            select(run_trials.c.reused, func.count())
            .where(run_trials.c.run == run)
            .group_by(run_trials.c.reused)
        )
        with self._explained("read"):
            found = {bool(reused): int(n) for reused, n in self._connection.execute(query)}
        return found.get(False, 0), found.get(True, 0)

    def add_run(self, stored: StoredRun) -> None:
        """Register a run before its first trial."""
        with self._writing() as connection:
            connection.execute(insert(runs), stored._asdict())

    def set_status(self, run: str, status: str) -> None:
        """Note how far a run came."""
        with self._writing() as connection:
            connection.execute(update(runs).where(runs.c.id == run).values(status=status))

    def runs(self) -> list[StoredRun]:
        """All runs, the latest first."""
        with self._explained("read"):
            rows = self._connection.execute(select(runs).order_by(runs.c.started.desc(), runs.c.id.desc()))
            return [StoredRun(*row) for row in rows]

    def clean(self, keep: Sequence[str]) -> int:
        """Forget every run not in `keep`, and the trials that no kept run used. Returns trials removed."""
        with self._writing() as connection:
            connection.execute(delete(run_trials).where(run_trials.c.run.not_in(keep)))
            connection.execute(delete(runs).where(runs.c.id.not_in(keep)))
            used = select(run_trials.c.key)
            removed = connection.execute(delete(trials).where(trials.c.key.not_in(used))).rowcount
            shown = select(trials.c.footprint)
            connection.execute(delete(footprints).where(footprints.c.digest.not_in(shown)))
        self._kept_footprints.clear()
        with self._explained("compact"):
            self._connection.execute(text("VACUUM"))
            self._connection.commit()
        return removed

    def _keep_footprints(self, connection: Connection, finished: Sequence[StoredTrial]) -> None:
        new = {trial.execution.footprint.digest: trial.execution.footprint for trial in finished}
        rows = [
            {"digest": digest, "content": footprint.model_dump_json().encode()}
            for digest, footprint in new.items()
            if digest not in self._kept_footprints
        ]
        if rows:
            connection.execute(_KEEP_FOOTPRINT, rows)
        self._kept_footprints.update(new)

    def _check_version(self) -> None:
        found = self._connection.execute(text("PRAGMA user_version")).scalar_one()
        if found not in (0, VERSION):
            raise StoreError(
                f"{self._path} was written by another version of agentmut (format {found}, this one reads "
                f"{VERSION}). Move it away and run again; its trials cannot be reused."
            )
        self._connection.execute(text(f"PRAGMA user_version = {VERSION}"))

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._explained("write to"):
            try:
                yield self._connection
                self._connection.commit()
            except BaseException:
                self._connection.rollback()
                raise

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError, ValidationError, ValueError) as error:
            raise StoreError(_explanation(self._path, doing, error)) from error


def _make_durable(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA busy_timeout = 5000")
    cursor.close()


def _explanation(path: Path, doing: str, error: Exception) -> str:
    cause = str(getattr(error, "orig", None) or error).splitlines()[0]
    if "not a database" in cause or "malformed" in cause or isinstance(error, ValidationError):
        remedy = "The file is damaged. Move it away and run again: finished trials in it are lost."
    elif "locked" in cause:
        remedy = "Another agentmut run uses it: wait for that one, or stop it."
    elif "full" in cause:
        remedy = "Free some space, then `agentmut resume`: what was finished before is kept."
    else:
        remedy = "Check that the folder exists, is writable and has space; then run again."
    return f"cannot {doing} the store {path}: {cause}. {remedy}"


_insert_trial = upsert(trials)
_REPLACE_TRIAL = _insert_trial.on_conflict_do_update(
    index_elements=["key"],
    set_={column.name: _insert_trial.excluded[column.name] for column in trials.c if column.name != "key"},
)
_KEEP_FOOTPRINT = upsert(footprints).on_conflict_do_nothing()
_LINK = upsert(run_trials).on_conflict_do_nothing()


def _row(trial: StoredTrial) -> dict[str, Any]:
    execution = trial.execution
    return {
        "key": trial.key,
        "mutant": trial.mutant,
        "scenario": trial.scenario,
        "repeat": trial.repeat,
        "ending": execution.ending.value,
        "reason": execution.reason,
        "trace": execution.trace.model_dump_json(exclude_defaults=True).encode(),
        "footprint": execution.footprint.digest,
        "attempts": execution.attempts,
        "abandoned": execution.abandoned,
        "finished": trial.finished,
    }


def _trial(row: Any) -> StoredTrial:
    execution = Execution(
        ending=Ending(row["ending"]),
        reason=row["reason"],
        trace=AgentTrace.model_validate_json(row["trace"]),
        footprint=Footprint.model_validate_json(row["content"]),
        attempts=row["attempts"],
        abandoned=row["abandoned"],
    )
    return StoredTrial(row["key"], row["mutant"], row["scenario"], row["repeat"], execution, row["finished"])
