"""`agentmut report --bundle DIR`: a static folder with a page for each mutant, whose links lead somewhere."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import app
from tests.cli.ran_project import ran


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(tmp_path_factory.mktemp("bundled"))


def bundle(project: Path, folder: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["report", "--bundle", str(folder), "--project", str(project), *options])
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_folder_holds_a_page_for_each_mutant_with_all_its_runs(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site" / "agent"
    said = bundle(project, folder)
    assert said == f"wrote {folder / 'index.html'} and 2 pages of mutants\n"
    listed = json.loads((folder / "bundle.json").read_text())
    assert files(folder) == ["bundle.json", *listed["files"]]
    for page in (folder / "mutants").iterdir():
        text = page.read_text()
        shown, stored = re.findall(r"(\d+) of the (\d+) stored runs of the mutant", text)[0]
        assert shown == stored and int(stored) == text.count('<section class="pair"')
        assert text.count("<script>") == 1 and "unsafe" not in text


def test_links_between_the_pages_lead_somewhere(project: Path, tmp_path: Path) -> None:
    bundle(project, tmp_path)
    index = (tmp_path / "index.html").read_text()
    links = re.findall(r'href="(mutants/[^"]+)"', index)
    assert len(links) == 2 and all((tmp_path / link).is_file() for link in links)
    for link in links:
        back = re.findall(r'href="(\.\./[^"#]+)#mutant-(\w+)"', (tmp_path / link).read_text())
        assert back == [("../index.html", Path(link).stem)]


def test_a_new_bundle_takes_the_place_of_an_earlier_one(project: Path, tmp_path: Path) -> None:
    bundle(project, tmp_path)
    (tmp_path / "mutants" / "old.html").write_text("of an earlier run")
    mutant = sorted((tmp_path / "mutants").glob("*.html"))[0].stem
    bundle(project, tmp_path, "--mutant", mutant)
    assert files(tmp_path) == ["bundle.json", "index.html", f"mutants/{mutant}.html"]


def test_a_folder_with_files_of_a_user_is_left_as_it_is(project: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"no bundle\.json, so it is no bundle"):
        bundle(project, tmp_path)
    assert files(tmp_path) == ["notes.txt"]


def test_a_path_that_is_a_file_is_an_error(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot be written: .*Name a folder that can be made"):
        bundle(project, tmp_path / "file")


@pytest.mark.parametrize(
    "options", [["--json"], ["--format", "junit"], ["--output", "x"], ["--compare", "x"]]
)
def test_options_for_one_document_do_not_go_with_a_folder(
    project: Path, tmp_path: Path, options: list[str]
) -> None:
    with pytest.raises(UsageError, match="--bundle writes HTML into a folder"):
        bundle(project, tmp_path, *options)


@pytest.mark.browser
@pytest.mark.process
def test_in_a_browser_the_page_of_a_mutant_pages_its_runs_and_leads_back(
    project: Path, tmp_path: Path
) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    bundle(project, tmp_path)
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=flags).new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((tmp_path / "index.html").as_uri())
        page.locator(".card a").first.click()
        page.get_by_role("link", name="All stored runs of this mutant").click()
        page.get_by_role("button", name="Next run").click()
        assert page.locator(".pair:visible").count() == 1
        assert page.get_by_text(re.compile(r"Pair 2 of \d+")).is_visible()
        assert _serious(axe.Axe().run(page)) == []
        page.locator(".over a").click()
        page.get_by_role("dialog").wait_for()
        assert said == []


def _serious(found: Any) -> list[str]:
    worst = [each for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
    return [each["id"] for each in worst]
