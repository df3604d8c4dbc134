"""The HTML report in headless Chromium: filters, keyboard, deep links, accessibility, hostile text, 5,000 mutants."""

import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pytest

from agentmut.nouns.mutant import Intent, Status
from agentmut.nouns.result import Result
from agentmut.report.html import html_report
from agentmut.report.html.page import CARDS
from agentmut.report.view import Extra
from tests.report.large import large_result
from tests.report.test_html_report import KILLED, hostile, result, row
from tests.report.test_html_runs import runs, suggestion

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Visit:
    """A page, and all that it said and asked for."""

    def __init__(self, browser: "Browser", folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page: Page = browser.new_page(reduced_motion="reduce")
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, shown: Result, at: str = "", extra: Extra | None = None) -> "Page":
        path = self._folder / "report.html"
        path.write_text(html_report(shown, extra), encoding="utf-8")
        self.page.goto(path.as_uri() + at)
        self.page.wait_for_selector("html[data-ready]", state="attached")
        return self.page

    def check(self) -> None:
        """Nothing went wrong, and nothing left the page."""
        assert self.said == []
        assert [url for url in self.asked if not url.startswith("file://")] == []
        assert len({url.partition("#")[0] for url in self.asked}) == 1


@pytest.fixture
def visit(browser: "Browser", tmp_path: Path) -> Iterator[Visit]:
    here = Visit(browser, tmp_path)
    yield here
    here.check()
    here.page.close()


def campaign() -> Result:
    brittle = row("cccc0003", Status.KILLED, intent=Intent.PRESERVE, killed_by=("greeting",), changes=())
    unreached = row(
        "dddd0004", Status.NO_COVERAGE, operator="tool.remove", operator_class="tool", evidence=(), changes=()
    )
    return result(KILLED, row("aaaa0001"), brittle, unreached)


def ids(page: "Page") -> list[str]:
    return page.locator("#list tbody th").all_inner_texts()


def detail(page: "Page") -> "Locator":
    return page.get_by_role("dialog")


@pytest.mark.process
def test_filters_narrow_the_list_and_stand_in_the_address(visit: Visit) -> None:
    page = visit.open(campaign())
    assert ids(page) == ["aaaa0001", "dddd0004", "cccc0003", "bbbb0002"]
    page.locator("[name=status]").select_option("unnoticed")
    page.get_by_text("2 of 4 mutants").wait_for()
    page.locator("[name=class]").select_option("tool")
    page.get_by_text("1 of 4 mutants").wait_for()
    assert ids(page) == ["dddd0004"]
    assert page.url.endswith("#mutants?status=unnoticed&class=tool")
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("4 of 4 mutants").wait_for()
    page.get_by_label("Search").fill("60 DAYS")  # in the text of the change
    page.get_by_text("1 of 4 mutants").wait_for()
    assert ids(page) == ["bbbb0002"]


def test_a_link_opens_the_list_as_it_was_filtered(visit: Visit) -> None:
    page = visit.open(campaign(), "#mutants?scenario=greeting&q=bbbb")
    assert ids(page) == ["bbbb0002"]
    assert page.get_by_label("Tried on").input_value() == "greeting"


def test_a_link_opens_a_mutant_with_its_path_and_closing_keeps_the_filters(visit: Visit) -> None:
    page = visit.open(campaign(), "#mutant-bbbb0002?status=killed")
    assert detail(page).get_by_role("heading", name="Mutant bbbb0002").is_visible()
    assert detail(page).locator("del").inner_text() == "30"
    assert detail(page).locator("ins").inner_text() == "60"
    assert "2 of 3 trials failed; killed" in (
        detail(page).get_by_role("img", name="Path of the decision on refund").get_attribute("aria-label")
        or ""
    )
    detail(page).get_by_text("Trial by trial").click()
    outcomes = detail(page).locator("details tbody tr").all_inner_texts()
    assert [line.split("\t")[:4] for line in outcomes] == [
        ["1", "passed", "0", "-0.30"], ["2", "failed", "1", "0.90"], ["3", "failed", "2", "3.10"],
    ]  # fmt: skip
    page.keyboard.press("Escape")
    detail(page).wait_for(state="hidden")
    sync_api.expect(page).to_have_url(re.compile(r"#mutants\?status=killed$"))
    assert ids(page) == ["cccc0003", "bbbb0002"]


