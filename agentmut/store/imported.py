"""Runs that other tools recorded: kept beside agentmut's own trials, each once, and found by what was recorded."""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, delete, func, or_, select, update

from agentmut._base import storable_json
from agentmut.nouns import ImportedOutcome, ImportedTrial
from agentmut.store.connections import Connections
from agentmut.store.rows import plain_text
from agentmut.store.schema import imported

Item = TypeVar("Item")
_AT_ONCE = 100
"""Rows that are read or written together: a run of a long conversation is some 100 KiB."""
_QUICK = 1
"""The level of compression: prompts and schemas shrink to a tenth at any level."""


class Import(NamedTuple):
    """An imported run, and its place in the store."""

    number: int
    trial: ImportedTrial
    imported: float
    """Seconds since the epoch."""


class ImportQuery(NamedTuple):
    """Which imported runs are asked for; what is left empty asks nothing."""

    scenarios: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    """Only runs of these versions of the agent; the beginning of a version is enough."""
    outcomes: tuple[str, ...] = ()
    since: float | None = None
    """Seconds since the epoch; a run without a known start is not found."""
    until: float | None = None
    sample: int | None = None
    """At most so many, drawn with `seed`."""
    seed: int = 0


EVERY = ImportQuery()


class ImportTotals(NamedTuple):
    """How much is kept."""

    trials: int
    bytes: int
    """The size of the runs as they are kept, compressed."""
    first: float | None
    """Start of the first run, in seconds since the epoch; None where no run has one."""
    last: float | None
    versions: tuple[str, ...]


