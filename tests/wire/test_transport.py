"""The in-process carrier, with the real clients against services on loopback."""

import asyncio
import contextvars
import gzip
import importlib
import json
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from agentmut.nouns.footprints import footprint
from agentmut.recording.current import TrialOverError, running
from agentmut.recording.trial import TRIAL_HEADER, Trial
from agentmut.wire.carriers.throttle import Throttle
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.steps import steps_from_exchanges

BODY = {"model": "sim-large", "messages": [{"role": "user", "content": "Hi"}]}
LIBRARIES = ("httpx", "httpx2")


def tap(throttle: Throttle | None = None) -> Any:
    return Tap((ChatCompletions(),), throttle).installed()


def post(library: str, url: str, *, sync: bool, **options: Any) -> Any:
    module = importlib.import_module(library)
    if sync:
        with (module.Session if library == "requests" else module.Client)() as client:
            return client.post(url, **options)

    async def send() -> Any:
        async with module.AsyncClient() as client:
            return await client.post(url, **options)

    return asyncio.run(send())


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_request_of_a_trial_is_seen_with_its_reply(library: str, sync: bool, service: Any) -> None:
    with tap(), running(Trial(id="t1")) as trial:
        response = post(library, f"{service.url}/chat/completions", sync=sync, json=BODY)
    (exchange,) = trial.recorder.exchanges
    assert response.json()["choices"][0]["message"]["content"] == "Hello."
    assert (exchange.status, exchange.request.model) == (200, "sim-large")
    assert exchange.reply is not None
    assert (exchange.reply.text, exchange.reply.usage.total) == ("Hello.", 10)
    assert exchange.seconds > 0
    assert trial.recorder.waiting == []
    assert service.headers[0][TRIAL_HEADER] == "t1"


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_only_loopback_hosts_are_told_the_trial(library: str, sync: bool) -> None:
    module = importlib.import_module(library)
    seen: list[Any] = []

    def answer(request: Any) -> Any:
        seen.append(request)
        return module.Response(200, json={})

    def call(url: str) -> None:
        transport = module.MockTransport(answer)  # the library's own, so that nothing leaves the machine
        if sync:
            module.Client(transport=transport).post(url, json=BODY)
        else:
            asyncio.run(module.AsyncClient(transport=transport).post(url, json=BODY))

    with tap(), running(Trial(id="t1")):
        for host in (
            "api.openai.com",
            "10.0.0.1",
            "127.0.0.1.example.com",
            "localhost",
            "127.0.0.2",
            "[::1]",
        ):
            call(f"http://{host}/v1/chat/completions")
    told = [TRIAL_HEADER in request.headers for request in seen]
    assert told == [False, False, False, True, True, True]


def test_the_clients_are_as_before_once_the_tap_is_removed() -> None:
    clients = [
        getattr(importlib.import_module(lib), c) for lib in LIBRARIES for c in ("Client", "AsyncClient")
    ]
    before = [client.__dict__["send"] for client in clients]
    with tap(), tap():
        assert all(c.__dict__["send"] is not b for c, b in zip(clients, before, strict=True))
    with pytest.raises(RuntimeError), tap():
        raise RuntimeError
    assert [client.__dict__["send"] for client in clients] == before


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
def test_nested_taps_see_a_request_once(sync: bool, service: Any) -> None:
    with tap(), tap(), running(Trial(id="t1")) as trial:
        for _ in range(2):
            post("httpx", f"{service.url}/chat/completions", sync=sync, json=BODY)
    assert len(trial.recorder.exchanges) == 2


