"""The in-process carrier with requests, with aiohttp, and with bare threads, against services on loopback."""

import asyncio
import importlib
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from agentmut.nouns.config import AgentConfig
from agentmut.recording.current import running
from agentmut.recording.trial import TRIAL_HEADER, Trial
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from agentmut.wire.rewriting.rewriter import ConfigRewriter

requests = importlib.import_module("requests")
aiohttp = importlib.import_module("aiohttp")

BODY = {
    "model": "sim-large",
    "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}],
}
Ask = Callable[[str, dict[str, Any]], str]


def tap() -> Any:
    return Tap(all_codecs()).installed()


def mutated(name: str = "t1") -> Trial:
    before, after = AgentConfig(prompt="Be kind."), AgentConfig(prompt="Be curt.")
    return Trial(id=name, rewriter=ConfigRewriter(before, after))


def by_requests(url: str, body: dict[str, Any]) -> str:
    with (
        requests.Session() as session,
        session.post(url, json=body, stream=bool(body.get("stream"))) as reply,
    ):
        reply.raise_for_status()
        return "\n".join(reply.iter_lines(decode_unicode=True)) if body.get("stream") else str(reply.text)


def by_aiohttp(url: str, body: dict[str, Any]) -> str:
    async def ask() -> str:
        async with (
            aiohttp.ClientSession(raise_for_status=True) as session,
            session.post(url, json=body) as reply,
        ):
            if body.get("stream"):
                return (
                    "\n".join([line.decode().rstrip("\n") async for line in reply.content]).rstrip("\n")
                    + "\n"
                )
            return str(await reply.text())

    return asyncio.run(ask())


ASKS = pytest.mark.parametrize("ask", [by_requests, by_aiohttp])


@ASKS
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_a_mutant_reaches_the_service_and_the_reply_the_agent(ask: Ask, stream: bool, service: Any) -> None:
    service.answer = lambda request: "One two three."
    url, body = f"{service.url}/chat/completions", {**BODY, "stream": stream}
    plain = ask(url, body)
    with tap(), running(mutated()) as trial:
        given = ask(url, body)
    (exchange,) = trial.recorder.exchanges
    assert given.strip() == plain.strip()
    assert exchange.request.system_text == service.requests[-1].system_text == "Be curt."
    assert (exchange.status, exchange.answered) == (200, True)
    assert exchange.reply is not None and exchange.reply.text == "One two three."
    assert service.headers[-1][TRIAL_HEADER] == "t1"
    assert trial.recorder.waiting == []


@ASKS
def test_a_refusal_is_the_agents_and_is_recorded(ask: Ask, service: Any) -> None:
    service.answer = lambda request: 429
    with tap(), running(Trial(id="t1")) as trial, pytest.raises(Exception, match="429"):
        ask(f"{service.url}/chat/completions", BODY)
    (exchange,) = trial.recorder.exchanges
    assert (exchange.status, exchange.answered) == (429, False)


@ASKS
def test_a_reply_that_the_mutant_changes_is_given_in_the_place_of_the_services(
    ask: Ask, polyglot: Any, mutant: Any
) -> None:
    polyglot.calls = ("peek",)
    tool = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {}}}
    with tap(), running(Trial(id="t1", rewriter=mutant())):
        said = json.loads(ask(f"{polyglot.origin}/v1/chat/completions", {**BODY, "tools": [tool]}))
    assert json.loads(polyglot.bodies[0])["tools"][0]["function"]["name"] == "peek"
    assert said["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"


@ASKS
def test_what_was_recorded_answers_without_the_service(ask: Ask, service: Any) -> None:
    from agentmut.nouns import Player
    from agentmut.recording.recorder import Recorder

    url = f"{service.url}/chat/completions"
    with tap():
        with running(Trial(id="t1", recorder=Recorder(takes=[]))) as trial:
            first = ask(url, BODY)
        assert trial.recorder.takes is not None
        with running(Trial(id="t1", player=Player(tuple(trial.recorder.takes)))):
            again = ask(url, BODY)
    assert again == first
    assert len(service.requests) == 1


def test_parameters_of_the_query_are_part_of_the_path(polyglot: Any) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}

    async def ask() -> str:
        url, params = f"{polyglot.origin}/v1beta/models/m:streamGenerateContent", {"alt": "sse"}
        async with aiohttp.ClientSession() as session, session.post(url, json=body, params=params) as reply:
            return str(await reply.text())

    with tap(), running(Trial(id="t1")) as trial:
        assert "promptTokenCount" in asyncio.run(ask())
    (exchange,) = trial.recorder.exchanges
    assert exchange.reply is not None and exchange.reply.text == "You said: Hi"
    assert polyglot.paths == ["/v1beta/models/m:streamGenerateContent?alt=sse"]


