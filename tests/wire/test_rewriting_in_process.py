"""The in-process carrier makes the agent a mutant: the real clients, plain and streamed."""

import asyncio
import gc
import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agentmut.nouns.messages import Exchange, Role
from agentmut.recording.current import current_trial, running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}}
BODY = {
    "model": "sim-large",
    "messages": [{"role": "system", "content": "Help."}, {"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": LOOK}],
}
LIBRARIES = ("httpx", "httpx2")
stacks = pytest.mark.parametrize(
    ("library", "sync"), [(library, sync) for library in LIBRARIES for sync in (True, False)]
)


def tap() -> Any:
    return Tap(all_codecs()).installed()


def sent(library: str, url: str, *, sync: bool, body: Any, stream: bool = False) -> Any:
    """The response of a real client; a stream is read as the SDKs do."""
    module = importlib.import_module(library)
    body = {**body, "stream": True} if stream else body
    if sync:
        with module.Client() as client:
            response = client.send(client.build_request("POST", url, json=body), stream=stream)
            return b"".join(response.iter_bytes()) if stream else response

    async def send() -> Any:
        async with module.AsyncClient() as client:
            response = await client.send(client.build_request("POST", url, json=body), stream=stream)
            return b"".join([piece async for piece in response.aiter_bytes()]) if stream else response

    return asyncio.run(send())


def only(trial: Trial) -> Exchange:
    (exchange,) = trial.recorder.exchanges
    return exchange


@stacks
def test_a_renamed_tool_is_renamed_in_the_request_and_back_in_the_reply(
    library: str, sync: bool, polyglot: Any, mutant: Any
) -> None:
    polyglot.calls = ("peek",)
    with tap(), running(Trial("t1", rewriter=mutant())) as trial:
        response = sent(library, f"{polyglot.origin}/v1/chat/completions?v=1", sync=sync, body=BODY)
    (seen,) = polyglot.requests
    assert (seen.system_text, [tool.name for tool in seen.tools]) == ("Help. Be brief.", ["peek"])
    assert polyglot.paths == ["/v1/chat/completions?v=1"]
    assert polyglot.headers[0]["content-length"] == str(len(polyglot.bodies[0]))
    assert response.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
    assert response.headers["x-request-id"] == "r-1"
    assert int(response.headers["content-length"]) == len(response.content)
    assert response.elapsed.total_seconds() > 0
    exchange = only(trial)
    assert exchange.request == seen
    assert exchange.reply is not None
    assert exchange.reply.tool_calls[0].name == "look"


@stacks
def test_a_stream_is_rewritten_as_it_comes_and_recorded_with_calls_and_usage(
    library: str, sync: bool, polyglot: Any, mutant: Any
) -> None:
    polyglot.calls = ("peek",)
    url = f"{polyglot.origin}/v1/chat/completions"
    with tap(), running(Trial("t1", rewriter=mutant())) as trial:
        given = sent(library, url, sync=sync, body=BODY, stream=True)
    assert b'"look"' in given
    assert b"peek" not in given
    exchange = only(trial)
    assert (exchange.status, exchange.error, trial.recorder.waiting) == (200, None, [])
    assert exchange.reply is not None
    assert exchange.reply.tool_calls[0].name == "look"
    assert exchange.reply.usage.total == 10


@stacks
@pytest.mark.parametrize("changed", [False, True], ids=["original", "mutant"])
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_packed_replies_are_read(
    library: str, sync: bool, changed: bool, stream: bool, polyglot: Any, mutant: Any
) -> None:
    rewriter = mutant() if changed else None
    polyglot.packed = True
    polyglot.calls = ("peek",)
    with tap(), running(Trial("t1", rewriter=rewriter)) as trial:
        given = sent(library, f"{polyglot.origin}/v1/chat/completions", sync=sync, body=BODY, stream=stream)
    name = b'"look"' if rewriter else b'"peek"'
    assert name in (given if stream else given.content)
    exchange = only(trial)
    assert exchange.reply is not None
    assert exchange.reply.tool_calls[0].name == name.decode().strip('"')


@stacks
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_a_decoys_call_is_answered_by_the_carrier_and_recorded(
    library: str, sync: bool, stream: bool, polyglot: Any, mutant: Any
) -> None:
    polyglot.calls = ("decoy", "decoy", "peek")
    with tap(), running(Trial("t1", rewriter=mutant(decoy=True))) as trial:
        url = f"{polyglot.origin}/v1/chat/completions"
        given = sent(library, url, sync=sync, body=BODY, stream=stream)
    text = given if stream else given.content
    assert b"decoy" not in text
    assert b'"look"' in text
    calls = [e.reply.tool_calls[0].name for e in trial.recorder.exchanges if e.reply]
    assert calls == ["decoy", "decoy", "look"]
    assert [m.text for m in polyglot.requests[-1].messages if m.role is Role.TOOL] == ["no", "no"]


def test_a_model_that_calls_decoys_for_ever_is_given_up_on(polyglot: Any, mutant: Any) -> None:
    polyglot.calls = ("decoy",) * 1000
    with tap(), running(Trial("t1", rewriter=mutant(decoy=True))) as trial:
        given = sent("httpx", f"{polyglot.origin}/v1/chat/completions", sync=True, body=BODY)
    assert b"decoy" in given.content
    assert len(trial.recorder.exchanges) == 17


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
def test_late_results_hold_the_request_back_on_the_agents_own_time(
    sync: bool, polyglot: Any, mutant: Any
) -> None:
    with tap(), running(Trial("t1", rewriter=mutant(pause=0.15))) as trial:
        sent("httpx2", f"{polyglot.origin}/v1/chat/completions", sync=sync, body=BODY)
        assert trial.recorder.now() > 0.15
    assert trial.recorder.held == 0
    assert only(trial).started >= 0.15


