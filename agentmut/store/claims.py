"""The trials that a run is executing now, so that no other run on the same store begins them.

A claim is an advisory lock of PostgreSQL, held by a connection of its own: it goes when the process goes, however that
ends. A server that goes takes all locks along, while trials that the runs have begun go on. So the claim is noted in
a row as well: a lock that is free although another run's row is there is left to that run for `GRACE` seconds.
"""

import hashlib
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Protocol

from sqlalchemy import BigInteger, Connection, bindparam, delete, func, select, text

from agentmut._base import StoreError
from agentmut.store.address import StoreUrl
from agentmut.store.connections import Connections, Database, Links
from agentmut.store.schema import claims

GRACE = 5.0
"""Seconds that a run has to come back to a server that was away, before others take its trials."""
ALIVE = 1.0
"""Seconds between two looks at the server."""
TRIES = 20
"""How often a lock that was lost is tried."""


class Claims(Protocol):
    """The trials that one run is executing."""

    @property
    def shared(self) -> bool:
        """Return whether other runs may work on the same store."""
        ...

    def take(self, key: str) -> bool:
        """Return whether the trial with this key is now this run's to execute. Raises `StoreError`."""
        ...

    def release(self, keys: Iterable[str]) -> None:
        """Let go of trials that are stored, or that will not be executed. Raises `StoreError`."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class Unshared:
    """The claims of a run that alone uses its store: every trial is its own."""

    shared = False

    def take(self, key: str) -> bool:
        """Return True."""
        return True

    def release(self, keys: Iterable[str]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class ServerClaims:
    """The claims of a run on a server. A thread looks after the connection, and takes lost locks again."""

    shared = True

    def __init__(self, database: Database, run: str, schema: str) -> None:
        self._run = run
        self._schema = schema
        self._held: dict[str, int] = {}
        self._free_since: dict[str, float] = {}
        self._guard = threading.RLock()
        self._ended = threading.Event()
        self._connections = Connections(database, self._opened)
        self._keeper = threading.Thread(target=self._keep_alive, name="agentmut-claims", daemon=True)
        self._keeper.start()

    def take(self, key: str) -> bool:
        """Return whether this run may execute the trial: no other run executes it, or has just done so."""
        number = _number(self._schema, key)
        with self._guard:
            if not self._connections.read(lambda connection: _locked(connection, number)):
                self._free_since.pop(key, None)
                return False
            seen = self._free_since.setdefault(key, time.monotonic())
            if not self._noted(key, overdue=time.monotonic() - seen >= GRACE):
                self._connections.read(lambda connection: _unlock(connection, [number]))
                return False
            del self._free_since[key]
            self._held[key] = number
            return True

    def release(self, keys: Iterable[str]) -> None:
        """Let go of trials."""
        with self._guard:
            gone = {key: number for key in keys if (number := self._held.pop(key, None)) is not None}
            if gone:
                ours = delete(claims).where(claims.c.key.in_(list(gone)), claims.c.run == self._run)
                self._connections.read(lambda connection: connection.execute(ours).rowcount)
                self._connections.read(lambda connection: _unlock(connection, gone.values()))

    def close(self) -> None:
        """Let go of everything; locks go with the connection."""
        self._ended.set()
        self._keeper.join()
        with suppress(StoreError):
            self.release(list(self._held))
        self._connections.close()

    def _noted(self, key: str, *, overdue: bool) -> bool:
        """Note that this run executes the trial, unless another run's note may still hold."""
        new = self._connections.upsert(claims)
        ours = claims.c.run == self._run
        note = new.on_conflict_do_update(
            index_elements=["key"], set_={"run": new.excluded.run}, where=None if overdue else ours
        ).returning(claims.c.key)
        row = {"key": key, "run": self._run}
        return self._connections.read(lambda connection: connection.execute(note, row).first() is not None)

    def _opened(self, links: Links) -> None:
        """Take the locks again on a new connection. Another run that tries one releases it at once."""
        for number in self._held.values():
            for _ in range(TRIES):
                if _locked(links.reading, number):
                    break
                time.sleep(0.02)

    def _keep_alive(self) -> None:
        while not self._ended.wait(ALIVE):
            with self._guard, suppress(StoreError):
                self._connections.read(lambda connection: connection.execute(text("SELECT 1")).scalar())


def claims_of(database: Database, where: Any, run: str) -> Claims:
    """Return the claims of a run on the store at `where`."""
    return ServerClaims(database, run, where.schema) if isinstance(where, StoreUrl) else Unshared()


def _number(schema: str, key: str) -> int:
    """Return the number of a lock: all projects of a database share one space of 64 bits."""
    return int.from_bytes(hashlib.sha256(f"{schema}/{key}".encode()).digest()[:8], "big", signed=True)


def _locked(connection: Connection, number: int) -> bool:
    return bool(connection.execute(_LOCK, {"number": number}).scalar_one())


def _unlock(connection: Connection, numbers: Iterable[int]) -> None:
    for number in numbers:
        connection.execute(_UNLOCK, {"number": number})


_LOCK = select(func.pg_try_advisory_lock(bindparam("number", type_=BigInteger)))
_UNLOCK = select(func.pg_advisory_unlock(bindparam("number", type_=BigInteger)))
