"""Replies that call decoys beside other tools, and what becomes of them later."""

import json
from typing import Any

import pytest

from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.bodies import read_json
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects import sse
from agentmut.wire.rewriting.rewriter import ConfigRewriter

FIND = ToolSpec(name="find", description="Find an order.")
DECOY = ToolSpec(name="find_v2", description="Find more.", fault=ToolFault(kind=FaultKind.DECOY))
BASE = AgentConfig(prompt="You are a clerk.", tools=(FIND,))
NAMED = {codec.name: codec for codec in all_codecs()}
NOTHING = "Nothing was found."
every_codec = pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)


def rewriter() -> ConfigRewriter:
    return ConfigRewriter(BASE, BASE.model_copy(update={"tools": (FIND, DECOY)}))


def asking(*more: Message, system: str = "You are a clerk.", stream: bool = False) -> ModelRequest:
    messages = (Message(role=Role.SYSTEM, text=system), Message(role=Role.USER, text="Hello."), *more)
    return ModelRequest(model="m", messages=messages, tools=(FIND,), max_tokens=9, stream=stream)


def calling(*names: str, text: str = "", ids: str = "c") -> ModelReply:
    made = (ToolCall(id=f"{ids}{n}", name=name, arguments="{}") for n, name in enumerate(names, 1))
    return ModelReply(model="m", text=text, tool_calls=tuple(made), finish_reason="tool_calls")


def heard(codec: Codec, sent: HttpCall) -> list[tuple[Role, list[str], str]]:
    messages = codec.decode_request(sent).messages
    return [(m.role, [made.name for made in m.tool_calls], m.text) for m in messages]


def given(codec_name: str, path: str, body: dict[str, Any], reply: bytes) -> bytes:
    """What an agent gets that offers `find` alone."""
    codec, mutant = NAMED[codec_name], rewriter()
    offered = codec.with_tools(body, codec.tools(json.loads(codec.encode_request(asking()).body)))
    sent = mutant.request(codec, HttpCall(path, json.dumps(offered).encode())).call
    answered = mutant.reply(codec, sent, reply)
    assert answered.again is None and b"find_v2" not in answered.body
    return answered.body


@every_codec
@pytest.mark.parametrize("stream", [False, True])
def test_calls_beside_others_are_in_the_conversation_later(codec: Codec, stream: bool) -> None:
    mutant = rewriter()
    sent = mutant.request(codec, codec.encode_request(asking(stream=stream))).call
    reply = codec.encode_reply(calling("find", "find_v2"), reply_id="r", stream=stream)
    body = mutant.reply(codec, sent, reply).body
    told = codec.decode_reply(body)
    assert [call.name for call in told.tool_calls] == ["find"] and told.finish_reason == "tool_calls"
    answers = {call.id: "Order 7" for call in told.tool_calls}
    path, asked = codec.encode_request(asking(stream=stream))
    later = HttpCall(path, json.dumps(codec.continued(read_json(asked), body, answers)).encode())
    for _ in range(2):
        after = heard(codec, mutant.request(codec, later).call)
        calls = [name for role, names, _ in after if role is Role.ASSISTANT for name in names]
        results = [text for role, _, text in after if role is Role.TOOL]
        assert calls == ["find", "find_v2"] and sorted(results) == [NOTHING, "Order 7"]
        last = next(place for place, item in enumerate(after) if item[0] is Role.TOOL)
        assert all(role is not Role.ASSISTANT for role, _, _ in after[last + 2 :])


def test_a_streamed_thought_and_its_signature_stay() -> None:
    def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
        place = {"index": index}
        begun = {"type": "content_block_start", **place, "content_block": start}
        added = [{"type": "content_block_delta", **place, "delta": delta} for delta in deltas]
        return [begun, *added, {"type": "content_block_stop", **place}]

    def use(call_id: str, name: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": call_id, "name": name, "input": {}}

    thinking = {"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "SIG"}
    start: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
    }
    usage = {"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 0}
    first = {"type": "message_start", "message": {**start, "stop_reason": None, "usage": usage}}
    ended = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}}
    thought = block(0, {"type": "thinking", "thinking": "", "signature": ""}, *thinking)
    before: list[Any] = [first, *thought, *block(1, use("d", "find_v2")), *block(2, use("f", "find")), ended]
    after: list[Any] = [first, *thought, *block(1, use("f", "find")), ended]
    stream, expected = (sse.write_named_events((e["type"], e) for e in events) for events in (before, after))
    asked = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    assert given("anthropic_messages", "/v1/messages", asked, stream) == expected
    alone: list[Any] = [first, *thought, *block(1, use("d", "find_v2")), ended]
    mutant, codec = rewriter(), NAMED["anthropic_messages"]
    sent = mutant.request(codec, codec.encode_request(asking(stream=True))).call
    for _ in range(8):  # then the decoys' calls are dropped
        again = mutant.reply(codec, sent, sse.write_named_events((e["type"], e) for e in alone)).again
        assert again
        sent = again
    last = mutant.reply(codec, sent, sse.write_named_events((e["type"], e) for e in alone)).body
    thought_only: list[Any] = [first, *thought]
    quiet: Any = {**ended, "delta": {"stop_reason": "end_turn"}}
    assert last == sse.write_named_events((e["type"], e) for e in [*thought_only, quiet])


