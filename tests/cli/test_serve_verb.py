"""`agentmut serve`: read-only pages of projects, for whoever knows the address or whom a proxy names."""

import asyncio
import re
import shutil
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import app
from agentmut.cli.team_server import Door, TeamServer, check_door
from agentmut.cli.team_site import Site
from tests.cli.ran_project import ran

TOKEN = "a-token-of-twenty-ch"
REASON = "the place is printed on the parcel anyway"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two campaigns: the second one notices one rule and ignores the other by a committed line."""
    folder = ran(tmp_path_factory.mktemp("seen"))
    first = Site([folder]).pages()
    (unnoticed,) = re.findall(
        r"<code>(\w+)</code>", next(page("") for path, page in first.items() if "/" in path)
    )
    settings = yaml.safe_load((folder / "agentmut.yaml").read_text())
    settings["mutation"]["ignore"] = [{"mutant": unnoticed, "reason": REASON}]
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(settings))
    for command in (
        ["init", "-q"],
        ["add", "agentmut.yaml"],
        ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "Ignore it"],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    assert CliRunner().invoke(app, ["run", "--yes", "--project", str(folder)]).exit_code == 0
    assert CliRunner().invoke(app, ["test", "--yes", "--project", str(folder)]).exit_code == 0
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def pages(project: Path) -> dict[str, str]:
    return {path: page("") for path, page in Site([project]).pages().items()}


def text(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.partition("<main")[2])).split())


def test_a_project_shows_its_runs_and_scores_over_time(pages: dict[str, str], project: Path) -> None:
    home = text(pages["index.html"])
    page = pages[f"{project.name}/index.html"]
    assert project.name in home
    runs = sorted(path.name for path in (project / ".agentmut" / "runs").iterdir())
    assert len(runs) == 3 and all(run in text(page).replace("- ", "-") for run in runs)
    assert page.count("<circle") == 2  # two campaigns have a score; the test has none
    assert re.findall(r'aria-label="Mutation score of 2 runs, the latest 1.00 \[', page)


def test_survivors_are_shown_across_time(pages: dict[str, str], project: Path) -> None:
    page = pages[f"{project.name}/index.html"]
    row = text(
        page.partition('id="h-survivors"')[2]
        .partition("<tbody>")[2]
        .partition("</tr>")[0]
        .join(["<main>", ""])
    )
    assert "survived ignored" in row and "1 time" in row


def test_an_ignored_change_has_its_reason_and_who_wrote_it(pages: dict[str, str], project: Path) -> None:
    ignored = text("<main>" + pages[f"{project.name}/index.html"].partition('id="h-ignored"')[2])
    assert REASON in ignored
    assert re.search(r"Ada, \d{4}-\d\d-\d\d", ignored)


def test_two_campaigns_are_compared(pages: dict[str, str]) -> None:
    (diff,) = (page for path, page in pages.items() if "/changes/" in path)
    assert "With another status" in diff and "survived before, ignored now" in text(diff)


def test_no_link_leads_nowhere(pages: dict[str, str]) -> None:
    own = {path: page for path, page in pages.items() if "/runs/" not in path}  # a run writes its page itself
    links = [(path, link) for path, page in own.items() for link in re.findall(r'href="([^"#]+)"', page)]
    assert {path for path, _ in links} == own.keys()
    for path, link in links:
        assert str((Path("/") / Path(path).parent / link).resolve())[1:] in pages, (path, link)


def test_looking_changes_no_file_and_imports_no_code_of_the_project(tmp_path: Path, project: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    for module in copy.glob("agent_of_*.py"):
        module.write_text("raise SystemExit('imported')")
    before = files(copy)
    assert len([page("") for page in Site([copy]).pages().values()]) == 6
    assert {name: content for name, content in files(copy).items() if "store.db-" not in name} == {
        name: content for name, content in before.items() if "store.db-" not in name
    }


def test_damaged_and_odd_runs_are_listed_and_break_no_page(tmp_path: Path, project: Path) -> None:
    copy = tmp_path / "Dé <b>sk"
    shutil.copytree(project, copy)
    runs = copy / ".agentmut" / "runs"
    first = min(path for path in runs.iterdir() if (path / "result.json").is_file())
    shutil.copytree(first, runs / "odd <script> .. 'id")
    (runs / "20990101-000000").mkdir()
    (runs / "20990101-000000" / "result.json").write_text('{"a":')
    (copy / ".agentmut" / "store.db").write_text("no database")
    made = {path: page("") for path, page in Site([copy]).pages().items()}
    page = made["d-b-sk/index.html"]
    assert "damaged" in page and "20990101" in text(page) and "cannot read the store" in text(page)
    assert "<script" not in page and "<b>" not in page
    assert "d-b-sk/runs/odd__script__..__id.html" in made
    assert sum("/changes/" in path for path in made) == 3  # of three campaigns, each two


def test_a_bundle_holds_every_page_and_replaces_its_own_files_alone(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for _ in range(2):
        done = CliRunner().invoke(app, ["serve", str(project), "--bundle", str(folder)])
        assert done.stdout == f"wrote {folder / 'index.html'} and 5 further pages\n", done.output
    assert len(list(folder.rglob("*.html"))) == 6
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    refused = CliRunner().invoke(app, ["serve", str(project), "--bundle", str(tmp_path / "mine")])
    assert isinstance(refused.exception, UsageError) and "no bundle of serve" in str(refused.exception)


def served(project: Path, door: Door, work: Callable[[TeamServer, int], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        server = TeamServer(Site([project]), door)
        listening = await server.start(0)
        try:
            await work(server, listening.port)
        finally:
            await listening.runner.cleanup()

    asyncio.run(whole())


async def asked(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    def ask() -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        reply = connection.getresponse()
        return reply.status, reply.read().decode()

    return await asyncio.to_thread(ask)


def test_only_the_holder_of_the_token_reads_and_nobody_writes(project: Path) -> None:
    async def work(server: TeamServer, port: int) -> None:
        assert server.address == f"http://127.0.0.1:{port}/{TOKEN}/"
        assert (await asked(port, f"/{TOKEN}/"))[0] == 200
        assert (await asked(port, f"/{TOKEN}/{project.name}/index.html"))[0] == 200
        assert (await asked(port, f"/{TOKEN}/{project.name}/../../agentmut.yaml"))[0] == 404
        for path in ("/", "/index.html", f"/{TOKEN[:-1]}/index.html"):
            assert (await asked(port, path))[0] == 403, path
        for method in ("POST", "PUT", "DELETE"):
            assert (await asked(port, f"/{TOKEN}/", method))[0] == 405
        assert (await asked(port, f"/{TOKEN}/", Host="evil.example"))[0] == 403

    served(project, Door("127.0.0.1", TOKEN), work)


def test_a_reverse_proxy_names_the_user(project: Path) -> None:
    async def work(server: TeamServer, port: int) -> None:
        status, page = await asked(port, "/", X_Forwarded_User="Grace <b>")
        assert status == 200 and "You are Grace &lt;b&gt;." in page
        assert (await asked(port, "/"))[0] == 403
        assert (await asked(port, "/", X_Forwarded_User=" "))[0] == 403

    served(project, Door("127.0.0.1", "", "X-Forwarded-User"), work)


@pytest.mark.parametrize(
    ("door", "remote", "said"),
    [
        (Door("0.0.0.0", TOKEN), False, "Add --allow-remote to let them in"),
        (Door("0.0.0.0", "", "X-User"), True, "could set that header"),
        (Door("127.0.0.1", "short"), False, "has 5 characters"),
        (Door("127.0.0.1", "slashes/are/no/good"), False, "letters, digits"),
    ],
)
def test_a_door_that_lets_anybody_in_is_refused(door: Door, remote: bool, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        check_door(door, allow_remote=remote)


def test_a_place_without_a_project_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["serve", str(tmp_path / "nowhere")])
    assert isinstance(done.exception, UsageError) and "nowhere" in str(done.exception)


@pytest.fixture
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium, args=flags)


@pytest.mark.browser
@pytest.mark.process
def test_in_a_browser_the_pages_lead_to_each_other_and_are_accessible(
    project: Path, tmp_path: Path, browser: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    CliRunner().invoke(app, ["serve", str(project), "--bundle", str(tmp_path)])
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    assert axe.run(page).response["violations"] == []
    page.get_by_role("link", name=project.name).click()
    assert axe.run(page).response["violations"] == []
    page.get_by_role("link", name="what changed").click()
    assert axe.run(page).response["violations"] == []
    page.get_by_role("link", name=project.name).click()
    page.get_by_role("link", name=re.compile(r"^\d{8}-")).first.click()
    assert page.locator("h1").count() == 1
    assert said == []
