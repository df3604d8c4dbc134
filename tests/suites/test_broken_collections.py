"""A suite that cannot be collected says why, and what is set up wrongly is no traceback."""

import importlib.util
import os
from pathlib import Path

import pytest

from agentmut._base.errors import ProjectError, UsageError
from agentmut.seams.protocols.suite import SuiteSpec
from agentmut.suites.cerberus import Cerberus
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings, command_of
from agentmut.suites.pytest_suite import collecting
from agentmut.suites.pytest_suite.collecting import collected
from agentmut.suites.pytest_suite.pytest_settings import PytestSettings

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


@pytest.mark.parametrize(
    ("body", "argument", "said"),
    [
        ("import sys\nsys.exit(3)", "-q", r"test_x\.py: its import ended the collection: SystemExit: 3"),
        ("def test_x(): ...", "--bogus", "error: unrecognized arguments: --bogus"),
        ("def test_x(): ...", "--version", "an argument such as --version"),
        ("def test_x(): ...", "--help", "an argument such as --version, --help"),
    ],
)
def test_what_keeps_pytest_from_collecting_is_said(
    tmp_path: Path, body: str, argument: str, said: str
) -> None:
    (tmp_path / "test_x.py").write_text(body)
    with pytest.raises(UsageError, match=said):
        collected(PytestSettings(args=(argument,), directory=str(tmp_path)))


def test_a_collection_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "COLLECTING", 0.1)
    with pytest.raises(UsageError, match=r"were not collected within 0\.1 s"):
        collected(PytestSettings(directory=str(tmp_path)))


@pytest.mark.skipif(importlib.util.find_spec("deepeval") is None, reason="deepeval is not installed")
def test_a_plain_suite_is_left_alone_by_the_plugin_of_deepeval(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "import sys\ndef test_x(): ...\nassert 'deepeval.plugins.plugin' not in sys.modules\n"
    )
    assert len(collected(PytestSettings(directory=str(tmp_path)))) == 1
    assert not (tmp_path / ".deepeval").exists()


def test_a_variable_for_promptfoo_with_an_open_quote_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTMUT_PROMPTFOO", "npx 'promptfoo")
    with pytest.raises(UsageError, match="AGENTMUT_PROMPTFOO: no closing quotation"):
        command_of(PromptfooSettings(path="x.yaml"), ".")


def test_studies_of_cerberus_that_differ_in_metadata_only_are_refused_with_their_line(tmp_path: Path) -> None:
    pytest.importorskip("py_mini_racer")
    for name, days in (("a", 1), ("b", 2), ("same", 1)):
        (tmp_path / f"{name}.yaml").write_text(f"input: hello\nmetadata: {{days: {days}}}\n")
    contract = "contracts: [{name: c, type: code, assert: 'true', threshold: 0.5}]"

    def read(*files: str) -> Cerberus:
        studies = "".join(f"  - {{name: {f}, scenario: {f}.yaml, {contract}}}\n" for f in files)
        (tmp_path / "c.yaml").write_text(
            f"adapter: {{command: 'python {{{{scenario}}}}'}}\nstudies:\n{studies}"
        )
        return Cerberus.create(SuiteSpec(kind="cerberus", argument="c.yaml", root=str(tmp_path)))

    assert len(read("a", "same").scenarios()) == 2
    with pytest.raises(ProjectError, match=r"c\.yaml:4: .*the same input with other metadata"):
        read("a", "b")
