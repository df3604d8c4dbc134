"""Several runs on one store at once: each trial is executed by one of them, whatever is killed."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agentmut.store import claims
from agentmut.store.address import store_url
from agentmut.store.claims import ServerClaims
from agentmut.store.store import Store
from benchmarks.shared_store import Study, at_once, study
from tests.postgres_server import PostgresServer

pytestmark = [pytest.mark.process]


@contextmanager
def two_runs(server: PostgresServer, project: str) -> Iterator[tuple[ServerClaims, ServerClaims]]:
    with closing(Store(store_url(server.url(), project))) as store:
        ours, theirs = store.claims("ours"), store.claims("theirs")
        assert isinstance(ours, ServerClaims) and isinstance(theirs, ServerClaims)
        with closing(ours), closing(theirs):
            yield ours, theirs


def test_a_trial_is_one_runs_until_it_lets_go(server: PostgresServer) -> None:
    with two_runs(server, "turns") as (ours, theirs):
        assert ours.take("a")
        assert not theirs.take("a")
        assert theirs.take("b")
        ours.release(["a", "unheard of"])
        assert theirs.take("a")


def test_projects_of_one_database_do_not_wait_for_each_other(server: PostgresServer) -> None:
    with two_runs(server, "turns_1") as (ours, _), two_runs(server, "turns_2") as (theirs, _):
        assert ours.take("a")
        assert theirs.take("a")


def test_trials_of_a_run_that_was_killed_are_left_to_it_for_a_while(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server may have gone, and not the run. The same run may go on at once."""
    with two_runs(server, "killed") as (ours, theirs):
        assert ours.take("a")
        ours._ended.set()  # killed: its connections go, and nothing is let go
        ours._keeper.join()
        ours._connections.close()
        assert not theirs.take("a")
        monkeypatch.setattr(claims, "GRACE", 0.0)
        assert theirs.take("a")
    with two_runs(server, "killed") as (again, _), closing(Store(store_url(server.url(), "killed"))) as store:
        server.execute("insert into agentmut_killed.claims values ('b', 'ours')")
        monkeypatch.setattr(claims, "GRACE", 5.0)
        assert again.take("b")
        assert store.find("b") is None


def test_a_run_whose_server_was_killed_has_its_trials_when_the_server_is_back(own: PostgresServer) -> None:
    with two_runs(own, "back") as (ours, theirs):
        assert ours.take("a")
        own.stop()
        own.start()
        assert not theirs.take("a")  # a note says that it is another run's
        assert ours.take("b")  # the first word with the server
        assert not theirs.take("a")
        ours.release(["a"])
        assert theirs.take("a")


def test_runs_that_overlap_are_counted() -> None:
    apart = [("t", 1, 0.0, 1.0), ("t", 2, 1.5, 2.0), ("u", 1, 0.0, 3.0), ("u", 1, 1.0, 2.0)]
    assert at_once(apart) == 0
    assert at_once([*apart, ("t", 3, 0.5, 0.6), ("u", 2, 2.9, 4.0)]) == 2


@pytest.mark.whole
def test_runs_and_servers_are_killed_and_nothing_is_lost_doubled_or_decided_otherwise(
    own: PostgresServer, tmp_path: Path
) -> None:
    """The small form of `python -m benchmarks.shared_store`."""
    found = study(tmp_path, own, kills=4, server_kills=1)
    assert found.clients_killed >= 4
    assert found.servers_killed >= 1
    assert found.is_sound, found


@pytest.mark.whole
def test_the_study_sees_runs_that_claim_nothing(
    own: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: every run takes every trial for its own."""
    monkeypatch.setattr(ServerClaims, "take", lambda self, key: True)
    found: Study = study(tmp_path, own, kills=0, server_kills=0)
    assert found.at_the_same_time > 10
    assert not found.is_sound
