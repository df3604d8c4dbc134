"""A store on a real PostgreSQL server that fails in every way a server can. `make test-postgres` runs it."""

import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text

from agentmut._base.errors import StoreError
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import AgentTrace
from agentmut.store.address import store_url
from agentmut.store.explanation import OF_SERVERS, explanation
from agentmut.store.migrating import VERSION
from agentmut.store.read_only import listed_runs
from agentmut.store.rows import SERIES, StoredRun, StoredTrial
from agentmut.store.schema import trials
from agentmut.store.store import Store
from agentmut.store.used_trials import used_by
from tests.postgres_server import PostgresServer
from tests.store.conftest import folder_of_programs

pytestmark = pytest.mark.process


def trial(key: str, text: str = "yes", repeat: int = 0) -> StoredTrial:
    done = Execution(ending=Ending.ANSWERED, reason=text, trace=AgentTrace(outputs=("yes",)))
    return StoredTrial(key, "", "s", repeat, done, 1.0)


def a_store(server: PostgresServer, project: str, user: str = "agentmut", options: str = "") -> Store:
    store = Store(store_url(server.url(user=user, options=options), project))
    store.adopt_run(StoredRun("run", 1.0, "{}", "planned"))
    return store


def kept(server: PostgresServer, project: str) -> list[str]:
    rows = server.execute(f"select key from agentmut_{project}.trials order by id")
    return [str(row[0]) for row in rows]


def test_projects_of_one_database_do_not_see_each_other(server: PostgresServer) -> None:
    with closing(a_store(server, "one")) as one, closing(a_store(server, "two")) as two:
        one.save("run", [trial("k")])
        assert one.find("k") is not None
        assert two.find("k") is None
        assert kept(server, "one") == ["k"]


def test_a_role_sees_the_projects_that_it_is_granted(server: PostgresServer) -> None:
    a_store(server, "granted").close()
    a_store(server, "others").close()
    page = (Path(__file__).parents[2] / "docs" / "shared-store.md").read_text("utf-8")
    grants = page.split("```sql\n")[1].split("```")[0].replace("agentmut_support_desk", "agentmut_granted")
    server.execute("create role member login", grants)
    with closing(a_store(server, "granted", user="member")) as store:
        store.save("run", [trial("k")])
        assert store.find("k") is not None
    with pytest.raises(StoreError, match=r"permission denied.*Grant the role"):
        a_store(server, "others", user="member")
    with pytest.raises(StoreError, match=r"permission denied.*CREATE on the database"):
        a_store(server, "unheard_of", user="member")


def test_a_role_that_may_only_read_reads(server: PostgresServer) -> None:
    with closing(a_store(server, "read_only")) as store:
        store.save("run", [trial("k")])
    server.execute(
        "create role reader login",
        "grant usage on schema agentmut_read_only to reader",
        "grant select on all tables in schema agentmut_read_only to reader",
    )
    with closing(Store(store_url(server.url(user="reader"), "read_only"))) as store:
        assert store.find("k") is not None
        with pytest.raises(StoreError, match="permission denied"):
            store.save("run", [trial("k2")])


def test_the_runs_of_all_projects_that_a_role_may_read_are_listed(server: PostgresServer) -> None:
    with closing(a_store(server, "listed")) as store:
        store.save("run", [trial("k"), trial("k2")])
    a_store(server, "unlisted").close()
    server.execute(
        "create role guest login",
        "grant usage on schema agentmut_listed to guest",
        "grant select on all tables in schema agentmut_listed to guest",
    )
    found = listed_runs(store_url(server.url(user="guest"), "nothing_here"))
    assert {name: [(run.id, run.trials) for run in runs] for name, runs in found.items()} == {
        "listed": [("run", 2)]
    }
    assert {"listed", "unlisted"} <= listed_runs(store_url(server.url(), "nothing_here")).keys()


