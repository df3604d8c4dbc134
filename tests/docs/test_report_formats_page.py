"""docs/report-formats.md: each command runs as it is written, and each status is mapped as the page says."""

import re
import shlex
from pathlib import Path

import pytest

from agentmut.cli import main
from agentmut.nouns.mutant import Status
from agentmut.nouns.result_file import write_result
from agentmut.report.files.junit import ending
from agentmut.report.files.stryker import status_of
from tests.report.results import result, row

PAGE = (Path(__file__).parents[2] / "docs" / "report-formats.md").read_text(encoding="utf-8")


def test_the_commands_shown_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, run, status in (
        ("main", "20260101-120000", Status.KILLED),
        ("desk", "20260101-120000", Status.KILLED),
        ("desk", "20260102-120000", Status.SURVIVED),
    ):
        write_result(result(row("s1", status), run_id=run), tmp_path / folder / ".agentmut" / "runs" / run)
    monkeypatch.chdir(tmp_path / "desk")
    commands = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)).splitlines()
    assert len(commands) == 12
    for command in commands:
        words = shlex.split(command.replace("$GITHUB_STEP_SUMMARY", "summary.md"), comments=True)
        with pytest.raises(SystemExit) as ended:
            main(words[1:])
        assert ended.value.code == 0, command
    assert {path.suffix for path in Path.cwd().glob("*.*")} == {
        ".md",
        ".xml",
        ".sarif",
        ".json",
        ".html",
        ".csv",
        "",
    }


def test_every_status_is_mapped_as_the_page_says() -> None:
    tables = {}
    for name in ("JUnit XML", "mutation-testing-elements"):
        section = PAGE.partition(f"## {name}")[2].partition("\n## ")[0]
        tables[name] = re.findall(r"^\| ([a-z, ]+?) \| (.*?) \|$", section, re.MULTILINE)
    for status in Status:
        shown = status.value.replace("_", " ")
        mutant = row("m", status)
        junit = next(said for names, said in tables["JUnit XML"] if shown in names.split(", "))
        found = ending(mutant)
        assert junit.startswith(found.tag if found else "passed")
        stryker = next(
            said for names, said in tables["mutation-testing-elements"] if shown in names.split(", ")
        )
        assert f"`{status_of(mutant)[0]}`" in stryker