@pytest.mark.parametrize("events", [False, True])
def test_thought_signatures_of_gemini_stay_and_an_array_stays_one(events: bool) -> None:
    def part(name: str, **more: str) -> dict[str, Any]:
        return {"functionCall": {"name": name, "args": {}}, **more}

    def chunk(*parts: dict[str, Any], **more: str) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}

    def written(chunks: list[dict[str, Any]]) -> bytes:
        if not events:
            return json.dumps(chunks, separators=(",", ":")).encode()
        return b"".join(b"data: %b\r\n\r\n" % json.dumps(c, separators=(",", ":")).encode() for c in chunks)

    signed = chunk(part("find", thoughtSignature="SIG"))
    path = "/v1beta/models/m:streamGenerateContent" + ("?alt=sse" if events else "")
    asked = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    found = given("gemini", path, asked, written([signed, chunk(part("find_v2"), finishReason="STOP")]))
    assert found == written([signed, chunk(finishReason="STOP")])


@pytest.mark.parametrize("stream", [False, True])
def test_a_kept_reply_has_its_id_and_the_service_gets_the_decoys_result(stream: bool) -> None:
    codec, mutant = NAMED["responses"], rewriter()
    tools = json.loads(codec.encode_request(asking()).body)["tools"]
    body = {"model": "m", "input": "Hello.", "tools": tools, "stream": stream}
    sent = mutant.request(codec, HttpCall("/v1/responses", json.dumps(body).encode())).call
    reply = codec.encode_reply(calling("find", "find_v2"), reply_id="resp_1", stream=stream)
    answered = mutant.reply(codec, sent, reply).body
    assert b'"resp_1"' in answered and b"agentmut" not in answered
    result = {"type": "function_call_output", "call_id": "c1", "output": "Order 7"}
    later = {"model": "m", "previous_response_id": "resp_1", "input": [result], "tools": tools}
    found = mutant.request(codec, HttpCall("/v1/responses", json.dumps(later).encode())).call
    assert json.loads(found.body)["input"] == [{**result, "call_id": "c2", "output": NOTHING}, result]


def test_decoys_in_later_alternatives_do_not_reach_the_agent_and_all_else_stays() -> None:
    def choice(index: int, **delta: Any) -> dict[str, Any]:
        return {"index": index, "delta": delta, "finish_reason": None}

    def call(index: int, name: str) -> dict[str, Any]:
        return {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": "{}"}}

    def chunks(*choices: dict[str, Any]) -> bytes:
        head = {"id": "x", "model": "m", "system_fingerprint": "fp"}
        return sse.write_events([{**head, "choices": [one]} for one in choices])

    thought = choice(0, reasoning_content="hm")
    ends = [{**choice(n), "finish_reason": reason} for n, reason in enumerate(["tool_calls", "tool_calls"])]
    asked = {"model": "m", "n": 2, "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    before = chunks(
        thought,
        choice(0, tool_calls=[call(0, "find_v2")]),
        choice(0, tool_calls=[call(1, "find")]),
        choice(1, tool_calls=[call(0, "find_v2")]),
        *ends,
    )
    after = chunks(
        thought,
        choice(0),
        choice(0, tool_calls=[{**call(1, "find"), "index": 0}]),
        choice(1),
        ends[0],
        {**ends[1], "finish_reason": "stop"},
    )
    assert given("chat_completions", "/v1/chat/completions", asked, before) == after
    says = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    made = {"role": "assistant", "content": None, "tool_calls": [call(0, "find_v2")]}
    plain = {"model": "m", "choices": [says, {"index": 1, "message": made, "finish_reason": "tool_calls"}]}
    found = json.loads(given("chat_completions", "/v1/chat/completions", asked, json.dumps(plain).encode()))
    quiet = {"role": "assistant", "content": None}
    assert found["choices"] == [says, {"index": 1, "message": quiet, "finish_reason": "stop"}]


@every_codec
def test_what_decoys_said_is_put_into_its_own_conversation_only(codec: Codec) -> None:
    mutant = rewriter()
    one, other = (calling("find", ids=ids) for ids in ("f", "g"))
    sent = mutant.request(codec, codec.encode_request(asking())).call
    mutant.reply(codec, sent, codec.encode_reply(one, reply_id="r", stream=False))
    again = mutant.reply(
        codec, sent, codec.encode_reply(calling("find_v2", ids="d"), reply_id="r", stream=False)
    )
    assert again.again
    mutant.reply(codec, again.again, codec.encode_reply(other, reply_id="r", stream=False))

    def later(made: ModelReply, system: str = "You are a clerk.") -> bool:
        told = Message(role=Role.ASSISTANT, tool_calls=made.tool_calls)
        result = Message(role=Role.TOOL, text="7", tool_call_id=made.tool_calls[0].id)
        sent = mutant.request(codec, codec.encode_request(asking(told, result, system=system))).call
        return any("find_v2" in names for _, names, _ in heard(codec, sent))

    assert later(other) and not later(one)  # the other sample of the same question
    assert not later(other, system="You are a translator.")
