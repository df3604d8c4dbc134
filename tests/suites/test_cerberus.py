"""Cerberus's files: read as its own program reads them, and measured."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("py_mini_racer")

from agentmut._base.errors import NotJudgedError, ProjectError, UsageError
from agentmut.campaign.preparation.session import open_session
from agentmut.judging.evaluators.javascript import JavaScript
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace
from agentmut.project.loading import load_project
from agentmut.seams.protocols.suite import SuiteSpec
from agentmut.suites.cerberus import Cerberus
from agentmut.usecases.campaigns import measure

ROOT = Path(__file__).parents[2]
DESK = ROOT / "tests" / "testdata" / "cerberus_desk"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    before = list(sys.path)
    shutil.copytree(DESK, tmp_path / "desk", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    yield tmp_path / "desk"
    sys.path[:] = before


@pytest.mark.whole
@pytest.mark.process
def test_a_cerberus_file_shows_the_rule_that_no_contract_checks(
    desk: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    file = desk / "cerberus.yaml"  # one contract is enough to be measured, and each run starts a program
    text = file.read_text()
    begin, end = text.index("      - name: exits-cleanly"), text.index("      - name: says-how-long")
    file.write_text(text[:begin] + text[end:])
    result = measure(desk)
    assert {row.description: row.status for row in result.mutants} == {
        'drop "Say that a refund takes 5 days."': "killed",
        'drop "Never promise a delivery date."': "survived",
    }
    assert [(row.scenario, row.testable) for row in result.baseline] == [("refunds/says-how-long", True)]


def test_contracts_keep_their_thresholds_and_the_settings_of_the_test_are_taken_over(desk: Path) -> None:
    file = desk / "cerberus.yaml"
    file.write_text(
        file.read_text().replace("confidence: 0.95", "confidence: 0.9") + "\ncorrection: bonferroni\n"
    )
    session = open_session(load_project(desk))
    assert {one.name: one.threshold for one in session.scenarios} == {
        "refunds/exits-cleanly": 0.95,
        "refunds/says-how-long": 0.70,
    }
    project = session.project
    assert (project.test.trials, project.test.correction) == (50, "bonferroni")
    assert project.statistics.alpha == 0.1 and project.statistics.n_max == 20
    assert project.execution.timeout == 30 and project.execution.concurrency == 2


def test_what_the_project_file_says_of_the_test_holds(desk: Path) -> None:
    file = desk / "agentmut.yaml"
    file.write_text(file.read_text() + "test: {trials: 30}\n")
    assert open_session(load_project(desk)).project.test.trials == 30


def test_contracts_of_one_threshold_can_share_their_runs(desk: Path) -> None:
    file = desk / "cerberus.yaml"
    file.write_text(file.read_text().replace("threshold: 0.70", "threshold: 0.95"))
    argument = {
        "file": "cerberus.yaml",
        "together": True,
        "checks": {"exits-cleanly": [{"contains": "days"}]},
    }
    (only,) = Cerberus.create(SuiteSpec(kind="cerberus", argument=argument, root=str(desk))).scenarios()
    assert (only.name, only.threshold) == ("refunds/exits-cleanly+says-how-long", 0.95)
    assert [one.name for one in only.evaluators] == ["contains", "javascript"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("threshold: 0.70", "threshold: 1.0", "cerberus.yaml:19: studies[0].contracts[1].threshold"),
        ("threshold: 0.95", "threshold: 0.05", "cerberus.yaml:12: studies[0].contracts[0].threshold"),
        (" trials: 50\n\n", " trials: 40\n\n", "cerberus.yaml:21: studies[0].contracts[1].trials"),
        ("output.meta.exitCode === 0", "output.meta.exitCode ===", "cerberus.yaml:11: studies[0].contracts[0].assert"),
        ("type: code", "type: judge\n        rubric: kind", "cerberus.yaml:10: studies[0].contracts[0].type"),
        ("{{scenario}}", "scenario", "cerberus.yaml:2: adapter.command"),
        ("refund.yaml", "refunds.yaml", "cerberus.yaml:7: studies[0].scenario"),
        ("    scenario:", "    max_error_rate: 0.1\n    scenario:", "cerberus.yaml:7: studies[0].max_error_rate"),
        ("studies:", "correction: none\nstudies:", "cerberus.yaml:5: correction"),
        ("studies:", "retries: 3\nstudies:", "cerberus.yaml:5: retries"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_told_with_its_line(desk: Path, old: str, new: str, said: str) -> None:
    file = desk / "cerberus.yaml"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(ProjectError) as error:
        Cerberus.create(SuiteSpec(kind="cerberus", argument="cerberus.yaml", root=str(desk)))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("condition", "answer", "passed"),
    [
        ("output.meta.jsonParsed === true", '{"a": 1}', True),
        ("output.meta.jsonParsed === true", "[1]", False),
        ("Array.isArray(output.parsed.suggestions)", '{"suggestions": []}', True),
        ("/refund/i.test(output.meta.raw)", "REFUND", True),
        ("output.parsed.missing === undefined", "none", True),
        ("output.parsed.__proto__ === Object.prototype", '{"__proto__": null}', False),
        ("scenario.input.length === 2 && scenario.metadata.days > 4", "x", True),
    ],
)
def test_a_condition_in_javascript_means_what_it_means_in_javascript(
    condition: str, answer: str, passed: bool
) -> None:
    judge = JavaScript({"assert": condition, "metadata": {"days": 5}})
    asked = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="javascript"),))
    assert judge.evaluate(asked, AgentTrace(outputs=(answer,))).passed is passed


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # V8 was ended, and says so late
@pytest.mark.parametrize("condition", ["output.parsed.a.b.c", "(() => { while (true) {} })()"])
def test_a_condition_that_raises_or_does_not_end_says_nothing_about_the_agent(condition: str) -> None:
    asked = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="javascript"),))
    with pytest.raises(NotJudgedError):
        JavaScript(condition).evaluate(asked, AgentTrace(outputs=("x",)))


def test_a_check_in_the_place_of_a_contract_that_is_not_there_is_refused(desk: Path) -> None:
    argument = {"file": "cerberus.yaml", "checks": {"exits": [{"contains": "x"}]}}
    with pytest.raises(UsageError, match="no contract 'exits'"):
        Cerberus.create(SuiteSpec(kind="cerberus", argument=argument, root=str(desk)))