def test_a_reader_that_leaves_a_stream_early_leaves_its_beginning(service: Any) -> None:
    service.answer = lambda request: "One two three."
    url, body = f"{service.url}/chat/completions", {**BODY, "stream": True}

    async def ask() -> bytes:
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as reply:
            return bytes(await reply.content.readline())

    with tap(), running(mutated()) as trial:
        assert asyncio.run(ask()).startswith(b"data:")
        with requests.post(url, json=body, stream=True) as reply:
            assert next(reply.iter_lines()).startswith(b"data:")
    assert [exchange.status for exchange in trial.recorder.exchanges] == [200, 200]
    assert trial.recorder.waiting == []


@ASKS
def test_requests_outside_of_trials_are_left_alone(ask: Ask, service: Any) -> None:
    with tap():
        ask(f"{service.url}/chat/completions", BODY)
    assert TRIAL_HEADER not in service.headers[0]


def test_the_methods_are_as_before_once_the_tap_is_removed() -> None:
    owners = ((requests.Session, "send"), (aiohttp.ClientSession, "_request"), (threading.Thread, "start"))
    before = [owner.__dict__[name] for owner, name in owners]
    with tap(), tap():
        assert all(o.__dict__[n] is not b for (o, n), b in zip(owners, before, strict=True))
    assert [owner.__dict__[name] for owner, name in owners] == before


class Asker(threading.Thread):
    """A thread with a `run` of its own."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def run(self) -> None:
        by_requests(self._url, BODY)


def test_a_bare_thread_belongs_to_the_trial_that_starts_it(service: Any) -> None:
    url = f"{service.url}/chat/completions"

    async def one(name: str) -> Trial:
        with running(Trial(id=name)) as trial:
            thread, other = threading.Thread(target=by_requests, args=(url, BODY)), Asker(url)
            for started in (thread, other):
                started.start()
            await asyncio.to_thread(thread.join)
            await asyncio.to_thread(other.join)
            assert "run" not in vars(thread)
        return trial

    async def all_of_them() -> list[Trial]:
        return list(await asyncio.gather(*(one(f"t{i}") for i in range(4))))

    with tap():
        trials = asyncio.run(all_of_them())
    assert [len(trial.recorder.exchanges) for trial in trials] == [2] * 4
    assert sorted(headers[TRIAL_HEADER] for headers in service.headers) == sorted(
        ["t0", "t1", "t2", "t3"] * 2
    )


def test_a_thread_that_outlives_its_trial_is_refused_only_where_the_trial_was_cut_off(service: Any) -> None:
    url = f"{service.url}/chat/completions"

    def left_behind(*, cut_off: bool) -> list[str]:
        go, errors = threading.Event(), []

        def work() -> None:
            go.wait(600)
            try:
                by_requests(url, BODY)
            except Exception as error:
                errors.append(type(error).__name__)

        with running(Trial(id="t1")) as trial:
            thread = threading.Thread(target=work)
            thread.start()
        trial.recorder.cut_off = cut_off
        go.set()
        thread.join()
        assert trial.recorder.exchanges == []
        return errors

    with tap():
        assert left_behind(cut_off=False) == []
        assert left_behind(cut_off=True) == ["TrialOverError"]
    assert len(service.requests) == 1


def test_a_pool_that_grows_in_a_trial_gives_its_threads_to_nobody(service: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    url = f"{service.url}/chat/completions"
    with tap(), ThreadPoolExecutor(1) as pool:
        with running(Trial(id="t1")) as trial:
            pool.submit(by_requests, url, BODY).result()
        pool.submit(by_requests, url, BODY).result()
    assert len(trial.recorder.exchanges) == 1
    assert TRIAL_HEADER not in service.headers[1]


def test_wrappers_of_another_library_stay_and_see_each_call(service: Any) -> None:
    wrapt = importlib.import_module("wrapt")
    owners = ((requests.Session, "send"), (threading.Thread, "start"))
    before, seen = [owner.__dict__[name] for owner, name in owners], []

    def noting(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        seen.append(type(instance).__name__)
        return wrapped(*args, **kwargs)

    try:
        with tap(), running(Trial(id="t1")) as trial:
            for owner, name in owners:
                wrapt.wrap_function_wrapper(owner, name, noting)
            asker = Asker(f"{service.url}/chat/completions")
            asker.start()
            asker.join()
        assert seen == ["Asker", "Session"]
        assert len(trial.recorder.exchanges) == 1
        assert [owner.__dict__[name].__wrapped__ for owner, name in owners] == before
    finally:
        for (owner, name), original in zip(owners, before, strict=True):
            setattr(owner, name, original)
