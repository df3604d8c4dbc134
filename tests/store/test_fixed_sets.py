"""The store knows which trials are older than a set of evaluators, and stores of 0.1.0 open."""

import sqlite3
from contextlib import closing
from pathlib import Path

from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import AgentTrace
from agentmut.store.address import Where
from agentmut.store.fixed_evaluators import FixedSet
from agentmut.store.migrating import VERSION
from agentmut.store.rows import LATER, SERIES, StoredRun, StoredTrial, is_later
from agentmut.store.store import Store

FORMAT_1 = """
create table footprints (digest varchar(64) not null primary key, content blob not null);
create table trials (
    id integer not null primary key, "key" varchar(64) not null, run varchar(64) not null,
    mutant varchar(64) not null, scenario text not null, repeat integer not null, ending varchar(32) not null,
    reason text not null, trace blob not null, footprint varchar(64) not null references footprints (digest),
    attempts integer not null, abandoned boolean not null, tokens integer not null, usd float,
    finished float not null
);
create index trials_by_key on trials ("key");
create index trials_by_run on trials (run);
create table runs (
    id varchar(64) not null primary key, started float not null, plan text not null, status varchar(32) not null,
    seconds float default '0' not null
);
create table reused (run varchar(64) not null, trial integer not null, primary key (run, trial));
insert into footprints values ('f', '{}');
insert into runs values ('r1', 1.0, '{}', 'finished', 2.0);
insert into trials values (1, 'k', 'r1', '', 'alpha', 0, 'answered', '', '{}', 'f', 1, 0, 0, null, 1.0);
pragma user_version = 1;
"""
"""A store as version 0.1.0 wrote it first, before it kept what judges cost."""


def a_set(evaluators: str, *, originals: int = 0, mutants: int = 0, scenario: str = "s") -> FixedSet:
    return FixedSet(scenario, evaluators, (evaluators,), "alpha", originals, mutants)


def trial(mutant: str = "", repeat: int = 0, scenario: str = "alpha") -> StoredTrial:
    done = Execution(ending=Ending.ANSWERED, trace=AgentTrace(outputs=("yes",)))
    return StoredTrial(f"{mutant}{repeat}", mutant, scenario, repeat, done, 1.0)


def test_a_store_of_the_first_format_opens_with_its_trials_and_is_of_todays_format_then(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(FORMAT_1)
    for _ in range(2):
        with closing(Store(path)) as store:
            assert [(t.scenario, t.repeat) for t in store.trials_of("r1", "")] == [("alpha", 0)]
            assert store.fixed.has_trials(["alpha"])
            assert store.fixed.sets_on("s") == ()
            assert store.spent("r1").judges_usd == 0.0
    with closing(sqlite3.connect(path)) as new:
        assert new.execute("pragma user_version").fetchone() == (VERSION,)


def test_a_migrated_store_has_the_tables_of_a_new_one(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as old:
        old.executescript(FORMAT_1)
    found = []
    for name in ("old.db", "new.db"):
        Store(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as store:
            tables = [row[0] for row in store.execute("select name from sqlite_master where type = 'table'")]
            found.append({table: store.execute(f"pragma table_info({table})").fetchall() for table in tables})
    assert {t: {c[1] for c in columns} for t, columns in found[0].items()} == {
        t: {c[1] for c in columns} for t, columns in found[1].items()
    }


def test_a_set_keeps_what_was_noted_first_and_sets_are_in_the_order_of_their_sight(where: Where) -> None:
    with closing(Store(where)) as store:
        store.fixed.note(a_set("b", originals=7))
        store.fixed.note(a_set("a"))
        store.fixed.note(a_set("b", originals=9))
        store.fixed.note(a_set("c", scenario="other"))
        assert [(one.evaluators, one.originals, one.id) for one in store.fixed.sets_on("s")] == [
            ("b", 7, 1),
            ("a", 0, 2),
        ]


def test_another_store_is_taken_in_with_the_younger_repeats_of_each_set(where: Where, tmp_path: Path) -> None:
    with closing(Store(where)) as ours, closing(Store(tmp_path / "b.db")) as theirs:
        ours.fixed.note(a_set("both", originals=5, mutants=0))
        theirs.fixed.note(a_set("both", originals=3, mutants=3))
        theirs.fixed.note(a_set("new", originals=1))
        theirs.fixed.propose("s", ["p"], "r")
        ours.fixed.adopt(theirs.fixed)
        ours.fixed.adopt(theirs.fixed)
        assert [one[1:2] + one[4:6] for one in ours.fixed.sets_on("s")] == [("both", 5, 3), ("new", 1, 0)]
        assert ours.fixed.proposals("s") == {"p"}
        assert ours.fixed.proposals("other") == frozenset()


def test_the_oldest_run_of_a_series_is_told_by_the_order_of_the_store_and_not_by_its_clock(
    where: Where,
) -> None:
    with closing(Store(where)) as store:
        for run, started in (("first", 9.0), ("second", 1.0)):  # the clock has jumped backwards between them
            store.add_run(StoredRun(run, started, "{}", "planned"))
            store.save(run, [trial()._replace(finished=started), trial("m")])
        store.save("second", [trial(repeat=SERIES), trial("m", SERIES)])
        assert store.fixed.oldest_run("alpha", 0, mutants=False) == "first"
        assert store.fixed.oldest_run("alpha", SERIES, mutants=False) == "second"
        assert store.fixed.oldest_run("alpha", SERIES, mutants=True) == "second"
        assert store.fixed.oldest_run("alpha", 2 * SERIES, mutants=False) == ""
        assert store.fixed.has_trials(["x", "alpha"])
        assert not store.fixed.has_trials(["x"])


def test_what_is_known_of_evaluators_outlives_their_trials(where: Where) -> None:
    with closing(Store(where)) as store:
        store.add_run(StoredRun("run", 1.0, "{}", "planned"))
        store.save("run", [trial()])
        store.fixed.note(a_set("a", originals=4))
        assert store.clean([]) == 1
        assert store.fixed.sets_on("s")[0].originals == 4


def test_trials_beside_mutants_are_told_in_every_series() -> None:
    for series in (0, SERIES, 77 * SERIES):
        assert [is_later(series + repeat) for repeat in (0, LATER - 1, LATER, LATER + 1001 * 1_000_000)] == [
            False, False, True, True,
        ]  # fmt: skip