def test_all_of_it_can_be_done_with_the_keyboard(visit: Visit) -> None:
    page = visit.open(campaign())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_role("button", name="Runs").focus()
    page.keyboard.press("Enter")
    assert page.locator("#list [aria-sort]").get_attribute("aria-sort") == "ascending"
    assert ids(page)[0] == "bbbb0002"
    page.keyboard.press("Enter")
    assert page.locator("#list [aria-sort]").get_attribute("aria-sort") == "descending"
    first = page.locator("#list tbody a").first
    first.focus()
    page.keyboard.press("Enter")
    assert detail(page).is_visible()
    assert page.evaluate("document.activeElement.id") == "detail-title"
    detail(page).get_by_role("button", name="Close").press("Enter")
    sync_api.expect(first).to_be_focused()


def test_the_kill_matrix_tells_its_cells_and_opens_their_mutants(visit: Visit) -> None:
    page = visit.open(campaign(), "#h-matrix")
    cells = page.get_by_label("Cells of the kill matrix")
    cells.focus()
    page.keyboard.press("ArrowLeft")
    assert (
        page.locator("#matrix-says").inner_text()
        == "refund · aaaa0001 prompt.drop_instruction (survived): 1 of 11 trials failed, survived"
    )
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator("#matrix-says").inner_text().startswith("greeting · bbbb0002")
    page.keyboard.press("Enter")
    assert detail(page).get_by_role("heading", name="Mutant bbbb0002").is_visible()


def test_the_theme_follows_the_system_until_it_is_switched(visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="dark")
    page = visit.open(campaign())
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Switch to light").click()
    assert page.evaluate(background) != dark
    page.reload()
    assert page.get_by_role("button", name="Switch to dark").is_visible()


def test_a_narrow_window_never_scrolls_sideways(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 360, "height": 700})
    page = visit.open(campaign())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_script_the_summary_and_the_survivors_are_there(browser: "Browser", tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html_report(campaign()), encoding="utf-8")
    page = browser.new_page(java_script_enabled=False)
    page.goto(path.as_uri())
    assert page.get_by_role("heading", name="The suite misses 1 of 2 harmful changes").is_visible()
    assert page.locator(".card").count() == 2
    assert not page.get_by_label("Search").is_visible()
    page.close()


SCROLLED = """
() => [...document.querySelectorAll("main *")]
  .filter((one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowY))
  .filter((one) => one.scrollHeight > one.clientHeight + 1)
  .map((one) => `${one.tagName} ${one.className}`)
"""
"""What would be scrolled up and down within the page."""


def test_nothing_within_the_page_scrolls_up_and_down(visit: Visit) -> None:
    lines = "".join(f"- Rule {number}.\n" for number in range(200))
    long = row("aaaa0001", before=lines, changes=())
    source = result().sources[0]
    longer = source.model_copy(update={"text": source.text + lines})
    page = visit.open(result(KILLED, long, sources=(longer,)))
    assert page.locator(".prompt").bounding_box()["height"] > 3_000  # type: ignore[index]
    assert page.evaluate(SCROLLED) == []


WIDER = """
() => [...document.querySelectorAll("main *")]
  .filter((one) => one.getBoundingClientRect().width && !one.closest(".vh"))
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible"
    || one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`)
"""
"""What is cut at the right, or would be scrolled to."""


def test_on_paper_stand_all_unnoticed_changes_with_their_details_and_no_controls(visit: Visit) -> None:
    survivors = [row(f"aaaa{number:04}") for number in range(CARDS + 2)]
    visit.page.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins
    visit.page.emulate_media(media="print", color_scheme="dark")
    page = visit.open(result(KILLED, *survivors), "#mutant-bbbb0002")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for control in ("button:not(thead *)", "select", "input", "nav", "dialog"):
        assert page.locator(f"{control}:visible").count() == 0
    written = page.locator("#paper article")
    assert [one.split()[0] for one in page.locator("#paper article > h3").all_inner_texts()] == [
        "bbbb0002", *(one.id for one in survivors),
    ]  # fmt: skip
    assert (
        written.locator(".diff del:visible").count()
        == written.locator("figure svg:visible").count() / 2
        == 18
    )
    assert page.locator("#trust").is_visible() and page.locator("#matrix svg").is_visible()
    assert page.evaluate(WIDER) == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert written.count() == 0


