"""What is wrong in a suite or its settings is said, and no exception of its own code ends in a traceback."""

from pathlib import Path

import pytest

from agentmut._base.errors import AgentmutError, CaseError, UsageError
from agentmut.cli.verbs.preview import print_preview
from agentmut.project.loading import load_project
from agentmut.seams.protocols.suite import SuiteSpec
from agentmut.suites.cerberus import Cerberus
from agentmut.suites.inspect_ai.suite import InspectSuite
from agentmut.suites.pydantic_evals import PydanticEvals
from agentmut.suites.pytest_suite.held_session import _no_evidence
from agentmut.suites.pytest_suite.pytest_settings import read_settings

ROOT = Path(__file__).parents[2]


def test_quotes_of_pytest_arguments_that_do_not_close_are_said() -> None:
    with pytest.raises(UsageError, match=r"suite\.pytest\.args: no closing quotation"):
        read_settings({"args": "-m 'evals"}, "/p")


@pytest.mark.parametrize("error", [pytest.exit.Exception("enough"), KeyboardInterrupt()])
def test_a_test_that_breaks_the_session_off_is_no_evidence(error: BaseException) -> None:
    assert isinstance(_no_evidence(error), CaseError)


def test_a_factory_of_datasets_that_raises_is_said(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_evals")
    (tmp_path / "broken_evals.py").write_text(
        "def make():\n    raise RuntimeError('bug')\ndef task(x): return x\n"
    )
    argument = {"dataset": "broken_evals:make", "task": "broken_evals:task"}
    with pytest.raises(UsageError, match="broken_evals:make raised RuntimeError: bug"):
        PydanticEvals.create(SuiteSpec(kind="pydantic_evals", argument=argument, root=str(tmp_path)))


def test_a_task_of_inspect_ai_that_raises_is_said(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    (tmp_path / "t.py").write_text(
        "from inspect_ai import task\n@task\ndef broken():\n    raise RuntimeError('bug')\n"
    )
    suite = InspectSuite.create(SuiteSpec(kind="inspect", argument="t.py@broken", root=str(tmp_path)))
    with pytest.raises(UsageError, match="RuntimeError: bug"):
        suite.scenarios()


CONTRACT = "{name: c, type: code, assert: 'true', threshold: 0.5}"


@pytest.mark.parametrize(
    ("command", "contracts", "checks", "said"),
    [
        ("python 'x {{scenario}}", CONTRACT, {}, "no closing quotation"),
        (
            "python {{scenario}}",
            f"{CONTRACT}, {CONTRACT}",
            {},
            "two contracts of the study have the same name",
        ),
        ("python {{scenario}}", CONTRACT, {"c": []}, "names no evaluator"),
    ],
)
def test_what_cerberus_cannot_mean_is_said(
    tmp_path: Path, command: str, contracts: str, checks: dict[str, list[object]], said: str
) -> None:
    pytest.importorskip("py_mini_racer")
    (tmp_path / "s.yaml").write_text("input: hello\n")
    (tmp_path / "c.yaml").write_text(
        f'adapter: {{command: "{command}"}}\nstudies:\n  - {{name: a, scenario: s.yaml, contracts: [{contracts}]}}\n'
    )
    argument = {"file": "c.yaml", "checks": checks}
    with pytest.raises(AgentmutError, match=said):
        Cerberus.create(SuiteSpec(kind="cerberus", argument=argument, root=str(tmp_path)))


@pytest.mark.process
def test_the_preview_of_verdicts_knows_the_scenarios_of_a_suite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    print_preview(
        load_project(ROOT / "examples" / "pytest_suite"),
        ("tests/test_answers.py::test_the_farewell",),
        (),
        False,
    )
    assert "Chances of the suite's verdict" in capsys.readouterr().out
