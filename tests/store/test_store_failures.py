"""Damaged, locked, read-only, full and foreign stores: one paragraph with a remedy, and nothing lost."""

import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from agentmut._base.errors import ExitCode, StoreError
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import AgentTrace
from agentmut.store.rows import StoredRun, StoredTrial
from agentmut.store.store import Store


def trial(key: str, answer: str = "yes") -> StoredTrial:
    return StoredTrial(
        key, "", "s", 0, Execution(ending=Ending.ANSWERED, trace=AgentTrace(outputs=(answer,))), 1.0
    )


def a_store(path: Path, trials: int = 0) -> Store:
    store = Store(path)
    store.add_run(StoredRun("run", 1.0, "{}", "planned"))
    store.save("run", [trial(f"k{i}", "x" * 2000) for i in range(trials)])
    return store


def check(raised: pytest.ExceptionInfo[StoreError], path: Path, *words: str) -> None:
    message = str(raised.value)
    assert str(path) in message
    assert "\n" not in message
    assert raised.value.exit_code is ExitCode.BROKEN
    for word in words:
        assert word in message


def test_a_file_that_is_no_database_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"hello, world! " * 500)
    with pytest.raises(StoreError) as raised:
        Store(path)
    check(raised, path, "cannot open the store", "damaged", "Name another file", "move it away")
    assert path.read_bytes().startswith(b"hello")


def test_a_store_damaged_in_the_middle_is_an_error_when_the_damage_is_met(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    a_store(path, trials=300).close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with pytest.raises(StoreError) as raised:
        store = Store(path)
        for i in range(300):
            store.find(f"k{i}")
    check(raised, path, "damaged")


def test_a_truncated_store_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    a_store(path, trials=300).close()
    with path.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(StoreError) as raised:
        store = Store(path)
        for i in range(300):
            store.find(f"k{i}")
        store.runs()
    check(raised, path, "damaged")


@pytest.mark.parametrize("damage", ["scenario = x'ff00'", "finished = 'never'"])
def test_a_value_of_another_type_is_a_row_that_cannot_be_read(tmp_path: Path, damage: str) -> None:
    """SQLite keeps any value in any column."""
    path = tmp_path / "store.db"
    a_store(path, trials=1).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE trials SET {damage}")
    connection.close()
    with pytest.raises(StoreError) as raised:
        Store(path).find("k0")
    check(raised, path, "cannot read the store", "has no scenario, or no time")


@pytest.mark.parametrize("trace", [b"not json", b'{"steps": 7}', b"\xff\xfe"])
def test_a_row_that_cannot_be_read_is_an_error_and_the_others_are_there(tmp_path: Path, trace: bytes) -> None:
    path = tmp_path / "store.db"
    store = a_store(path, trials=2)
    with sqlite3.connect(path) as connection:
        connection.execute("update trials set trace = ? where key = 'k0'", (trace,))
    with pytest.raises(StoreError) as raised:
        store.find("k0")
    check(raised, path, "a row cannot be read", "damaged")
    assert store.find("k1") is not None


def test_a_store_of_another_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    a_store(path, trials=1).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError) as raised:
        Store(path)
    check(raised, path, "another version", "format 99", "move the file away")
    with sqlite3.connect(path) as connection:
        assert connection.execute("select count(*) from trials").fetchone() == (1,)


def test_somebody_elses_database_is_not_taken_for_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table trials (name text)")
    with pytest.raises(StoreError) as raised:
        Store(path)
    check(raised, path, "not a store of agentmut")


def test_a_store_locked_by_another_process_says_so_after_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    store = a_store(path)
    store._connections.links.reading.execute(text("PRAGMA busy_timeout = 100"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StoreError) as raised:
        store.save("run", [trial("k")])
    check(raised, path, "locked", "Another agentmut run uses it")
    other.execute("rollback")
    store.save("run", [trial("k")])
    assert store.find("k") is not None


def test_a_short_lock_is_waited_for(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store.db")
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    threading.Timer(0.3, lambda: other.execute("rollback")).start()
    begun = time.monotonic()
    store.save("run", [trial("k")])
    assert time.monotonic() - begun > 0.2


def test_on_a_full_disk_what_was_finished_before_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = a_store(path, trials=5)
    pages = store._connections.links.reading.execute(text("PRAGMA page_count")).scalar_one()
    store._connections.links.reading.execute(text(f"PRAGMA max_page_count = {pages + 2}"))
    with pytest.raises(StoreError) as raised:
        store.save("run", [trial(f"late {i}", "x" * 3000) for i in range(50)])
    check(raised, path, "full", "Free some space", "agentmut resume")
    assert store.counts("run") == (5, 0)  # a batch is kept whole or not at all
    store._connections.links.reading.execute(text("PRAGMA max_page_count = 100000"))
    store.save("run", [trial("late")])
    assert store.find("late") is not None


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".agentmut").write_text("a file")
    path = tmp_path / ".agentmut" / "store.db"
    with pytest.raises(StoreError) as raised:
        Store(path)
    check(raised, path, "cannot open the store", "directory you may write to")


def test_a_directory_in_the_place_of_the_store_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.mkdir()
    with pytest.raises(StoreError) as raised:
        Store(path)
    check(raised, path, "unable to open", "may write to")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError) as raised:
            Store(tmp_path / "store.db")
    finally:
        tmp_path.chmod(0o700)
    check(raised, tmp_path / "store.db", "may write to")


def test_a_store_that_has_become_read_only_is_an_error_and_stays_readable(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = a_store(path, trials=1)
    store._connections.links.reading.execute(text("PRAGMA query_only = 1"))
    with pytest.raises(StoreError) as raised:
        store.save("run", [trial("k")])
    check(raised, path, "readonly", "may write to")
    assert store.find("k0") is not None