def test_requests_outside_of_trials_and_to_other_paths_are_left_alone(service: Any) -> None:
    with tap():
        post("httpx2", f"{service.url}/chat/completions", sync=False, json=BODY)
        with running(Trial(id="t1")) as trial:
            post("httpx2", f"{service.url}/embeddings", sync=False, json=BODY)
    assert trial.recorder.exchanges == []
    assert TRIAL_HEADER not in service.headers[0]


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_trial_that_is_over_sends_nothing_more(library: str, sync: bool, service: Any) -> None:
    with tap():
        with running(Trial(id="t1")):
            left_behind = contextvars.copy_context()
        with pytest.raises(TrialOverError, match="t1 is over"):
            left_behind.run(post, library, f"{service.url}/chat/completions", sync=sync, json=BODY)
    assert service.requests == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_streamed_replies_arrive_unharmed(library: str, service: Any) -> None:
    module = importlib.import_module(library)
    service.answer = lambda request: "One two three."
    url, body = f"{service.url}/chat/completions", {**BODY, "stream": True}

    async def stream() -> list[str]:
        async with module.AsyncClient() as client, client.stream("POST", url, json=body) as response:
            return [line async for line in response.aiter_lines() if line]

    plain = asyncio.run(stream())
    with tap(), running(Trial(id="t1")) as trial:
        assert asyncio.run(stream()) == plain
        with module.Client() as client, client.stream("POST", url, json=body) as response:
            assert [line for line in response.iter_lines() if line] == plain
    assert len(plain) > 2
    assert [(e.status, e.answered) for e in trial.recorder.exchanges] == [(200, True)] * 2
    assert trial.recorder.waiting == []


def test_bodies_that_cannot_be_read_pass_through(service: Any) -> None:
    url = f"{service.url}/chat/completions"
    service.answer = lambda request: b"not a completion"
    with tap(), running(Trial(id="t1")) as trial:
        assert post("httpx", url, sync=True, content=b"not JSON").status_code == 500  # the service's verdict
        assert post("httpx", url, sync=True, json=BODY).content == b"not a completion"
    (exchange,) = trial.recorder.exchanges
    assert (exchange.reply, exchange.error, exchange.answered) == (None, "the reply is not JSON", False)


def test_refusals_and_dead_endpoints_are_recorded(service: Any) -> None:
    service.answer = lambda request: 429
    with tap(), running(Trial(id="t1")) as trial:
        post("httpx", f"{service.url}/chat/completions", sync=True, json=BODY)
        with pytest.raises(importlib.import_module("httpx2").ConnectError):
            post("httpx2", "http://127.0.0.1:9/v1/chat/completions", sync=False, json=BODY)
    refused, dead = trial.recorder.exchanges
    assert (refused.status, refused.answered) == (429, False)
    assert (dead.status, dead.answered) == (None, False)
    assert dead.error is not None
    assert dead.error.startswith("ConnectError")


def test_concurrent_trials_each_see_their_own_requests(service: Any) -> None:
    httpx2 = importlib.import_module("httpx2")
    url = f"{service.url}/chat/completions"

    def in_thread(client: Any, body: Any) -> None:
        client.post(url, json=body)

    async def one(number: int) -> Trial:
        body = {**BODY, "messages": [{"role": "user", "content": f"I am {number}"}]}
        with running(Trial(id=f"t{number}")) as trial:
            async with httpx2.AsyncClient() as client:
                await client.post(url, json=body)
            with httpx2.Client() as blocking:
                await asyncio.to_thread(in_thread, blocking, body)
        return trial

    async def everything() -> list[Trial]:
        return await asyncio.gather(*(one(number) for number in range(24)))

    with tap():
        trials = asyncio.run(everything())
    for number, trial in enumerate(trials):
        texts = [exchange.request.messages[0].text for exchange in trial.recorder.exchanges]
        assert texts == [f"I am {number}"] * 2
    told = {
        h[TRIAL_HEADER]: r.messages[0].text for h, r in zip(service.headers, service.requests, strict=True)
    }
    assert told == {f"t{number}": f"I am {number}" for number in range(24)}


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
def test_the_rate_limit_spaces_requests_and_says_how_long_it_held_them(sync: bool, service: Any) -> None:
    url = f"{service.url}/chat/completions"
    throttle = Throttle(per_minute=600, clock=lambda: 0.0)  # no time passes but what it imposes
    started = time.monotonic()
    with tap(throttle), running(Trial(id="t1")) as trial:
        for _ in range(3):
            post("httpx", url, sync=sync, json=BODY)
    assert trial.recorder.held == pytest.approx(0.1 + 0.2)
    assert time.monotonic() - started > 0.3
    assert trial.recorder.exchanges[-1].started > 0.3  # waiting is not part of the exchange


