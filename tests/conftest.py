"""Model services on loopback: the real simulator, and one that answers as a test says. Commands that start quickly."""

import asyncio
import gc
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import certifi
import hypothesis
import hypothesis.internal.conjecture.providers
import pytest
from aiohttp import web

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.messages import ModelReply, ModelRequest, ToolCall
from agentmut.nouns.trace import Usage
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from tests.loopback import served

# The same examples in every run: a change is judged by what it changes. `--hypothesis-profile=default` tries others.
# No example has a deadline: on a busy machine any of them waits for 200 ms.
hypothesis.settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("repeatable")

CODEC = ChatCompletions()

END_OF_CERTIFICATE = "-----END CERTIFICATE-----\n"

gc.disable()  # what is imported while tests are collected stays; to look at it all again and again takes seconds


LONG = tuple(
    line
    for line in Path(__file__).with_name("long.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of `long.txt`."""
    for item in items:
        if item.nodeid.startswith(LONG):
            item.add_marker(pytest.mark.long)


def pytest_collection_finish() -> None:
    """From here on only what tests make is looked at, not the modules of all frameworks."""
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """HTTP clients know one certificate: all of them take 25 ms a client, and tests only talk to loopback.

    Hypothesis does not look for constants in the project's source.
    """
    folder = tempfile.TemporaryDirectory()
    known = Path(folder.name) / "one.pem"
    first, end, _ = Path(certifi.where()).read_text("utf-8").partition(END_OF_CERTIFICATE)
    known.write_text(first + end, "utf-8")
    environment = pytest.MonkeyPatch()
    environment.setenv("SSL_CERT_FILE", str(known))
    # Hypothesis would read all of the project's source for constants to try: seconds in each worker, and what it tries
    # would depend on the modules that tests before it have imported.
    environment.setattr(hypothesis.internal.conjecture.providers, "is_local_module_file", lambda path: False)
    config.add_cleanup(environment.undo)
    config.add_cleanup(folder.cleanup)


@pytest.fixture(autouse=True)
def _own_logging_only() -> Iterator[None]:
    """A framework may change the level and the handlers of all logs; the next test has them as before."""
    level, handlers = logging.root.level, list(logging.root.handlers)
    yield
    logging.root.setLevel(level)
    for added in [handler for handler in logging.root.handlers if handler not in handlers]:
        logging.root.removeHandler(added)


@pytest.fixture(autouse=True)
def _own_modules_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A module that a test wrote is not found by the next test that writes one of the same name."""
    path, last = list(sys.path), next(reversed(sys.modules))
    yield
    if sys.path != path:
        sys.path[:] = path
        last = ""
    written = str(tmp_path_factory.getbasetemp())
    new = list(takewhile(lambda name: name != last, reversed(sys.modules)))  # they stand at the end
    for name in new:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(written):
            del sys.modules[name]


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture(scope="session")
def loop_thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.stop()


@pytest.fixture(scope="session")
def simulator_url(loop_thread: LoopThread) -> Iterator[str]:
    from agentmut.simulator.service.server import serve

    serving = serve()
    yield loop_thread.run(serving.__aenter__())
    loop_thread.run(serving.__aexit__(None, None, None))


@dataclass
class Service:
    """A model service whose answers a test writes; `answer` gives a reply, text, or an HTTP status."""

    url: str = ""
    requests: list[ModelRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answer: Callable[[ModelRequest], Any] = lambda request: "Hello."
    silent: bool = False

    def replies(self, *script: Any) -> None:
        """Answer one after the other; the last one again and again."""
        waiting = list(script)
        self.answer = lambda request: waiting.pop(0) if len(waiting) > 1 else waiting[0]

    async def handle(self, http: web.Request) -> web.StreamResponse:
        body = await http.read()
        request = CODEC.decode_request(HttpCall("", body))
        self.requests.append(request)
        self.headers.append({name.lower(): value for name, value in http.headers.items()})
        answer: Any = self.answer(request)
        if isinstance(answer, Awaitable):
            answer = await answer
        if answer == "silence":
            await asyncio.sleep(20)
        if isinstance(answer, int):
            error = CODEC.encode_error(answer, "said the test", "test")
            return web.Response(status=answer, body=error, content_type="application/json")
        if isinstance(answer, bytes):
            return web.Response(body=answer, content_type="application/json")
        reply = said(answer) if isinstance(answer, str) else answer
        encoded = CODEC.encode_reply(reply, reply_id="chatcmpl-1", stream=request.stream)
        kind = "text/event-stream" if request.stream else "application/json"
        return web.Response(body=encoded, content_type=kind, charset="utf-8")


def said(text: str) -> ModelReply:
    return ModelReply(model="sim-large", text=text, usage=Usage(input_tokens=7, output_tokens=3))


@pytest.fixture(scope="session")
def calls() -> Callable[..., ModelReply]:
    """`calls(("tool", '{"a": 1}'), ...)`: a reply that calls these tools at once."""

    def reply(*tools: tuple[str, str], prefix: str = "call") -> ModelReply:
        made = tuple(ToolCall(id=f"{prefix}_{i}", name=n, arguments=a) for i, (n, a) in enumerate(tools))
        usage = Usage(input_tokens=7, output_tokens=3)
        return ModelReply(model="sim-large", tool_calls=made, finish_reason="tool_calls", usage=usage)

    return reply


@pytest.fixture
def service(loop_thread: LoopThread) -> Iterator[Service]:
    found = Service()

    with served(loop_thread, {"/v1/chat/completions": found.handle}) as address:
        found.url = f"{address}/v1"
        yield found


@pytest.fixture(scope="session")
def warm() -> None:
    """Commands are forked from a process that has imported everything, one for all workers: testdata/warm_cli.py."""
    owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    folder = (
        Path(tempfile.gettempdir())
        / f"agentmut-warm-{os.environ.get('PYTEST_XDIST_TESTRUNUID', '')[:12]}-{owner}"
    )
    os.environ["AGENTMUT_WARM"] = str(folder / "s")  # a socket's path must be short
    try:
        folder.mkdir()
    except FileExistsError:  # by another worker
        return
    root = Path(__file__).parents[1]
    program = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    path = str(root / "tests" / "testdata" / "warm_cli.py")
    with (folder / "log").open("w") as log:
        subprocess.Popen(
            [sys.executable, "-c", program, path, "--fork-for", str(folder / "s"), str(owner)],
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
