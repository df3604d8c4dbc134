"""A store is copied to another kind of store and back without loss, or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentmut._base import StoreError, UsageError
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.result import HookUse
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.store import copying
from agentmut.store.address import Where
from agentmut.store.copying import copy_store
from agentmut.store.fixed_evaluators import FixedSet
from agentmut.store.read_only import listed_runs
from agentmut.store.rows import SERIES, StoredRun, StoredTrial
from agentmut.store.store import Store
from tests.store.test_fixed_sets import FORMAT_1


def fill(where: Where) -> None:
    """Rows in every table, with what databases like to change: odd texts, long numbers, fractions, no value at all."""
    use = HookUse(model="m", requests=1, input_tokens=2**40, output_tokens=0, usd=1 / 3)
    with closing(Store(where)) as store:
        for name in ("a", "b"):
            store.add_run(StoredRun(name, 1 / 3, '{"kind": "run"}', "planned"))
        for number in range(1200):
            step = Step(action=Action.REASON, model="m", usd=None if number % 3 else number / 7)
            trace = AgentTrace(steps=(step,), outputs=(f"half a \ud800 pair \x00 {number}",))
            shape = Footprint(requests=(RequestShape(text=f"prompt {number % 5}"),))
            done = Execution(
                ending=Ending.ANSWERED, reason="it's \\x00 'ä' \x00", trace=trace, footprint=shape
            )
            trial = StoredTrial(f"k{number}", "", "ÄB" if number % 2 else "ab", 7 * SERIES, done, number / 11)
            store.save("a", [trial], judges_usd=0.1, hook_uses=[use])
        found = store.find("k7")
        assert found is not None
        store.save("b", [], [found.id])
        store.quarantine.add("a", ["k8"], "an outage")
        store.fixed.note(FixedSet("s", "e", ("p",), "name", 3 * SERIES, 0))
        store.fixed.propose("s", ["e"], "a")
        store.reports.keep("a", "result.json", Footprint(requests=(RequestShape(text="ä"),)))


def test_a_store_goes_to_another_and_back_with_the_digest_of_every_table(
    tmp_path: Path, where: Where
) -> None:
    fill(tmp_path / "store.db")
    there = copy_store(tmp_path / "store.db", where)
    back = copy_store(where, tmp_path / "back.db")
    assert there == back
    assert {table.name: table.rows for table in there} == {
        "footprints": 5, "runs": 2, "trials": 1200, "judged": 1, "reused": 1, "quarantined": 1, "fixed": 1,
        "proposed": 1, "imported": 0, "reports": 1, "hooks": 1,
    }  # fmt: skip
    with closing(Store(where)) as store:  # numbers go on where they were
        store.save("b", [trial_of(store)])
        found = store.find("new", "b")
        assert found is not None and found.id == 1201
        store.fixed.note(FixedSet("s", "e2", ("p",), "name", 0, 0))
        assert [one.id for one in store.fixed.sets_on("s")] == [1, 2]


def trial_of(store: Store) -> StoredTrial:
    found = store.find("k1")
    assert found is not None
    return found._replace(key="new")


def test_a_store_of_0_1_0_is_brought_to_todays_tables_and_copied(tmp_path: Path, where: Where) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as old:
        old.executescript(FORMAT_1)
    copied = {table.name: table.rows for table in copy_store(tmp_path / "old.db", where)}
    assert (copied["trials"], copied["runs"], copied["imported"]) == (1, 1, 0)
    with closing(Store(where)) as store:
        assert store.find("k") is not None


def test_the_runs_of_a_store_of_0_1_0_are_read_and_the_file_stays_as_it_is(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as old:
        old.executescript(FORMAT_1)
    before = (tmp_path / "old.db").read_bytes()
    (run,) = listed_runs(tmp_path / "old.db")[""]
    assert run.trials == 1
    assert (tmp_path / "old.db").read_bytes() == before
    assert listed_runs(tmp_path / "none.db") == {} and not (tmp_path / "none.db").exists()
    (tmp_path / "odd.db").write_text("no database at all, whatever its name says")
    with pytest.raises(StoreError, match=r"odd\.db"):
        listed_runs(tmp_path / "odd.db")


def test_a_store_that_holds_something_takes_no_copy(tmp_path: Path, where: Where) -> None:
    for place in (tmp_path / "store.db", where):
        with closing(Store(place)) as store:
            store.add_run(StoredRun("a", 1.0, "{}", "planned"))
    with pytest.raises(UsageError, match=r"not empty: its table runs has rows"):
        copy_store(tmp_path / "store.db", where)


def test_a_copy_that_would_differ_is_taken_back_whole(
    tmp_path: Path, where: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: the second time a row is read it is another one."""
    with closing(Store(tmp_path / "store.db")) as store:
        store.add_run(StoredRun("a", 1.0, "{}", "planned"))
    honest, read = copying._add, []

    def otherwise(digest: Any, table: Any, row: dict[str, Any]) -> None:
        read.append(row)
        honest(digest, table, {**row, "status": len(read)})

    monkeypatch.setattr(copying, "_add", otherwise)
    with pytest.raises(StoreError, match="the copy of runs differs from the table: nothing was copied"):
        copy_store(tmp_path / "store.db", where)
    with closing(Store(where)) as store:
        assert store.runs() == []
