import os
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MADE = {"session": 0, "module": 0, "ended": 0}


@pytest.fixture(scope="session")
def of_session() -> Iterator[int]:
    MADE["session"] += 1
    yield MADE["session"]
    Path("ended.txt").write_text(f"session {MADE['session']} ended")


@pytest.fixture(scope="module")
def of_module() -> Iterator[int]:
    MADE["module"] += 1
    yield MADE["module"]
    MADE["ended"] += 1


@pytest.fixture
def broken() -> None:
    raise RuntimeError("no database")


@pytest.fixture
def breaks_later() -> Iterator[None]:
    yield
    raise RuntimeError("cannot clean up")


def test_scopes(of_session: int, of_module: int) -> None:
    assert of_session == 1
    pytest.fail(f"module fixture {of_module}, ended {MADE['ended']}")


def test_fixture_error(broken: None) -> None: ...


def test_teardown_error(breaks_later: None) -> None: ...


def test_own_error() -> None:
    {}["key"]


def test_agent_error(agentmut_agent: Any) -> None:
    agentmut_agent.run("crash")


def test_agent_error_that_is_expected(agentmut_agent: Any) -> None:
    with pytest.raises(ValueError, match="cannot"):
        agentmut_agent.run("crash")


def test_skipped() -> None:
    pytest.skip("not today")


@pytest.mark.xfail(reason="known")
def test_known_to_fail() -> None:
    raise AssertionError


@pytest.mark.xfail(strict=True)
def test_no_longer_fails() -> None: ...


def test_hangs() -> None:
    time.sleep(60)


class TestOld(unittest.TestCase):
    def setUp(self) -> None:
        self.counted = 0

    def test_of_unittest(self) -> None:
        self.counted += 1
        self.assertEqual(self.counted, 1)


def test_subtests(subtests: pytest.Subtests) -> None:
    for number in range(2):
        with subtests.test(number=number):
            assert number == 0


def test_prints(capsys: pytest.CaptureFixture[str], tmp_path: Any, cache: pytest.Cache) -> None:
    print("loud")
    assert capsys.readouterr().out == "loud\n"
    assert cache.get("agentmut/odd", 0) == 0
    cache.set("agentmut/odd", 1)


def test_ends_its_process() -> None:
    os._exit(1)


def test_that_is_rerun(tmp_path: Any) -> None:
    raise AssertionError("not rerun")
