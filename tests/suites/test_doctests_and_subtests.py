"""Tests that are no function of their own: doctests, `subTest` of unittest, and repeats under other names."""

import os
import subprocess
import sys
from doctest import DocTestFailure, DocTestParser, UnexpectedException
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentmut.suites.pytest_suite.held_session import HeldSession
from agentmut.suites.pytest_suite.outcome import is_assertion, judged
from agentmut.suites.pytest_suite.pytest_settings import PytestSettings
from agentmut.suites.pytest_suite.run_state import RunState
from tests.suites.plugins_of_others import OTHERS

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
DOCTESTS = '''
def good():
    """
    >>> good()
    1
    """
    return 1

def bad():
    """
    >>> bad()
    2
    """
    return 1
'''
SUBTESTS = """
import unittest

class TestSub(unittest.TestCase):
    def test_good(self):
        with self.subTest(): self.assertTrue(True)

    def test_bad(self):
        with self.subTest(): self.assertTrue(False)
        self.fail("not reached")
"""
MARKED = """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.agentmut)
"""


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OTHERS, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    ).stdout


def test_a_marked_doctest_is_repeated_and_a_failed_subtest_fails_its_trial(tmp_path: Path) -> None:
    (tmp_path / "test_doc.py").write_text(DOCTESTS)
    (tmp_path / "test_sub.py").write_text(SUBTESTS)
    (tmp_path / "conftest.py").write_text(MARKED)
    said = run(tmp_path, "--doctest-modules")
    assert "test_doc.good: 20 of 20 trials passed" in said
    assert "test_doc.bad: 0 of 5 trials passed" in said
    assert "TestSub::test_good: 20 of 20 trials passed" in said
    assert "TestSub::test_bad: 0 of 5 trials passed" in said
    assert "SUBFAILED" not in said and "not reached" not in said


def test_a_campaign_runs_a_doctest_again_and_takes_its_failed_example_as_a_failure(tmp_path: Path) -> None:
    (tmp_path / "test_doc.py").write_text(DOCTESTS)
    held = HeldSession(
        PytestSettings(directory=str(tmp_path), args=("--doctest-modules", "-p", "no:cacheprovider"))
    )
    before = Path.cwd()
    try:
        cases = [case.id for case in held.cases()]
        checks = [
            judged(held.submit(case, cast("RunState", SimpleNamespace())).result(60), "error", ())
            for case in cases * 2
        ]
    finally:
        held.close()
        os.chdir(before)
    assert cases == ["test_doc.py::test_doc.bad", "test_doc.py::test_doc.good"]
    assert [check.passed for check in checks] == [False, True, False, True]
    assert "Expected: 2 Got: 1" in checks[0].reason


def test_an_example_of_a_doctest_that_raises_is_no_failed_assertion() -> None:
    test = DocTestParser().get_doctest(">>> 1\n1", {}, "t", None, None)
    assert is_assertion(DocTestFailure(test, test.examples[0], "2"))
    for error, failed in ((AssertionError(), True), (ValueError(), False)):
        raised: Any = (type(error), error, None)
        assert is_assertion(UnexpectedException(test, test.examples[0], raised)) is failed


def test_repeats_under_other_names_are_not_collected_for_a_campaign(tmp_path: Path) -> None:
    pytest.importorskip("pytest_repeat")
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    said = run(tmp_path, "--agentmut", "--count", "3", "--collect-only")
    assert "1 test collected" in said, said
