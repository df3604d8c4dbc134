"""`agentmut report --format`, `--output`, `--append` and `--compare`, as users call them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from agentmut.cli import main
from agentmut.nouns.mutant import Status
from agentmut.nouns.result_file import write_result
from tests.report.results import dropping, result

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two stored runs, in a folder below the working directory."""
    for run, status in (("20260101-a", Status.KILLED), ("20260102-b", Status.SURVIVED)):
        folder = tmp_path / "desk" / ".agentmut" / "runs" / run
        write_result(result(dropping("s1", "Never share notes.", status), run_id=run), folder)
    (tmp_path / "desk" / "agentmut.yaml").write_text("version: 1\n")
    monkeypatch.chdir(tmp_path)
    return Path("desk")


def report(project: Path, *options: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["report", "--project", str(project), *options])
    return int(str(ended.value.code))


def test_each_format_is_written_to_the_file_that_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for format in ("terminal", "json", "markdown", "junit", "sarif", "stryker"):
        assert report(project, "--format", format, "--output", format) == 0
    assert capsys.readouterr().out == ""
    assert Path("markdown").read_text().startswith("## agentmut")
    assert ET.parse("junit").getroot().tag == "testsuites"
    place = json.loads(Path("sarif").read_text())["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "desk/prompts/system.md"
    assert json.loads(Path("json").read_text())["run_id"] == "20260102-b"
    assert "\x1b" not in Path("terminal").read_text()


def test_append_adds_to_a_step_summary_and_output_alone_replaces(project: Path) -> None:
    summary = Path("summary.md")
    summary.write_text("before\n")
    assert report(project, "--format", "markdown", "--output", "summary.md", "--append") == 0
    assert summary.read_text().startswith("before\n## agentmut")
    assert report(project, "--format", "markdown", "--output", "summary.md") == 0
    assert summary.read_text().startswith("## agentmut")


@pytest.mark.parametrize("earlier", ["20260101", "desk/.agentmut/runs/20260101-a",
                                     "desk/.agentmut/runs/20260101-a/result.json"])  # fmt: skip
def test_compare_takes_an_id_a_folder_and_a_file(
    project: Path, earlier: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(project, "--compare", earlier, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["old"]["run_id"] == "20260101-a"
    assert [change["id"] for change in found["newly_unnoticed"]] == ["s1"]


def test_filters_narrow_what_is_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(project, "--format", "sarif", "--class", "prompt") == 0
    assert len(json.loads(capsys.readouterr().out)["runs"][0]["results"]) == 1


@pytest.mark.parametrize(
    ("pattern", "found"), [("prompt.*", 1), ("prompt", 1), ("prompt.drop_instruction", 1)]
)
def test_operators_are_chosen_by_name_class_and_pattern(
    project: Path, pattern: str, found: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(project, "--format", "sarif", "--operator", pattern) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"][0]["results"]) == found


def test_a_pattern_that_fits_no_operator_of_the_run_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(project, "--operator", "tool.*") == 2
    assert "Known: prompt.drop_instruction" in capsys.readouterr().err


@pytest.mark.process
def test_formats_that_need_no_project_do_not_load_what_reads_one(project: Path) -> None:
    """It takes 0.15 s, of 0.8 s for a report of 5,000 mutants."""
    read = (
        "import sys; from agentmut.cli import main\n"
        "try: main(['report', '--project', 'desk', '--format', 'sarif', '--output', 'out'])\n"
        "finally: print({'agentmut.project.project', 'jinja2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--format", "sarif", "--json"), "contradict"),
        (("--append",), "--output"),
        (("--compare", "20260102"), "with itself"),
        (("--compare", "20260101", "--format", "junit"), "json, markdown, terminal"),
        (("--compare", "20260101", "--class", "prompt"), "filters"),
        (("--compare", "nothing"), "nothing"),
        (("--format", "junit", "--output", "no/such/folder"), "folder that exists"),
    ],
)
def test_what_cannot_be_shown_is_an_error_that_says_what_to_do(
    project: Path, options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(project, *options) == 2
    assert said in capsys.readouterr().err