@pytest.mark.parametrize(("library", "sync"), [("httpx", True), ("httpx", False), ("requests", True)])
def test_a_limit_of_one_service_holds_no_other_up(library: str, sync: bool, service: Any) -> None:
    url = f"{service.url}/chat/completions"
    host = str(urlsplit(url).hostname)
    held = {}
    for limited in (host, "api.openai.com"):
        with tap(Throttle({limited: 6000.0}, clock=lambda: 0.0)), running(Trial(id="t1")) as trial:
            for _ in range(3):
                post(library, url, sync=sync, json=BODY)
        held[limited] = trial.recorder.held
    assert held == {host: pytest.approx(0.01 + 0.02), "api.openai.com": 0.0}


def test_parallel_requests_are_counted_without_loss() -> None:
    recorder = Trial(id="t").recorder

    def work() -> None:
        for _ in range(20_000):
            recorder.request_left(1.0)
            recorder.settled(1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recorder.waiting == []


def test_a_footprint_keeps_one_shape_for_all_turns_with_the_same_fixed_part(service: Any, calls: Any) -> None:
    url = f"{service.url}/chat/completions"
    service.replies(calls(("look", '{"id": 1}'), ("look", '{"id": 2}')), "Done.")
    first = BODY["messages"]
    answered = [
        *first,
        {"role": "assistant", "content": None},
        {"role": "tool", "tool_call_id": "call_1", "content": "two"},
        {"role": "tool", "tool_call_id": "call_0", "content": "one"},
    ]
    with tap(), running(Trial(id="t1")) as trial:
        post("httpx", url, sync=True, json=BODY)
        post("httpx", url, sync=True, json={**BODY, "messages": answered})
    seen = footprint(trial.recorder.exchanges)
    assert [shape.text for shape in seen.requests] == ["Hi"]
    assert type(seen).model_validate_json(seen.model_dump_json()) == seen
    steps = steps_from_exchanges(trial.recorder.exchanges, with_tools=True)
    assert [(s.tool, s.arguments, s.output) for s in steps if s.tool] == [
        ("look", {"id": 1}, "one"),
        ("look", {"id": 2}, "two"),
    ]
    assert [step.usage.total for step in steps if not step.tool] == [10, 10]


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_body_that_was_to_be_sent_in_pieces_has_one_length(library: str, service: Any) -> None:
    module = importlib.import_module(library)
    body = json.dumps({"model": "sim-large", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    trial = Trial("t")
    with tap(), running(trial), module.Client() as client:
        response = client.post(f"{service.url}/chat/completions", content=iter([body[:3], body[3:]]))
        assert response.status_code == 200
        again = client.send(response.request)
    assert again.status_code == 200
    assert [exchange.status for exchange in trial.recorder.exchanges] == [200, 200]


def test_a_reply_that_a_transport_made_as_a_whole_can_be_asked_for_as_a_stream() -> None:
    httpx = importlib.import_module("httpx")
    made = httpx.MockTransport(lambda request: httpx.Response(200, json={}))
    with (
        tap(),
        running(Trial("t")),
        httpx.Client(transport=made) as client,
        client.stream("POST", "http://m.invalid/v1/chat/completions", json={}) as response,
    ):
        assert response.read() == b"{}"


def test_a_request_that_is_packed_is_seen_unpacked() -> None:
    httpx = importlib.import_module("httpx")
    sent = []

    def answer(request: Any) -> Any:
        sent.append(request)
        return httpx.Response(200, json={})

    with tap(), running(Trial("t")) as trial, httpx.Client(transport=httpx.MockTransport(answer)) as client:
        packed = gzip.compress(json.dumps(BODY).encode())
        url = "http://m.invalid/v1/chat/completions"
        client.post(url, content=packed, headers={"content-encoding": "gzip"})
    assert [exchange.request.model for exchange in trial.recorder.exchanges] == ["sim-large"]
    assert json.loads(sent[0].content) == BODY
    assert "content-encoding" not in sent[0].headers