def test_repeats_of_late_series_and_text_that_the_server_does_not_take_are_kept(
    server: PostgresServer,
) -> None:
    with closing(a_store(server, "wide")) as store:
        store.save("run", [trial("k", "a \x00 b", repeat=77 * SERIES)])
        found = store.find("k")
    assert found is not None
    assert (found.repeat, found.execution.reason) == (77 * SERIES, "a \u2400 b")


def test_names_are_ordered_by_their_bytes_on_every_server(server: PostgresServer) -> None:
    with closing(a_store(server, "ordered")) as store:
        store.save("run", [trial(name)._replace(scenario=name) for name in ("b", "B", "_", "a", "\u00e4")])
        assert [t.scenario for t in store.trials_of("run", "")] == ["B", "_", "a", "b", "\u00e4"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"database": "none"}, "does not exist.*createdb"),
        ({"options": "?sslmode=require"}, "SSL.*sslmode"),
        ({"user": "nobody_we_know"}, "does not exist"),
    ],
)
def test_a_server_that_refuses_says_why_and_what_to_do(
    server: PostgresServer, change: dict[str, str], words: str
) -> None:
    with pytest.raises(StoreError, match=words):
        Store(store_url(server.url(**change), "p"))


def test_a_schema_of_something_else_or_of_a_later_version_is_left_alone(server: PostgresServer) -> None:
    server.execute("create schema agentmut_foreign", "create table agentmut_foreign.trials (name text)")
    with pytest.raises(StoreError, match=r"holds tables of something else \(trials\)"):
        a_store(server, "foreign")
    a_store(server, "later").close()
    server.execute("update agentmut_later.alembic_version set version_num = '99'")
    with pytest.raises(StoreError, match=r"another version of agentmut .format 99"):
        a_store(server, "later")


def test_a_password_is_asked_for_and_never_printed(own: PostgresServer) -> None:
    own.execute("create role ci login password 'hunter-2-hunter'")
    own.write(
        "pg_hba.conf", "host all agentmut 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
    )
    own.execute("select pg_reload_conf()", "grant create on database postgres to ci")
    with closing(Store(store_url(own.url(user="ci:hunter-2-hunter"), "p"))) as store:
        assert "hunter" not in store.shown
    with pytest.raises(StoreError, match=r"authentication failed.*PGPASSWORD") as raised:
        Store(store_url(own.url(user="ci:hunter-3-hunter"), "p"))
    assert "hunter" not in str(raised.value)


def test_tls_is_used_and_a_certificate_of_somebody_else_is_refused(
    own: PostgresServer, tmp_path: Path
) -> None:
    for name in ("server", "other"):
        command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name}"
        files = ["-keyout", str(tmp_path / f"{name}.key"), "-out", str(tmp_path / f"{name}.crt")]
        subprocess.run(
            [*command.split(), "-addext", "subjectAltName=IP:127.0.0.1", *files],
            check=True,
            capture_output=True,
        )
    for file in ("server.key", "server.crt"):
        own.write(file, (tmp_path / file).read_text())
    own.execute("alter system set ssl = on", "select pg_reload_conf()")
    secure = "?sslmode=verify-full&sslrootcert="
    with closing(Store(store_url(own.url(options=f"{secure}{tmp_path}/server.crt"), "p"))) as store:
        ours = "where ssl and application_name = 'agentmut'"
        used = f"select count(*) from pg_stat_ssl join pg_stat_activity using (pid) {ours}"
        assert own.execute(used) == [(2,)]
        store.save("run", [trial("k")])
    with pytest.raises(StoreError, match=r"certificate verify failed.*sslrootcert"):
        Store(store_url(own.url(options=f"{secure}{tmp_path}/other.crt"), "p"))


