"""Real deepeval tests: which losses their metrics notice, and what their judges are kept out of."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmut._base.errors import CaseError, UsageError
from agentmut.judging.building import build_all, judge
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace, Check, Usage
from agentmut.project.loading import load_project
from agentmut.seams.protocols.suite import SuiteSpec
from agentmut.suites.deepeval_suite.metric_results import (
    MetricFailure,
    MetricResult,
    check_measured,
    checks_of,
)
from agentmut.suites.deepeval_suite.suite import DeepevalSuite
from agentmut.usecases.campaigns import measure
from agentmut.usecases.runtime import open_store

ROOT = Path(__file__).parents[2]
PASSED = Check(evaluator="pytest", passed=True, reason="the test passed")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST"):
        monkeypatch.delenv(name, raising=False)
    before = list(sys.path)
    folder = tmp_path / "desk"
    shutil.copytree(
        ROOT / "tests" / "testdata" / "deepeval_desk", folder, ignore=shutil.ignore_patterns(".*")
    )
    yield folder
    sys.path[:] = before
    sys.modules.pop("desk", None)


@pytest.mark.whole
def test_deepeval_misses_the_rule_without_a_metric_and_its_judge_is_no_part_of_the_agent(
    project: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    if not _installed():
        pytest.skip("deepeval is not installed here")
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    result = measure(project)
    status = {row.description: row.status for row in result.mutants}
    found = {text: next(s for d, s in status.items() if text in d) for text in ("Greet", "refund", "Never")}
    assert found == {"Greet": "killed", "refund": "killed", "Never": "survived"}
    assert result.cost.tokens == 0  # the agent asks no model, only its judge does
    files = [path.name for path in project.rglob("*") if path.is_file()]
    assert not [name for name in files if "deepeval" in name] and not (project / ".deepeval").exists()
    with open_store(load_project(project)) as store:
        checks = [
            check for trial in store.trials_of(result.run_id, "") for check in trial.execution.trace.checks
        ]
    assert any("the judge used" in check.reason for check in checks)
    assert {check.evaluator for check in checks} == {
        "deepeval",
        "Greets",
        "Refund",
        "Answers",
        "Polite",
        "Unheard",
    }
    (asked,) = result.judges
    assert asked.model.endswith("sim-large") and asked.questions > 0 and asked.input_tokens > 0


def test_a_metric_that_could_not_be_measured_is_no_evidence() -> None:
    with pytest.raises(CaseError, match="Relevancy failed: no such model"):
        check_measured([MetricResult("Relevancy", False, "", "no such model")])
    with pytest.raises(CaseError, match="TypeError"):
        check_measured([MetricFailure("TypeError: no")])
    check_measured([MetricResult("Relevancy", False, "score 0.1"), Usage(input_tokens=3)])


def test_a_metric_named_in_the_project_is_a_check_of_its_own() -> None:
    noted = [MetricResult("A", True, "score 1"), MetricResult("B", False, "score 0"), Usage(input_tokens=7)]
    failed = PASSED.model_copy(update={"passed": False})
    whole, a, b, c = checks_of(failed, noted, ["A", "B", "C"])
    assert (whole.evaluator, whole.passed, whole.reason) == (
        "deepeval",
        False,
        "B: score 0 (the judge used 7 tokens)",
    )
    assert (a.passed, b.passed, c.passed) == (True, False, True)
    assert c.reason == "the test does not use it"


def test_every_metric_that_a_run_measures_is_a_check_of_its_own_where_none_is_named() -> None:
    noted = [
        MetricResult("A", True, "score 1"),
        MetricResult("B", False, "score 0"),
        MetricResult("A", False, "score 0.2"),
    ]
    checks = checks_of(PASSED, noted, None)
    assert [(one.evaluator, one.passed) for one in checks] == [
        ("deepeval", False),
        ("A", False),
        ("B", False),
    ]
    spec = EvaluatorSpec(name="suite_checks", argument="deepeval")
    scenario = Scenario(name="s", turns=("s",), evaluators=(spec,))
    judged = judge(build_all([spec]), scenario, AgentTrace(checks=checks))
    assert [(one.evaluator, one.passed, one.reason) for one in judged] == [
        ("deepeval", False, "B: score 0; A: score 0.2"),
        ("A", False, "score 0.2"),
        ("B", False, "score 0"),
    ]


def test_a_flaky_test_case_that_fails_is_a_failure_although_deepeval_lets_it_pass() -> None:
    whole, _ = checks_of(PASSED, [MetricResult("A", False, "score 0")], None)
    assert not whole.passed


def test_what_evaluate_finds_fails_no_test_that_does_not_assert_it() -> None:
    found = [MetricResult("A", False, "score 0", asserted=False)]
    whole, metric = checks_of(PASSED, found, ["A"])
    assert (whole.passed, whole.reason, metric.passed) == (True, "the test passed", False)
    (whole,) = checks_of(PASSED.model_copy(update={"passed": False}), found, [])
    assert (whole.passed, whole.reason) == (False, "A: score 0")


@pytest.mark.skipif("not _installed()", reason="deepeval is not installed here")
def test_a_suite_of_deepeval_says_what_it_expects() -> None:
    with pytest.raises(UsageError, match=r"suite\.deepeval\.metrics: expects a list"):
        DeepevalSuite.create(SuiteSpec(kind="deepeval", argument={"path": "evals", "metrics": "A"}))
    with pytest.raises(UsageError, match=r"suite\.deepeval: unknown key 'pth'"):
        DeepevalSuite.create(SuiteSpec(kind="deepeval", argument={"pth": "evals"}))


def _installed() -> bool:
    import importlib.util

    return importlib.util.find_spec("deepeval") is not None


def test_an_error_of_a_collection_names_the_section_of_the_project(tmp_path: Path) -> None:
    suite = DeepevalSuite.create(SuiteSpec(kind="deepeval", argument="evals", root=str(tmp_path / "gone")))
    with pytest.raises(UsageError, match=r"^suite\.deepeval: there is no folder"):
        suite.scenarios()
