"""Methods replaced by several sessions, and by other libraries meanwhile."""

import asyncio
import functools
import importlib
import inspect
from contextlib import ExitStack
from typing import Any

from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.patching import replaced
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions


class Client:
    def send(self, said: str) -> str:
        return said

    async def send_async(self, said: str) -> str:
        return said


def adding(mark: str) -> Any:
    def wrap(original: Any) -> Any:
        return lambda client, said: original(client, said) + mark

    return wrap


def test_sessions_that_end_in_another_order_than_they_began_leave_nothing_behind() -> None:
    original = Client.__dict__["send"]
    first, second = ExitStack(), ExitStack()
    first.enter_context(replaced(Client, "send", adding("a")))
    second.enter_context(replaced(Client, "send", adding("b")))
    assert Client().send("-") == "-ab"
    first.close()
    assert Client().send("-") == "-b"
    second.close()
    assert Client.__dict__["send"] is original


def test_a_library_that_wraps_the_method_meanwhile_keeps_its_wrapper() -> None:
    owner: Any = Client
    original = Client.__dict__["send"]
    try:
        with replaced(Client, "send", adding("a")):
            ours = Client.__dict__["send"]
            theirs = functools.wraps(ours)(lambda client, said: ours(client, said) + "t")
            owner.send = theirs
            assert Client().send("-") == "-at"
        assert Client().send("-") == "-t"
        with replaced(Client, "send", adding("b")):
            assert Client().send("-") == "-tb"
        assert Client.__dict__["send"] is theirs
    finally:
        owner.send = original


def test_an_async_method_stays_one() -> None:
    async def wrapped(client: Client, said: str) -> str:
        return f"{said}!"

    with replaced(Client, "send_async", lambda original: wrapped):
        assert inspect.iscoroutinefunction(Client.send_async)
        assert asyncio.run(Client().send_async("-")) == "-!"


def test_each_session_of_a_process_carries_its_own_trials() -> None:
    httpx = importlib.import_module("httpx")
    seen = []

    async def session(name: str, other: asyncio.Event, own: asyncio.Event, *, first_out: bool) -> None:
        transport = httpx.MockTransport(lambda request: httpx.Response(200, json={}))
        body = {"model": "m", "messages": []}
        with Tap((ChatCompletions(),)).installed():
            own.set()
            await other.wait()
            for _ in range(2):
                with running(Trial(name)) as trial:
                    async with httpx.AsyncClient(transport=transport) as client:
                        await client.post("http://m.invalid/v1/chat/completions", json=body)
                    seen.append((name, len(trial.recorder.exchanges)))
                if first_out:
                    return
                await asyncio.sleep(0.01)

    async def both() -> None:
        a, b = asyncio.Event(), asyncio.Event()
        await asyncio.gather(session("a", b, a, first_out=True), session("b", a, b, first_out=False))

    before = httpx.AsyncClient.__dict__["send"]
    asyncio.run(both())
    assert sorted(seen) == [("a", 1), ("b", 1), ("b", 1)]
    assert httpx.AsyncClient.__dict__["send"] is before
