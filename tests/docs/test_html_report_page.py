"""What docs/report-html.md says of the page is so: its command, its parts, its links."""

import re
import shutil
import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut.nouns.result_file import write_result
from benchmarks.screenshot import HEIGHT, WIDTH, take
from tests.report.test_html_report import result

PAGE = (Path(__file__).parents[2] / "docs" / "report-html.md").read_text()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    from agentmut.cli import app

    folder = tmp_path_factory.mktemp("project")
    (folder / "agentmut.yaml").write_text("version: 1\n")
    write_result(result(), folder / ".agentmut" / "runs" / "20260101-000000-abcd")
    (command,) = re.findall(r"```bash\nagentmut (.*)\n```", PAGE)
    words = [str(folder / word) if word == "report.html" else word for word in command.split()]
    done = CliRunner().invoke(app, [*words, "--project", str(folder)])
    assert done.exit_code == 0, done.output
    return (folder / "report.html").read_text()


def test_the_command_writes_the_page(written: str) -> None:
    assert written.startswith("<!DOCTYPE html>")


def test_every_part_that_is_explained_is_a_part_of_the_page(written: str) -> None:
    explained = re.findall(r"^\| ([A-Z][\w ]+) \|", PAGE, re.MULTILINE)
    links = re.findall(r'<li><a href="#\w+">([\w ]+)</a></li>', written)
    assert set(links) == set(explained) - {"Headline", "Kill matrix"}


def test_the_names_in_links_are_those_of_the_filters(written: str) -> None:
    said = PAGE[PAGE.index("The names are") :]
    names = re.findall(r"`(\w+)`", said[: said.index(".\n")])
    form = written[written.index('<form id="filters"') : written.index("</form>")]
    assert names == re.findall(r'name="(\w+)"', form)


@pytest.mark.browser
def test_the_picture_of_the_page_is_taken_by_a_command_in_the_size_that_the_docs_show(
    written: str, tmp_path: Path
) -> None:
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("no Chromium on this machine")
    pytest.importorskip("playwright.sync_api")
    (tmp_path / "report.html").write_text(written)
    take(tmp_path / "report.html", tmp_path / "taken.png")
    shown = (Path(__file__).parents[2] / "docs" / "images" / "report-html.png").read_bytes()
    taken = (tmp_path / "taken.png").read_bytes()
    assert struct.unpack(">II", taken[16:24]) == struct.unpack(">II", shown[16:24]) == (WIDTH, HEIGHT)
    assert len(taken) > 10_000  # no empty page