class Imports:
    """The imported runs of one store."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(
        self, found: Sequence[tuple[str, ImportedTrial]], now: float, earlier: Mapping[str, str] | None = None
    ) -> int:
        """Keep runs, each with the digest that identifies it; return how many are new.

        A run that is here already takes the scenario and the outcome that it is given now. `earlier` has digests by
        which earlier versions knew runs, each with the digest of today: such a run is not kept twice. A page of runs
        is a transaction, so other commands that use the store wait for moments. An import that is ended in between
        has kept its first pages, and the same import again brings the rest.
        """
        for some in _groups(list((earlier or {}).items())):
            self._connections.write(partial(_rename, digests=dict(some)))
        return sum(
            self._added([_row(digest, trial, now) for digest, trial in page]) for page in _groups(found)
        )

    def _added(self, rows: Sequence[dict[str, Any]]) -> int:
        """Keep a page of runs; return how many are new, whatever another import keeps at the same moment."""
        insert = self._connections.upsert(imported)
        later = {name: insert.excluded[name] for name in ("scenario", "version", "outcome", "content")}
        add = insert.on_conflict_do_nothing().returning(imported.c.digest)
        change = insert.on_conflict_do_update(index_elements=["digest"], set_=later)

        def added(connection: Connection) -> int:
            new = set(connection.execute(add, rows).scalars())
            if known := [row for row in rows if row["digest"] not in new]:
                connection.execute(change, known)
            return len(new)

        return self._connections.write(added)

    def found(self, query: ImportQuery = EVERY) -> Iterator[Import]:
        """Yield the runs that are asked for, in the order of their start; those without a start come first."""
        return self.some(self.numbers(query))

    def some(self, numbers: Sequence[int]) -> Iterator[Import]:
        """Yield the runs at these places of the store in the given order, a page of them in memory.

        A run that was removed meanwhile is left out.
        """
        for page in _groups(numbers):
            query = select(imported).where(imported.c.id.in_(page))
            rows = {found.number: found for found in self._connections.every(query, _import)}
            yield from (rows[number] for number in page if number in rows)

    def numbers(self, asked: ImportQuery = EVERY) -> list[int]:
        """Return the places in the store of the runs that are asked for, in the order of `found`."""
        order = imported.c.started.nulls_first(), imported.c.id
        query = _where(select(imported.c.id, imported.c.digest), asked).order_by(*order)
        rows = self._connections.read(lambda connection: connection.execute(query).all())
        drawn = {row.id for row in _drawn(rows, asked)} if asked.sample is not None else None
        return [row.id for row in rows if drawn is None or row.id in drawn]

    def versions(self) -> list[tuple[int, str]]:
        """Return the place and the version of every run that is evidence, in the order of `found`."""
        evidence = imported.c.outcome != ImportedOutcome.NO_EVIDENCE.value
        order = imported.c.started.nulls_first(), imported.c.id
        query = select(imported.c.id, imported.c.version).where(evidence).order_by(*order)
        rows = self._connections.read(lambda connection: connection.execute(query).all())
        return [(row.id, row.version) for row in rows]

    def totals(self, asked: ImportQuery = EVERY) -> ImportTotals:
        """Return how much of what is asked for is kept; a sample is not drawn."""
        columns = imported.c
        query = select(
            func.count(), func.coalesce(func.sum(func.length(columns.content)), 0),
            func.min(columns.started), func.max(columns.started),
        )  # fmt: skip
        distinct = _where(select(columns.version).distinct(), asked)

        def read(connection: Connection) -> ImportTotals:
            count, size, first, last = connection.execute(_where(query, asked)).one()
            versions = connection.execute(distinct).scalars()
            return ImportTotals(count, int(size), first, last, tuple(sorted(versions)))

        return self._connections.read(read)

    def forget(self, before: float) -> int:
        """Remove the runs that started before a time, in seconds since the epoch; return how many.

        A run without a known start goes by the time of its import.
        """
        old = delete(imported).where(_start_or_import() < before)
        return self._connections.write(lambda connection: int(connection.execute(old).rowcount))

    def older(self, before: float) -> int:
        """Return how many runs `forget` would remove."""
        query = select(func.count()).select_from(imported).where(_start_or_import() < before)
        return self._connections.read(lambda connection: int(connection.execute(query).scalar_one()))


def _start_or_import() -> ColumnElement[float]:
    """Return when a run started, else when it was imported."""
    return func.coalesce(imported.c.started, imported.c.imported)


def _drawn(rows: Sequence[Any], query: ImportQuery) -> Sequence[Any]:
    """Return a random sample: the runs with the smallest hashes, so that it does not hang on the order of rows."""

    def place(row: Any) -> bytes:
        return hashlib.sha256(f"{query.seed}:{row.digest}".encode()).digest()

    return sorted(rows, key=place)[: query.sample]


def _where(query: Select[Any], asked: ImportQuery) -> Select[Any]:
    columns = imported.c
    if asked.scenarios:
        query = query.where(columns.scenario.in_(asked.scenarios))
    if asked.versions:
        begins = [columns.version.startswith(version, autoescape=True) for version in asked.versions]
        query = query.where(or_(*begins))
    if asked.outcomes:
        query = query.where(columns.outcome.in_(asked.outcomes))
    if asked.since is not None:
        query = query.where(columns.started >= asked.since)
    if asked.until is not None:
        query = query.where(columns.started < asked.until)
    return query


def _rename(connection: Connection, digests: Mapping[str, str]) -> None:
    """Give runs that are stored under old digests those of today; of two that are one run, one is kept."""
    known = (*digests, *digests.values())
    query = (
        select(imported.c.id, imported.c.digest).where(imported.c.digest.in_(known)).order_by(imported.c.id)
    )
    rows = connection.execute(query).all()
    kept = {row.digest for row in rows} & set(digests.values())
    for row in rows:
        if row.digest not in digests:
            continue
        today = digests[row.digest]
        mine = imported.c.id == row.id
        change = delete(imported) if today in kept else update(imported).values(digest=today)
        connection.execute(change.where(mine))
        kept.add(today)


def _groups(items: Sequence[Item]) -> Iterable[Sequence[Item]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))


def _row(digest: str, found: ImportedTrial, now: float) -> dict[str, Any]:
    written = storable_json(found, exclude_defaults=True).encode()
    return {
        "digest": digest,
        "scenario": plain_text(found.scenario),
        "version": plain_text(found.version),
        "outcome": found.outcome.value,
        "started": found.trial.started,
        "imported": now,
        "content": zlib.compress(written, _QUICK),
    }


def _import(row: Any) -> Import:
    """Return the run of a row. Raises `ValueError` for a damaged one."""
    try:
        written = zlib.decompress(row["content"])
    except zlib.error as error:
        raise ValueError(f"the imported run {row['id']} is damaged: {error}") from None
    return Import(row["id"], ImportedTrial.model_validate_json(written), row["imported"])


def of_imported_runs(count: int) -> str:
    """Return how a project reads its store's imported runs, as further sentences of an error; empty without such runs.

    >>> of_imported_runs(0)
    ''
    """
    if not count:
        return ""
    return (
        f" The store also holds {count} imported run{'s' * (count != 1)}: `agentmut analyze` looks at them. With "
        "`suite: {traces: {imported: true}}` in agentmut.yaml, `agentmut test` takes them as the project's trials."
    )
