"""Tests marked with agentmut, run by the real pytest: one run of many cases, one distributed, one of the options."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "tests" / "testdata" / "stochastic"
SMALL = """
import pytest

@pytest.mark.agentmut(trials=30, threshold=0.9)
def test_bad(agentmut_trial):
    print("said in trial", agentmut_trial)
    answer = "yes" if agentmut_trial % 2 else "no"
    assert answer == "yes"

@pytest.mark.agentmut
def test_error():
    raise ValueError("mine")

@pytest.mark.agentmut
def test_good():
    pass

@pytest.mark.agentmut
def test_worse():
    assert False
"""

IN_A_CAMPAIGN = """
from types import SimpleNamespace
from agentmut.suites.pytest_suite.held_session import HeldSession
from agentmut.suites.pytest_suite.pytest_settings import PytestSettings

held = HeldSession(PytestSettings(directory="."))
for case in held.cases():
    phases = held.submit(case.id, SimpleNamespace()).result()
    print("PHASES", case.id, [phase.report.outcome for phase in phases])
held.close()
"""


@dataclass(frozen=True)
class Ran:
    """One run of pytest."""

    code: int
    said: str
    cases: dict[str, ElementTree.Element]

    def verdict(self, test: str) -> str:
        """The line of the summary."""
        (line,) = re.findall(rf"^([A-Z]+ +\S*::{re.escape(test)}: .*)$", self.said, re.MULTILINE)
        return " ".join(str(line).split())

    def shown(self, test: str) -> str:
        """What is printed of a test that failed."""
        return re.split(r"^_{3,} .* _{3,}$", self.said.partition(f" {test} _")[2], flags=re.MULTILINE)[0]

    def properties(self, test: str) -> dict[str, str]:
        """Those of the JUnit file."""
        found = self.cases[test].iter("property")
        return {p.attrib["name"].removeprefix("agentmut."): p.attrib["value"] for p in found}


def run(folder: Path, arguments: Sequence[str]) -> Ran:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    file = folder / "junit.xml"
    command = [sys.executable, "-m", "pytest", f"--junitxml={file}", "-q", "-p", "no:asyncio", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    cases = ElementTree.parse(file).iter("testcase") if file.exists() else ()
    return Ran(done.returncode, done.stdout, {case.attrib["name"]: case for case in cases})


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("suite")
    shutil.copytree(SUITE, folder, dirs_exist_ok=True)
    reruns = ["--reruns", "2"] if importlib.util.find_spec("pytest_rerunfailures") else []
    return run(folder, ["-p", "no:xdist", "-p", "no:cacheprovider", *reruns])


def small_suite(folder: Path) -> Path:
    (folder / "test_small.py").write_text(SMALL)
    shutil.copy(SUITE / "pytest.ini", folder)
    return folder


@pytest.mark.process
def test_the_run_fails_where_a_verdict_does(many: Ran) -> None:
    assert many.code == 1
    assert "INTERNALERROR" not in many.said
    assert re.search(r"^8 failed, 10 passed, 3 skipped, 1 xfailed,.* 9 errors in", many.said, re.MULTILINE)


def test_a_good_agent_passes_with_its_interval(many: Ran) -> None:
    assert many.verdict(
        "test_good"
    ) == (  # log(0.1) / log(0.75 / 0.85) = 18.4 passes in a row; Robbins' interval
        "PASS test_repeated.py::test_good: 19 of 19 trials passed, rate 1.00 [0.77, 1.00], threshold 0.85; "
        "evidence of a pass rate above 0.75"
    )


def test_a_bad_agent_fails_with_p_and_effect_and_the_first_failure_itself(many: Ran) -> None:
    line = (
        "FAIL: 7 of 15 trials passed, rate 0.47 [0.14, 0.82], threshold 0.85; "
        "p = 0.04, effect -0.38 (h = -0.84, large)"
    )
    assert many.verdict("test_bad") == line.replace("FAIL:", "FAIL test_repeated.py::test_bad:")
    shown = many.shown("test_bad")
    assert "AssertionError: the agent said no" in shown and line in shown
    assert "Trial 2 was the first that failed" in shown
    assert "output of trial 2" in shown and "output of trial 3" not in shown
    assert "pytest_stochastic" not in shown
    assert "FAILED test_repeated.py::test_bad - agentmut FAIL: 7 of 15 trials passed" in many.said


def test_too_little_evidence_is_inconclusive_with_the_trials_that_would_do(many: Ran) -> None:
    assert "25 of 30 trials passed" in many.verdict("test_between")
    assert "about 126 further trials would probably decide: trials=156" in many.verdict("test_between")
    assert many.verdict("test_few").startswith("INCONCLUSIVE")
    assert many.verdict("test_few").endswith("PASS takes at least 20 trials")


def test_what_an_inconclusive_test_is_can_be_chosen(many: Ran) -> None:
    assert many.cases["test_few"].find("failure") is not None
    assert [child.tag for child in many.cases["test_few_pass"]] == ["properties"]
    assert many.cases["test_few_skip"].find("skipped") is not None
    assert all(
        many.properties(f"test_few{end}")["verdict"] == "INCONCLUSIVE" for end in ("", "_pass", "_skip")
    )


def test_a_fixed_number_of_trials_is_judged_once(many: Ran) -> None:
    found = many.properties("test_fixed")  # the interval by scipy.stats.binomtest(55, 60).proportion_ci()
    assert (found["trials"], found["passes"], found["method"]) == ("60", "55", "clopper-pearson")
    assert (float(found["interval_low"]), float(found["interval_high"])) == pytest.approx(
        (0.81614, 0.97239), abs=1e-5
    )


def test_junit_properties_hold_the_verdict(many: Ran) -> None:
    found = many.properties("test_bad")
    assert found["trial"] == "14"  # recorded by the test itself, in its last trial
    assert {name: found[name] for name in ("verdict", "trials", "passes", "errors", "threshold", "alpha")} == {
        "verdict": "FAIL", "trials": "15", "passes": "7", "errors": "0", "threshold": "0.85", "alpha": "0.05",
    }  # fmt: skip
    assert float(found["p"]) <= 0.05
    assert found["method"] == "SPRT, strict boundaries"
    assert found["interval_method"] == "beta-binomial confidence sequence"
    assert (found["size"], found["effect"]) == ("large", "-0.383333")
    failure = many.cases["test_bad"].find("failure")
    assert failure is not None and failure.attrib["message"].startswith("agentmut FAIL: 7 of 15")


def test_errors_are_no_failed_trials(many: Ran) -> None:
    for test in ("test_error", "test_broken_fixture"):
        assert "no trial is evidence" in many.verdict(test)
        assert (many.properties(test)["verdict"], many.properties(test)["errors"]) == ("ERROR", "3")
    first = "ERROR test_repeated.py::test_error: ValueError: my own mistake; no trial is evidence"
    assert many.verdict("test_error").startswith(first)
    assert "::test_error - agentmut ERROR: ValueError: my own mistake; " in many.said
    assert "ValueError: my own mistake" in many.shown("ERROR at call of test_error")
    assert "RuntimeError: broken fixture" in many.shown("ERROR at setup of test_broken_fixture")
    assert many.properties("test_some_errors")["verdict"] == "PASS"
    assert many.verdict("test_some_errors").endswith("2 trials raised an error, which is no evidence")
    assert many.properties("test_raised_is_failed")["verdict"] == "FAIL"


def test_a_trial_whose_teardown_goes_wrong_is_no_evidence(many: Ran) -> None:
    assert many.verdict("test_sloppy").startswith("ERROR")
    assert "RuntimeError: broken teardown" in many.shown("ERROR at call of test_sloppy")


def test_skips_and_expected_failures_are_those_of_pytest(many: Ran) -> None:
    for test in ("test_skipped", "test_skip_marked", "test_known_bad"):
        assert many.cases[test].find("skipped") is not None
    assert not many.properties("test_skipped")
    assert many.properties("test_known_bad")["verdict"] == "FAIL"
    strict = many.cases["test_known_good"].find("failure")
    assert strict is not None and "XPASS(strict)" in strict.attrib["message"]


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("test_misspelt", "has no setting 'treshold'. Did you mean 'threshold'?"),
        ("test_positional", "takes its settings by name, such as trials=50."),
        ("test_out_of_range", "threshold must be in (0, 1], got 1.5."),
        ("test_ignored", "method 'fixed' takes no margin."),
        ("test_subtests", "a test with `subtests` cannot be repeated."),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_before_a_trial(many: Ran, test: str, said: str) -> None:
    shown = many.shown(f"ERROR at setup of {test}")
    assert f"the marker agentmut: {said}" in shown or said in shown
    assert ".py" not in shown
    assert not many.properties(test)


def test_classes_parameters_and_unittest_have_fresh_instances(many: Ran) -> None:
    assert "18 of 18 trials passed" in many.verdict("TestClass::test_rates[0.97]")  # threshold from the class
    assert many.verdict("TestClass::test_rates[0.3]").startswith("FAIL")
    assert "18 of 18 trials passed" in many.verdict("TestCase::test_method")
    assert many.verdict("TestCase::test_bad_method").startswith("FAIL")


def test_asynchronous_tests_are_repeated_by_their_plugin(many: Ran) -> None:
    if "test_asynchronous[asyncio]" in many.cases:
        assert many.verdict("test_asynchronous[asyncio]").startswith("PASS")
    else:
        assert "18 of 18 trials passed" in many.verdict("test_asynchronous")


def test_fixtures_of_a_test_are_fresh_and_those_of_its_module_are_kept(many: Ran) -> None:
    assert not list(many.cases["test_how_often_each_was_run"])
    assert many.verdict("test_last_of_module_fixture").startswith("PASS")


def test_the_summary_says_how_many_verdicts_there_are_and_what_alpha_holds_for(many: Ran) -> None:
    assert re.search(r"^8 PASS, 6 FAIL, 4 INCONCLUSIVE, 3 ERROR; \d+ trials$", many.said, re.MULTILINE)
    assert "alpha is per test (0.05): that some of 21 tests" in many.said


@pytest.mark.process
def test_workers_of_xdist_and_options_of_pytest(tmp_path: Path) -> None:
    small = small_suite(tmp_path)
    first = run(small, ["-n", "1"])
    assert first.code == 1
    assert "2 failed, 1 passed, 1 error in" in first.said
    assert "Trial 0 was the first that failed" in first.shown("test_bad")
    assert "said in trial 0" in first.shown("test_bad")
    assert first.verdict("test_good").startswith("PASS") and first.verdict("test_error").startswith("ERROR")
    assert first.properties("test_bad")["verdict"] == "FAIL"
    options = ["--lf", "-x", "--agentmut-trials=4", "-o", "agentmut_inconclusive=skip", "-p", "no:xdist"]
    again = run(small, options)
    assert "1 skipped, 1 deselected, 1 error in" in again.said or "1 skipped, 1 error in" in again.said
    assert "stopping after 1 failures" in again.said
    assert list(again.cases) == ["test_bad", "test_error"]
    assert "2 of 4 trials passed" in again.verdict("test_bad")
    assert again.verdict("test_bad").endswith("PASS takes at least 20 trials")


@pytest.mark.process
def test_a_campaign_runs_a_marked_test_once_at_a_time(tmp_path: Path) -> None:
    small_suite(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", IN_A_CAMPAIGN]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert "PHASES test_small.py::test_bad ['passed', 'failed', 'passed']" in done.stdout, done.stderr
    assert "PHASES test_small.py::test_good ['passed', 'passed', 'passed']" in done.stdout