def test_a_full_disk_is_an_error_and_what_was_kept_before_stays(template: Path) -> None:
    room = 17 << 10  # the file of a table has hardly more room than one of the log, which has 16 MB
    with (
        PostgresServer(folder_of_programs(), template, kilobytes=room) as own,
        closing(a_store(own, "full")) as store,
    ):
        store.save("run", [trial("before")])
        with pytest.raises(StoreError, match=r"could not extend.*Free some space, then `agentmut resume`"):
            for number in range(40):
                store.save("run", [trial(f"{number}-{i}", noise(number, i)) for i in range(100)])
        assert store.find("before") is not None
        assert all(key == "before" or "-" in key for key in kept(own, "full"))
        assert (len(kept(own, "full")) - 1) % 100 == 0  # a batch is kept whole or not at all


def noise(*seed: int) -> str:
    import random

    return random.Random(repr(seed)).randbytes(6000).hex()


def test_a_server_that_comes_back_is_waited_for_and_nothing_is_kept_twice(
    own: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTMUT_STORE_PATIENCE", "20")
    with closing(a_store(own, "back")) as store:
        store.save("run", [trial("before")])
        own.stop()
        again = threading.Timer(0.5, own.start)
        again.start()
        store.save("run", [trial("after")])
        again.join()
        assert store.find("before") is not None
        assert kept(own, "back") == ["before", "after"]


def test_a_transaction_whose_answer_was_lost_is_not_repeated(
    own: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has committed, and dies before it says so."""
    with closing(a_store(own, "once")) as store:
        writing = store._connections.links.writing
        commit = writing.commit

        def committed_and_gone() -> None:
            commit()
            own.stop()
            own.start()
            writing.execute(text("select 1"))

        monkeypatch.setattr(writing, "commit", committed_and_gone)
        store.save("run", [trial("k1"), trial("k2")])
    assert kept(own, "once") == ["k1", "k2"]


def test_a_connection_that_the_server_ends_while_it_is_idle_is_made_anew(server: PostgresServer) -> None:
    with closing(a_store(server, "idle", options="?options=-c%20idle_session_timeout%3D50")) as store:
        store.save("run", [trial("k1")])
        time.sleep(0.3)
        store.save("run", [trial("k2")])
        time.sleep(0.3)
        assert store.find("k1") is not None
    assert kept(server, "idle") == ["k1", "k2"]


@pytest.mark.parametrize(("limit", "value"), [("temp_file_limit", "64kB"), ("statement_timeout", "30ms")])
def test_a_limit_of_the_server_is_named_and_what_was_kept_before_stays(
    server: PostgresServer, limit: str, value: str
) -> None:
    project = f"limited_{limit}"
    a_store(server, project).close()
    server.execute(
        f"create role {limit} login",
        f"alter role {limit} set {limit} = '{value}'",
        f"alter role {limit} set work_mem = '64kB'",
        f"grant usage on schema agentmut_{project} to {limit}",
        f"grant all on all tables in schema agentmut_{project} to {limit}",
        f"grant all on all sequences in schema agentmut_{project} to {limit}",
    )
    with closing(Store(store_url(server.url(user=limit), project))) as store:
        store.save("run", [trial("before")])
        heavy = text("select count(*) from (select i from generate_series(1, 1000000) i order by random()) s")
        with pytest.raises(
            StoreError, match=rf"{limit.replace('statement_t', 'statement t')}.*Raise that limit"
        ):
            store._connections.write(lambda connection: connection.execute(heavy))
        store.save("run", [trial("after")])
        assert kept(server, project) == ["before", "after"]


def test_what_a_run_used_is_looked_up_in_indexes(server: PostgresServer) -> None:
    """With a million trials, a query that reads the whole table takes seconds for each mutant that is shown."""
    options = "?options=-c%20enable_seqscan%3Doff"
    with closing(a_store(server, "indexed", options=options)) as store:
        query = select(used_by("run", trials.c.mutant == "m"))
        written = str(
            query.compile(store._connections.database.engine, compile_kwargs={"literal_binds": True})
        )
        rows = store._connections.read(
            lambda connection: connection.execute(text(f"EXPLAIN {written}")).all()
        )
    plan = "\n".join(str(row[0]) for row in rows)
    assert "trials_by_mutant" in plan
    assert "Seq Scan on trials" not in plan


def test_a_server_that_stays_away_is_an_error_that_says_how_to_go_on(
    own: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTMUT_STORE_PATIENCE", "0.3")
    with closing(a_store(own, "away")) as store:
        own.stop()
        with pytest.raises(StoreError, match=r"server is running.*agentmut resume"):
            store.save("run", [trial("k")])
        own.start()
        store.save("run", [trial("k")])
        assert kept(own, "away") == ["k"]


def test_a_store_that_another_process_cleans_takes_trials_of_footprints_that_went(
    server: PostgresServer,
) -> None:
    with closing(a_store(server, "cleaned")) as store, closing(a_store(server, "cleaned")) as other:
        store.save("run", [trial("k1")])
        assert other.clean(keep=[]) == 1
        store.adopt_run(StoredRun("run", 1.0, "{}", "planned"))
        store.save("run", [trial("k2")])
        assert other.find("k2") is not None


def test_tables_of_an_earlier_format_are_brought_to_todays(server: PostgresServer) -> None:
    with closing(a_store(server, "earlier")) as store:
        store.save("run", [trial("k")])
    server.execute(
        "drop table agentmut_earlier.imported, agentmut_earlier.claims, agentmut_earlier.reports",
        "drop table agentmut_earlier.hooks",
        "drop index agentmut_earlier.trials_by_mutant",
        "create index trials_by_run on agentmut_earlier.trials (run)",
        "update agentmut_earlier.alembic_version set version_num = '3'",
    )
    with closing(a_store(server, "earlier")) as store:
        assert store.imports.totals().trials == 0
        assert store.find("k") is not None
    assert server.execute("select version_num from agentmut_earlier.alembic_version") == [(str(VERSION),)]
    indexes = (
        "select indexname from pg_indexes where (schemaname, tablename) = ('agentmut_earlier', 'trials')"
    )
    assert sorted(server.execute(indexes)) == [("trials_by_key",), ("trials_by_mutant",), ("trials_pkey",)]


def test_who_may_write_an_earlier_store_may_write_what_it_has_anew(server: PostgresServer) -> None:
    a_store(server, "regranted").close()
    server.execute(
        "drop table agentmut_regranted.reports",
        "update agentmut_regranted.alembic_version set version_num = '5'",
        'create role "Old member" login',
        'grant usage on schema agentmut_regranted to "Old member"',
        'grant select, insert, update on all tables in schema agentmut_regranted to "Old member"',
        "grant select on agentmut_regranted.runs to public",
    )
    a_store(server, "regranted").close()
    granted = server.execute(
        "select grantee, privilege_type from information_schema.role_table_grants where table_name = 'reports' "
        "and table_schema = 'agentmut_regranted' and grantee in ('Old member', 'PUBLIC') order by 1, 2"
    )
    found = [(str(role), str(privilege)) for role, privilege in granted]
    assert found == [
        ("Old member", "INSERT"),
        ("Old member", "SELECT"),
        ("Old member", "UPDATE"),
        ("PUBLIC", "SELECT"),
    ]


def test_the_tables_of_a_new_store_are_those_that_the_code_declares(server: PostgresServer) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    from agentmut.store.schema import metadata

    with (
        closing(a_store(server, "declared")) as store,
        store._connections.database.engine.connect() as connection,
    ):
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": False}
        )
        found = compare_metadata(context, metadata)
    assert [difference for difference in found if "alembic_version" not in repr(difference)] == []


def test_a_server_that_takes_tls_alone_is_told_from_a_wrong_password() -> None:
    hba = 'FATAL:  no pg_hba.conf entry for host "127.0.0.1", user "ci", database "trials"'
    without_tls = explanation("here", "open", OSError(f"{hba}, no encryption"), OF_SERVERS)
    with_tls = explanation("here", "open", OSError(f"{hba}, SSL encryption"), OF_SERVERS)
    assert "sslmode=require" in without_tls and "sslmode" not in with_tls
    assert "Give the role and its password" in with_tls
