"""agentmut's hooks beside wrappers of other libraries: whoever comes first, both work, and nothing is left behind."""

import asyncio
import importlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

BODY = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
REQUESTS = 5
"""By each of the four kinds of clients, and one in a pool of threads."""
LIBRARIES = tuple(map(importlib.import_module, ("httpx", "httpx2")))
METHODS: tuple[tuple[Any, str], ...] = (
    (ThreadPoolExecutor, "submit"),
    *((getattr(library, kind), "send") for library in LIBRARIES for kind in ("Client", "AsyncClient")),
)


class Wrapping:
    """Another library that wraps the same methods, and takes its wrappers away in the usual manner."""

    def __init__(self) -> None:
        self.instances: list[Any] = []

    def begin(self) -> None:
        import wrapt

        for owner, name in METHODS:
            wrapt.wrap_function_wrapper(owner, name, self._wrapper)

    def end(self) -> None:
        for owner, name in METHODS:
            setattr(owner, name, getattr(owner, name).__wrapped__)

    def _wrapper(self, wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        self.instances.append(instance)
        return wrapped(*args, **kwargs)

    def check(self) -> None:
        assert None not in self.instances
        assert len(self.instances) >= REQUESTS


class OpenTelemetry:
    """Its instrumentation of threads and of httpx."""

    def __init__(self) -> None:
        of = "opentelemetry.instrumentation"
        self._parts = (
            pytest.importorskip(f"{of}.threading").ThreadingInstrumentor(),
            pytest.importorskip(f"{of}.httpx").HTTPXClientInstrumentor(),
        )

    def begin(self) -> None:
        for part in self._parts:
            part.instrument()

    def end(self) -> None:
        for part in self._parts:
            part.uninstrument()

    def check(self) -> None:
        """Nothing to see: that its wrappers were called with their instances shows in that they did not raise."""


@pytest.fixture(params=[Wrapping, OpenTelemetry])
def other(request: pytest.FixtureRequest) -> Iterator[Any]:
    before = _methods()
    made = request.param()
    yield made
    for (owner, name), method in zip(METHODS, before, strict=True):
        setattr(owner, name, method)


def tap() -> Any:
    return Tap((ChatCompletions(),)).installed()


def ask(url: str) -> None:
    for library in LIBRARIES:
        with library.Client() as client:
            client.post(url, json=BODY).raise_for_status()
        asyncio.run(_ask_async(library, url))


async def _ask_async(library: Any, url: str) -> None:
    async with library.AsyncClient() as client:
        (await client.post(url, json=BODY)).raise_for_status()


def ask_in_a_pool(url: str) -> None:
    with ThreadPoolExecutor(1) as pool, LIBRARIES[0].Client() as client:
        pool.submit(client.post, url, json=BODY).result().raise_for_status()


def seen(url: str) -> int:
    """How many of the requests of a trial are seen."""
    with running(Trial("t")) as trial:
        ask(url)
        ask_in_a_pool(url)
    return len(trial.recorder.exchanges)


def _methods() -> tuple[Any, ...]:
    return tuple(vars(owner)[name] for owner, name in METHODS)


Steps = Callable[[Any, str], None]


def they_come_first_and_stay(other: Any, url: str) -> None:
    other.begin()
    theirs = _methods()
    with tap():
        assert seen(url) == REQUESTS
    assert all(now is before for now, before in zip(_methods(), theirs, strict=True))
    other.end()


def they_come_first_and_leave_meanwhile(other: Any, url: str) -> None:
    other.begin()
    with tap():
        assert seen(url) == REQUESTS
        other.end()
        assert seen(url) == REQUESTS


def they_come_meanwhile_and_stay(other: Any, url: str) -> None:
    with tap():
        other.begin()
        assert seen(url) == REQUESTS
    ask(url)
    ask_in_a_pool(url)
    other.end()


def they_come_and_leave_meanwhile(other: Any, url: str) -> None:
    with tap():
        other.begin()
        assert seen(url) == REQUESTS
        other.end()
        assert seen(url) == REQUESTS


@pytest.mark.parametrize(
    "steps",
    [
        they_come_first_and_stay,
        they_come_first_and_leave_meanwhile,
        they_come_meanwhile_and_stay,
        they_come_and_leave_meanwhile,
    ],
)
def test_both_work_in_any_order_and_everything_is_as_before(steps: Steps, other: Any, service: Any) -> None:
    before = _methods()
    steps(other, f"{service.url}/chat/completions")
    other.check()
    assert all(now is then for now, then in zip(_methods(), before, strict=True))


def test_a_replacement_that_was_closed_over_goes_once_it_is_on_top(service: Any) -> None:
    client: Any = LIBRARIES[0].Client
    original = vars(client)["send"]
    url = f"{service.url}/chat/completions"
    try:
        with tap():
            hidden = client.send
            client.send = lambda *args, **options: hidden(*args, **options)  # noqa: PLW0108  (a wrapper)
        client.send = hidden  # as Sentry's wrapper would be taken away
        ask(url)
        assert vars(client)["send"] is original
    finally:
        client.send = original


def test_a_thread_runs_where_another_library_calls_the_function_of_its_run(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sentry's integration of threads takes `run.__func__` and gives the thread to it."""
    start, ran = threading.Thread.start, []

    def starting(thread: Any) -> None:
        function = getattr(thread.run, "__func__", thread.run)

        def run(*given: Any) -> None:
            ran.append(thread)
            function(thread, *given)

        thread.run = run
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starting)
    trial = Trial("t")
    with Tap((ChatCompletions(),)).installed(), running(trial):
        url = f"{service.url}/chat/completions"
        thread = threading.Thread(target=LIBRARIES[0].post, args=(url,), kwargs={"json": BODY})
        thread.start()
        thread.join()
    assert ran == [thread] and len(trial.recorder.exchanges) == 1
