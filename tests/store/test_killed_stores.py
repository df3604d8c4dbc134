"""What the command that kills verbs looks for in a store is found where it is there."""

import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks.killed_stores import SqliteStore


def stored(folder: Path, *rows: tuple[int, str, str]) -> None:
    (folder / ".agentmut").mkdir(parents=True)
    with closing(sqlite3.connect(folder / ".agentmut" / "store.db")) as store, store:
        store.execute("create table trials (id integer primary key, key text, run text)")
        store.executemany("insert into trials values (?, ?, ?)", rows)


def test_a_trial_that_a_run_has_twice_is_found_and_one_of_two_runs_is_sound(tmp_path: Path) -> None:
    stored(tmp_path / "sound", (1, "k", "r"), (2, "k", "other"), (3, "", "r"), (4, "", "r"))
    stored(tmp_path / "twice", (1, "k", "r"), (2, "k", "r"))
    assert not list(SqliteStore().unsound(tmp_path / "sound"))
    assert list(SqliteStore().unsound(tmp_path / "twice")) == ["1 trials are stored twice"]


def test_a_copy_has_the_same_trials_and_a_project_without_a_store_has_none(tmp_path: Path) -> None:
    stored(tmp_path / "one", (1, "k", "r"), (2, "l", "r"))
    SqliteStore().copy(tmp_path / "one", tmp_path / "copy")
    assert SqliteStore().trials(tmp_path / "copy") == {(1, "k", "r"), (2, "l", "r")}
    assert not SqliteStore().trials(tmp_path / "nothing")


def test_damaged_pages_are_found(tmp_path: Path) -> None:
    stored(tmp_path, *((number, f"k{number}", "r" * 50) for number in range(1, 500)))
    path = tmp_path / ".agentmut" / "store.db"
    data = bytearray(path.read_bytes())
    data[4096 + 8 : 4096 + 40] = b"\xff" * 32  # where the second page says what it holds
    path.write_bytes(data)
    assert "integrity" in next(SqliteStore().unsound(tmp_path))
