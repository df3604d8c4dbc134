# ruff: noqa: ANN001, ANN201, B011
"""A suite that is run by tests/pytest_plugin: agents with known pass rates, and everything that can go wrong."""

import asyncio
import random
import unittest

import pytest

log = {}
mark = pytest.mark.agentmut


def count(name):
    log[name] = log.get(name, 0) + 1
    return log[name]


@pytest.fixture(scope="module")
def shared():
    count("shared")
    yield "shared"
    print("shared torn down")


@pytest.fixture
def fresh(shared):
    count("fresh")
    yield []
    count("fresh torn down")


def agent(rate, trial, salt=""):
    return random.Random(f"{salt}{trial}").random() < rate


@mark(trials=50, threshold=0.85, alpha=0.05, method="sprt")
def test_good(fresh, agentmut_trial):
    fresh.append(1)
    assert len(fresh) == 1
    assert agent(0.98, agentmut_trial)


@mark(trials=50, threshold=0.85)
def test_bad(agentmut_trial, record_property):
    print("output of trial", agentmut_trial)
    record_property("trial", agentmut_trial)
    answer = "yes" if agent(0.5, agentmut_trial) else "no"
    assert answer == "yes", "the agent said no"


@mark(trials=30, threshold=0.9)
def test_between(agentmut_trial):
    assert agent(0.85, agentmut_trial)


@mark(trials=5)
def test_few():
    count("few")


@mark(trials=5, inconclusive="pass")
def test_few_pass():
    pass


@mark(trials=5, inconclusive="skip")
def test_few_skip():
    pass


@mark(trials=60, threshold=0.5, method="fixed")
def test_fixed(agentmut_trial):
    count("fixed")
    assert agent(0.9, agentmut_trial)


@mark
def test_error():
    count("error")
    raise ValueError("my own mistake")


@mark(threshold=0.6, errors=5)
def test_some_errors(agentmut_trial):
    if agentmut_trial in (2, 5):
        raise ValueError("once in a while")


@mark(raised="fail", threshold=0.9)
def test_raised_is_failed():
    raise KeyError("x")


@pytest.fixture
def broken():
    raise RuntimeError("broken fixture")


@mark
def test_broken_fixture(broken):
    pass


@pytest.fixture
def sloppy():
    yield
    raise RuntimeError("broken teardown")


@mark
def test_sloppy(sloppy):
    count("sloppy")


@mark
def test_skipped():
    count("skipped")
    pytest.skip("not today")


@pytest.mark.skip(reason="marked")
@mark
def test_skip_marked():
    pass


@pytest.mark.xfail(reason="known", strict=True)
@mark
def test_known_bad():
    assert False


@pytest.mark.xfail(reason="fixed since", strict=True)
@mark
def test_known_good():
    pass


@mark(treshold=0.8)
def test_misspelt():
    count("misspelt")


@mark(0.8)
def test_positional():
    pass


@mark(threshold=1.5)
def test_out_of_range():
    pass


@mark(method="fixed", margin=0.1)
def test_ignored():
    pass


@mark
def test_subtests(subtests):
    pass


@mark(threshold=0.8)
class TestClass:
    @mark(trials=40)
    @pytest.mark.parametrize("rate", [0.97, 0.3])
    def test_rates(self, rate, agentmut_trial):
        assert not hasattr(self, "seen")
        self.seen = True
        assert agent(rate, agentmut_trial)


class TestCase(unittest.TestCase):
    def setUp(self):
        self.values = []

    @mark(threshold=0.8)
    def test_method(self):
        self.values.append(count("unittest"))
        self.assertEqual(len(self.values), 1)

    @mark(threshold=0.8)
    def test_bad_method(self):
        self.assertEqual(1, 2)


@pytest.mark.anyio
@mark(threshold=0.8)
async def test_asynchronous(fresh, agentmut_trial):
    await asyncio.sleep(0)
    assert fresh == []
    fresh.append(1)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@mark(threshold=0.9)
def test_not_run_again():
    count("reruns")
    assert False


@pytest.fixture(scope="module")
def last(shared):
    yield
    assert log["last"] == 20, "torn down between trials"


@mark(threshold=0.9)
def test_last_of_module_fixture(last):
    count("last")


def test_unmarked(agentmut_trial):
    assert agentmut_trial == 0


def test_how_often_each_was_run():
    assert log["fresh"] == log["fresh torn down"] == 19 + 18
    assert log["shared"] == 1
    assert "misspelt" not in log
    assert (log["error"], log["fixed"], log["few"], log["skipped"], log["reruns"]) == (3, 60, 5, 1, 5)
