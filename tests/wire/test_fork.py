"""A trial that goes along a recorded run of the original is live from the first request on that differs."""

import asyncio
import importlib
from contextlib import AsyncExitStack
from typing import Any

import pytest

from agentmut.nouns.cassette import MASK, Take, take
from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.fork import Fork, recalled
from agentmut.nouns.messages import Message, ModelRequest, Role
from agentmut.recording.current import running
from agentmut.recording.recorder import Recorder
from agentmut.recording.trial import HandledReply, OutgoingRequest, Trial
from agentmut.wire.carriers.botocore_hooks import BotocoreHooks
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Upstream
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.kept_state import kept_by_service

httpx = importlib.import_module("httpx")
CHAT = "/v1/chat/completions"


def recorded(asked: bytes, answer: bytes = b"{}", status: int | None = 200, **fields: Any) -> Take:
    return take(HttpCall(CHAT, asked), status, "application/json", answer, **fields)


def test_only_the_same_bytes_are_answered_and_each_take_once() -> None:
    fork = Fork([recorded(b'{"q": 1}', b"1"), recorded(b'{"q": 1}', b"2")])
    assert fork.answer(HttpCall(CHAT, b'{"q":1}')) is None  # the same JSON, other bytes
    assert fork.answer(HttpCall("/v1/responses", b'{"q": 1}')) is None
    answers = [fork.answer(HttpCall(CHAT, b'{"q": 1}')) for _ in range(3)]
    assert [one and one.body for one in answers] == [b"1", b"2", None]


@pytest.mark.parametrize(
    "one",
    [
        recorded(b"{}", status=None),
        recorded(b"{}", status=503),
        recorded(b"{}", whole=False),
        recorded(f'{{"said": "{MASK}"}}'.encode()),
        recorded(b"{}", f'{{"said": "{MASK}"}}'.encode()),
    ],
    ids=["no answer", "refused", "part of a stream", "masked request", "masked reply"],
)
def test_what_is_no_whole_reply_is_never_taken(one: Take) -> None:
    assert Fork([one]).answer(HttpCall(CHAT, one.asked.encode())) is None


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ('{"previous_response_id": "resp_1", "input": "and now?"}', "previous_response_id"),
        ('{"conversation": {"id": "conv_1"}, "input": "and now?"}', "conversation"),
        ('{"input": [{"type": "item_reference", "id": "rs_1"}]}', "item_reference"),
        ('{"container": "container_1", "messages": []}', "container"),
        ('{"previous_response_id": null, "input": "hi"}', ""),
        ('{"messages": [{"role": "user", "content": "previous_response_id"}]}', ""),
        ("no JSON", ""),
    ],
)
def test_a_request_that_goes_on_from_what_the_service_keeps_is_known(asked: str, named: str) -> None:
    found = kept_by_service(recorded(asked.encode()))
    assert (named in found) if named else found == ""


def requests_of(codec: Codec, texts: tuple[str, ...], *, stream: bool) -> list[HttpCall]:
    """A conversation that grows by a text a request."""
    said = [tuple(Message(role=Role.USER, text=t) for t in texts[: n + 1]) for n in range(len(texts))]
    return [codec.encode_request(ModelRequest(model="m", messages=m, stream=stream)) for m in said]


def sent(origin: str, calls: list[HttpCall], trial: Trial, *, sync: bool = False) -> list[bytes]:
    """What the client of a trial is given for these requests, one after the other."""

    def one_by_one() -> list[bytes]:
        with httpx.Client() as client:
            return [client.post(origin + c.path, content=c.body).content for c in calls]

    async def all_of_them() -> list[bytes]:
        async with httpx.AsyncClient() as client:
            return [(await client.post(origin + c.path, content=c.body)).content for c in calls]

    with Tap(all_codecs()).installed(), running(trial):
        return one_by_one() if sync else asyncio.run(all_of_them())


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_in_every_dialect_a_trial_is_live_from_the_first_difference_on(
    codec: Codec, stream: bool, sync: bool, polyglot: Any
) -> None:
    original = Trial("t1", recorder=Recorder(takes=[]))
    given = sent(
        polyglot.origin,
        requests_of(codec, ("Hi", "two", "three", "four"), stream=stream),
        original,
        sync=sync,
    )
    before = len(polyglot.requests)

    mutant = Trial("t2", fork=Fork(original.recorder.takes or ()))
    calls = requests_of(codec, ("Hi", "two", "three, but spoiled", "four"), stream=stream)
    again = sent(polyglot.origin, calls, mutant, sync=sync)

    assert before == 4
    assert again[:2] == given[:2]  # byte for byte
    assert [seen.messages[-1].text for seen in polyglot.requests[before:]] == ["three, but spoiled", "four"]
    assert [exchange.recalled for exchange in mutant.recorder.exchanges] == [True, True, False, False]
    (part,) = recalled(mutant.recorder.exchanges)
    assert (part.model, part.requests, part.usage.total) == ("m", 2, 20)


