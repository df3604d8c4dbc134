"""The durability of SQLite: a write-ahead log, which survives the end of the process."""

import sqlite3
import time
from typing import Any

_SWITCHES = 100
"""How often a switch to the write-ahead log is tried, 50 ms apart."""


def make_durable(connection: Any, _record: object) -> None:
    """Prepare a new connection: a write-ahead log, a wait for other writers, and 8 MB of cache."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 5000")
    _write_ahead(cursor)
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA cache_size = -8000")  # 8 MB: the index of keys is read at random
    cursor.close()


def _write_ahead(cursor: Any) -> None:
    """Use a write-ahead log. SQLite does not wait for others that switch too, so this is tried again."""
    for left in reversed(range(_SWITCHES)):
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if not left:
                raise
            time.sleep(0.05)