def test_refusals_pass_in_the_services_own_words(polyglot: Any, mutant: Any) -> None:
    from aiohttp import web

    async def refuse(http: web.Request) -> web.Response:
        return web.Response(status=429, text="slow down", headers={"retry-after": "7"})

    polyglot.trouble = refuse
    with tap(), running(Trial("t1", rewriter=mutant())) as trial:
        response = sent("httpx", f"{polyglot.origin}/v1/chat/completions", sync=True, body=BODY)
    assert (response.status_code, response.text, response.headers["retry-after"]) == (429, "slow down", "7")
    assert (only(trial).status, only(trial).reply) == (429, None)


@stacks
def test_a_stream_that_is_cut_off_says_so_and_counts_as_no_reply(
    library: str, sync: bool, polyglot: Any, mutant: Any
) -> None:
    from aiohttp import web

    async def cut(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        await response.write(b'data: {"choices": [{"index": 0, "delta": {"content": "Hal')
        assert http.transport is not None
        http.transport.close()
        return response

    polyglot.trouble = cut
    error = importlib.import_module(library).RemoteProtocolError
    with tap(), running(Trial("t1", rewriter=mutant())) as trial, pytest.raises(error):
        sent(library, f"{polyglot.origin}/v1/chat/completions", sync=sync, body=BODY, stream=True)
    exchange = only(trial)
    assert (exchange.status, exchange.reply, exchange.answered) == (200, None, False)
    assert exchange.error is not None
    assert exchange.error.startswith("RemoteProtocolError")


def test_a_stream_that_the_agent_leaves_is_recorded_all_the_same(polyglot: Any) -> None:
    httpx = importlib.import_module("httpx")
    body = {**BODY, "stream": True}
    with tap(), running(Trial("t1")) as trial, httpx.Client() as client:
        request = client.build_request("POST", f"{polyglot.origin}/v1/chat/completions", json=body)
        response = client.send(request, stream=True)
        assert only(trial).status == 200  # before anything is read
        next(response.iter_lines())
        response.close()
    assert (only(trial).reply, only(trial).error, only(trial).answered) == (None, None, True)


def test_work_given_to_a_pool_of_threads_is_the_trials(polyglot: Any) -> None:
    url = f"{polyglot.origin}/v1/chat/completions"
    submit = ThreadPoolExecutor.submit
    with ThreadPoolExecutor(2) as pool, tap():
        with running(Trial("t1")) as trial:
            list(pool.map(lambda _: sent("httpx", url, sync=True, body=BODY), range(3)))
        assert pool.submit(current_trial).result() is None  # the same threads, outside of the trial
    assert len(trial.recorder.exchanges) == 3
    assert ThreadPoolExecutor.submit is submit


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_the_sdks_work_with_the_mutant_as_with_the_original(stream: bool, polyglot: Any, mutant: Any) -> None:
    anthropic, openai = importlib.import_module("anthropic"), importlib.import_module("openai")
    polyglot.calls = ("peek",)
    tool = {"name": "look", "input_schema": LOOK["parameters"]}
    asked = [{"role": "user", "content": "Hi"}]
    with tap(), running(Trial("t1", rewriter=mutant())) as trial:
        chat = openai.OpenAI(base_url=f"{polyglot.origin}/v1", api_key="k", max_retries=0)
        claude = anthropic.Anthropic(base_url=polyglot.origin, api_key="k", max_retries=0)
        if stream:
            options = {"model": "m", "max_tokens": 9, "messages": asked, "tools": [tool]}
            with claude.messages.stream(**options) as events:
                block = events.get_final_message().content[-1]
            chunks = chat.chat.completions.create(**{**BODY, "stream": True})
            names = [c.function.name for k in chunks for x in k.choices for c in x.delta.tool_calls or []]
        else:
            block = claude.messages.create(model="m", max_tokens=9, messages=asked, tools=[tool]).content[-1]
            message = chat.chat.completions.create(**BODY).choices[0].message
            names = [call.function.name for call in message.tool_calls]
    assert block.name == "look"
    assert [name for name in names if name] == ["look"]
    assert [[tool.name for tool in request.tools] for request in polyglot.requests] == [["peek"], ["peek"]]
    assert [e.reply and e.reply.usage.total for e in trial.recorder.exchanges] == [10, 10]


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
def test_a_stream_that_is_read_to_its_end_mark_and_never_closed_is_recorded(
    sync: bool, polyglot: Any
) -> None:
    openai = importlib.import_module("openai")
    options = {"base_url": f"{polyglot.origin}/v1", "api_key": "k", "max_retries": 0}
    asked = {"model": "m", "messages": BODY["messages"], "stream": True}

    async def in_async() -> None:
        async for chunk in await openai.AsyncOpenAI(**options).chat.completions.create(**asked):
            if chunk.choices[0].finish_reason:
                break

    with tap(), running(Trial("t1")) as trial:
        if sync:
            for chunk in openai.OpenAI(**options).chat.completions.create(**asked):
                if chunk.choices[0].finish_reason:
                    break
        else:
            asyncio.run(in_async())
        gc.collect()  # an SDK's stream that nobody closes goes with the next collection
    assert (only(trial).status, only(trial).error) == (200, None)
    assert only(trial).reply is not None
