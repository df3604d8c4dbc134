"""`agentmut run --serve`: a page on loopback that only the holder of its address reads, and that can stop the run."""

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.parse import urlsplit

import pytest

from agentmut.cli.live_server import LiveServer
from agentmut.report import live_page
from tests.warm_command import AGENTMUT

pytestmark = pytest.mark.process

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
AGENT = """
import asyncio, itertools

number = itertools.count()

async def run(config, input):
    await asyncio.sleep(0.05 if next(number) < 4 else 300)  # the run lasts until it is stopped
    return "hello" if "greet" in config.prompt else "hm"
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Always greet the user. Be brief. Never lie. <img src=x onerror=alert(1)>"}
suite: {scenarios: s.yaml}
statistics: {baseline: 400}
execution: {concurrency: 2, timeout: 600}
"""
SCENARIOS = '[{name: greets, input: "hi", evaluators: [{contains: hello}]}]'


class Stops:
    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> None:
        self.asked += 1


@pytest.fixture
def stops() -> Stops:
    return Stops()


@pytest.fixture
def server(stops: Stops) -> Iterator[LiveServer]:
    with LiveServer(live_page("desk", "r1"), stops) as running:
        yield running


def asked(
    address: str, path: str = "", method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, str, dict[str, str]]:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=600)
    connection.request(method, f"{parts.path}{path}", headers=headers or {})
    reply = connection.getresponse()
    return reply.status, reply.read().decode(), dict(reply.getheaders())


def test_only_who_knows_the_address_is_answered_and_no_other_site(server: LiveServer, stops: Stops) -> None:
    server.show({"stoppable": True, "ended": False})
    assert asked(server.address, "state")[0] == 200
    assert urlsplit(server.address).hostname == "127.0.0.1"
    parts = urlsplit(server.address)
    bare = f"{parts.scheme}://{parts.netloc}"
    for path in ("/", "/state", "/wrong-token/state", f"{parts.path[:-2]}/state"):
        assert asked(bare, path)[0] == 403, path
    port = parts.port
    foreign = [{"Host": f"evil.example:{port}"}, {"Origin": "https://evil.example"}]
    foreign += [{"Origin": f"http://127.0.0.1:{port}.evil.example"}, {"Origin": "null"}]
    for headers in (*foreign, {"Sec-Fetch-Site": "cross-site"}, {"Host": f"127.0.0.1:{(port or 0) + 1}"}):
        assert asked(server.address, "state", headers=headers)[0] == 403, headers
        assert asked(server.address, "stop", "POST", headers)[0] == 403, headers
    assert asked(server.address, "stop")[0] == 404  # a link or an image stops nothing
    assert stops.asked == 0
    assert asked(server.address, "stop", "POST")[0] == 204
    assert stops.asked == 1


def test_what_is_no_http_is_quoted_nowhere(server: LiveServer, capfd: pytest.CaptureFixture[str]) -> None:
    parts = urlsplit(server.address)
    for request in (
        f"GET {parts.path} HTTP/1.1\r\nX: \x1b[31m{'secret' * 20_000}\r\n\r\n",
        "\x00\x01\x1b]0;x\x07\r\n\r\n",
    ):
        with create_connection((parts.hostname or "", parts.port or 0), timeout=600) as connection:
            connection.sendall(request.encode())
            assert connection.recv(100).startswith(b"HTTP/1.0 400")
    assert capfd.readouterr() == ("", "")


def test_its_replies_are_kept_by_nobody_and_tell_the_address_to_nobody(server: LiveServer) -> None:
    status, page, headers = asked(server.address)
    assert (status, headers["Cache-Control"], headers["Referrer-Policy"]) == (200, "no-store", "no-referrer")
    policy = unescape(page).partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; connect-src 'self'")
    assert "http" not in page.replace("http-equiv", "")


def test_nothing_is_stopped_before_the_first_trial_and_after_the_end(
    server: LiveServer, stops: Stops
) -> None:
    assert asked(server.address, "state")[0] == 503
    asked(server.address, "stop", "POST")
    server.show({"stoppable": False, "ended": True})
    asked(server.address, "stop", "POST")
    assert stops.asked == 0


def test_the_port_is_free_again_once_the_run_has_ended(stops: Stops) -> None:
    with LiveServer("", stops) as server:
        port = urlsplit(server.address).port or 0
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0


def started(folder: Path) -> tuple["subprocess.Popen[str]", str]:
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT)
    (folder / "s.yaml").write_text(SCENARIOS)
    command = subprocess.Popen(
        [*AGENTMUT, "run", "--yes", "--serve", "--json"],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert command.stderr
    for line in command.stderr:
        if line.startswith("Live page: "):
            return command, line.split()[2]
    raise AssertionError("no address was said")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_the_run_and_its_button_stops_it_as_ctrl_c_does(tmp_path: Path) -> None:
    """One run for all that a browser shows: it takes a command and a browser."""
    sync_api = pytest.importorskip("playwright.sync_api")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    command, address = started(tmp_path)
    said: list[str] = []
    urls: list[str] = []
    try:
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page: Any = browser.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("request", lambda request: urls.append(request.url))
            page.goto(address)
            page.wait_for_selector("html[data-ready]", state="attached", timeout=600_000)
            page.wait_for_function(
                "Number(document.getElementById('trials').textContent) > 0", timeout=600_000
            )
            assert page.locator("#baseline tr th").inner_text() == "greets"
            found = axe.run(page).response["violations"]
            assert [each["id"] for each in found] == []
            stop = page.get_by_role("button", name="Stop the run")
            stop.click()
            page.get_by_role("button", name="Really stop it").click()
            page.wait_for_selector(
                "html[data-gone], #state:text('has ended')", state="attached", timeout=600_000
            )
            browser.close()
        out, _ = command.communicate(timeout=600)
    finally:
        if command.poll() is None:
            command.send_signal(signal.SIGKILL)
            command.communicate()
    assert (command.returncode, json.loads(out)["status"]) == (130, "interrupted")
    assert [line for line in said if "favicon" not in line and "Failed to load" not in line] == []
    assert {urlsplit(url).netloc for url in urls} == {urlsplit(address).netloc}