def test_a_printed_page_holds_the_score_and_every_survivor(visit: Visit) -> None:
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    survivors = [row(f"aaaa{number:04}") for number in range(CARDS + 2)]
    page = visit.open(result(KILLED, *survivors))
    printed = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4")))
    lines = (each.extract_text() for each in printed.pages)
    said = normalize("NFKC", " ".join(" ".join(lines).split()))  # no ligatures
    assert "between 0.25 and 0.75 at 95 % confidence" in said
    assert all(said.count(one.id) >= 2 for one in survivors)  # with its details, and in the list
    assert said.count("1 of 11 trials failed; survived.") == len(survivors)


def test_axe_finds_nothing_serious_in_either_theme(visit: Visit) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    page = visit.open(campaign(), "#decisions")
    page.locator("#paths svg").wait_for()
    assert _serious(axe.Axe().run(page)) == []
    page.emulate_media(color_scheme="dark")
    page.goto(page.url.partition("#")[0] + "#mutant-bbbb0002")
    detail(page).wait_for()
    assert _serious(axe.Axe().run(page)) == []
    page.keyboard.press("Escape")
    assert _serious(axe.Axe().run(page, options={"runOnly": ["color-contrast"]})) == []


def _serious(found: Any) -> list[tuple[str, str]]:
    return [
        (issue["id"], node["html"])
        for issue in found.response["violations"]
        if issue["impact"] in ("serious", "critical")
        for node in issue["nodes"]
    ]


def test_runs_of_a_mutant_are_paged_one_pair_at_a_time(visit: Visit) -> None:
    page = visit.open(campaign(), "#mutant-aaaa0001", Extra(runs=(runs(further=2),)))
    shown = detail(page).locator(".pair:visible")
    assert shown.locator(".why").all_inner_texts() == ["A typical run of each"]
    assert shown.locator("del").all_inner_texts() == ["A", "on its way"]
    assert detail(page).get_by_text("Pair 1 of 3").is_visible()
    assert detail(page).get_by_role("button", name="Previous run").is_disabled()
    detail(page).get_by_role("button", name="Next run").press("Enter")
    detail(page).get_by_role("button", name="Next run").press("Enter")
    assert detail(page).get_by_text("Pair 3 of 3").is_visible()
    assert shown.get_by_role("columnheader", name="Mutant trial 9").is_visible()
    assert detail(page).get_by_role("button", name="Next run").is_disabled()
    page.keyboard.press("Escape")
    page.locator("#list").get_by_role("link", name="bbbb0002").click()
    assert detail(page).locator(".pair").count() == 0


def test_a_button_copies_the_assertion_and_says_so(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.open(campaign(), "#mutant-aaaa0001", Extra(assertions=(suggestion(),)))
    detail(page).get_by_role("button", name="Copy").click()
    detail(page).get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "- contains: hello"


def test_without_a_clipboard_the_lines_are_selected(visit: Visit) -> None:
    visit.page.add_init_script("delete Navigator.prototype.clipboard")
    page = visit.open(campaign(), "#mutant-aaaa0001", Extra(assertions=(suggestion(),)))
    detail(page).get_by_role("button", name="Copy").click()
    assert page.evaluate("getSelection().toString()") == "- contains: hello"
    assert detail(page).get_by_role("button", name="Selected: copy it").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_runs_side_by_side(visit: Visit, scheme: Any) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open(campaign(), "#mutant-aaaa0001", Extra(runs=(runs(),), assertions=(suggestion(),)))
    detail(page).locator(".pair:visible").wait_for()
    assert _serious(axe.Axe().run(page)) == []


def test_hostile_text_runs_nothing_and_loads_nothing(visit: Visit) -> None:
    page = visit.open(hostile())
    page.locator("#list tbody a").first.click()
    assert detail(page).is_visible()
    assert "<script>alert(1)</script>" in detail(page).inner_text()
    assert page.locator("img").count() == 0
    page.keyboard.press("Escape")
    page.locator("#matrix").scroll_into_view_if_needed()
    page.locator("#matrix svg").wait_for()


def test_five_thousand_mutants_stay_usable(visit: Visit) -> None:
    large = large_result()
    page = visit.open(large)
    assert (Path(page.url.removeprefix("file://"))).stat().st_size < 10_000_000
    page.get_by_label("Search").fill("00000007")
    page.get_by_text("1 of 5,000 mutants").wait_for()
    assert ids(page) == ["00000007"]
    page.locator("#matrix").scroll_into_view_if_needed()
    page.locator("#matrix svg").wait_for()