def test_a_run_that_never_differs_asks_nobody_and_takes_as_long_as_the_recorded_one(polyglot: Any) -> None:
    calls = requests_of(ChatCompletions(), ("Hi", "two"), stream=False)
    original = Trial("t1", recorder=Recorder(takes=[]))
    sent(polyglot.origin, calls, original)
    takes = [one.model_copy(update={"seconds": 30.0}) for one in original.recorder.takes or ()]

    mutant = Trial("t2", fork=Fork(takes))
    sent(polyglot.origin, calls, mutant)
    assert len(polyglot.requests) == 2
    assert 60 <= mutant.recorder.now() < 70
    assert [round(e.seconds) for e in mutant.recorder.exchanges] == [30, 30]
    assert mutant.recorder.waiting == []


class SaysOtherwise:
    """A mutant whose replies are changed on their way back; its requests are the original's."""

    marks: frozenset[str] = frozenset()
    needs_whole_replies = False

    def request(self, codec: Codec, call: HttpCall) -> OutgoingRequest:
        return OutgoingRequest(call)

    def reply(self, codec: Codec, sent: HttpCall, body: bytes) -> HandledReply:
        return HandledReply(body.replace(b"You said", b"They said"))

    def event(self, codec: Codec, sent: HttpCall, value: object) -> object:
        return value


def test_a_mutant_of_replies_changes_recorded_ones_too(polyglot: Any) -> None:
    calls = requests_of(ChatCompletions(), ("Hi",), stream=False)
    original = Trial("t1", recorder=Recorder(takes=[]))
    sent(polyglot.origin, calls, original)
    mutant = Trial("t2", rewriter=SaysOtherwise(), fork=Fork(original.recorder.takes or ()))
    (given,) = sent(polyglot.origin, calls, mutant)
    assert b"They said: Hi" in given
    assert len(polyglot.requests) == 1


def test_a_mutant_with_a_decoy_is_live(polyglot: Any, mutant: Any) -> None:
    calls = requests_of(ChatCompletions(), ("Hi",), stream=False)
    original = Trial("t1", recorder=Recorder(takes=[]))
    sent(polyglot.origin, calls, original)
    trial = Trial("t2", rewriter=mutant(decoy=True), fork=Fork(original.recorder.takes or ()))
    sent(polyglot.origin, calls, trial)
    assert len(polyglot.requests) == 2


def test_what_passes_the_proxy_goes_along_a_recorded_run(polyglot: Any) -> None:
    first, second = requests_of(ChatCompletions(), ("Hi", "two"), stream=False)
    spoiled = requests_of(ChatCompletions(), ("Hi", "spoiled"), stream=False)[1]

    async def asked(trial: Trial, calls: list[HttpCall]) -> list[bytes]:
        roster = AdmittedTrials()
        async with AsyncExitStack() as stack:
            proxy = Proxy([Upstream(f"{polyglot.origin}/v1")], roster)
            base = await stack.enter_async_context(proxy.serving()) + f"/t/{trial.id}"
            client = await stack.enter_async_context(httpx.AsyncClient(timeout=600))
            with roster.admitted(trial):
                return [(await client.post(base + call.path, content=call.body)).content for call in calls]

    original = Trial("t1", recorder=Recorder(takes=[]))
    given = asyncio.run(asked(original, [first, second]))
    mutant = Trial("t2", fork=Fork(original.recorder.takes or ()))
    again = asyncio.run(asked(mutant, [first, spoiled]))
    assert again[0] == given[0]
    assert len(polyglot.requests) == 3
    assert [exchange.recalled for exchange in mutant.recorder.exchanges] == [True, False]


def converse(bedrock: Any, *texts: str, stream: bool) -> Any:
    asked = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": text} for text in texts]}]}
    if not stream:
        return bedrock.converse(**asked)["output"]
    return [event for event in bedrock.converse_stream(**asked)["stream"] if "contentBlockDelta" in event]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_amazons_sdk_goes_along_a_recorded_run(stream: bool, polyglot: Any) -> None:
    bedrock = importlib.import_module("boto3").client(
        "bedrock-runtime",
        region_name="eu-west-1",
        endpoint_url=polyglot.origin,
        aws_access_key_id="AKIDPLANTED",
        aws_secret_access_key="s",
    )
    with BotocoreHooks(all_codecs()).installed():
        with running(Trial("t1", recorder=Recorder(takes=[]))) as original:
            given = [converse(bedrock, *said, stream=stream) for said in (("a",), ("a", "b"))]
        with running(Trial("t2", fork=Fork(original.recorder.takes or ()))) as mutant:
            again = [converse(bedrock, *said, stream=stream) for said in (("a",), ("a", "c"))]
    assert again[0] == given[0]
    assert len(polyglot.requests) == 3
    assert [exchange.recalled for exchange in mutant.recorder.exchanges] == [True, False]
