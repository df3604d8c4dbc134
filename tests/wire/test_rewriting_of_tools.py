"""The tools of a mutant in requests and replies: other names, other schemas, tools added and removed."""

import copy
import json

import pytest

from agentmut.nouns.codec import Codec
from agentmut.nouns.messages import ModelReply
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from tests.wire.rewritten_chat import (
    BASE,
    CHAT,
    FIND,
    MAIL,
    PAY,
    answered,
    asked_tool,
    call,
    calling,
    chat,
    every_codec,
    mutated,
    names,
    renamed,
    rewritten,
    said,
    tool_messages,
    turn,
)


def test_tools_that_the_config_does_not_know_stay_where_they_are() -> None:
    other = ToolSpec(name="other", description="Another agent's.")
    body = chat(said("user", "Hi."), tools=(FIND, other, PAY))
    assert names(rewritten(BASE, mutated(tools=(PAY, FIND)), body)) == ["pay", "other", "find"]
    assert names(rewritten(BASE, mutated(tools=(PAY,)), body)) == ["other", "pay"]
    assert names(rewritten(BASE, mutated(tools=()), body)) == ["other"]


def test_requests_without_any_of_the_tools_are_passed_byte_by_byte() -> None:
    rewriter = ConfigRewriter(BASE, mutated(tools=(PAY,)))
    for tools in ((), (MAIL,)):
        sent = call(chat(said("user", "Hi."), tools=tools))
        assert rewriter.request(CHAT, sent).call is sent


def test_only_what_differs_is_carried_over_to_a_schema_of_another_generator() -> None:
    properties = {"id": {"type": "string"}, "kind": {"type": "string", "enum": ["a", "b"]}}
    base_tool = FIND.model_copy(update={"parameters": {"type": "object", "properties": properties}})
    fewer = {**properties, "kind": {"type": "string", "enum": ["a"]}}
    changed = base_tool.model_copy(update={"parameters": {"type": "object", "properties": fewer}})
    sent = {
        "$schema": "x", "type": "object", "additionalProperties": False, "title": "Find",
        "properties": {
            "id": {"title": "Id", "type": "string"},
            "kind": {"title": "Kind", "type": "string", "enum": ["b", "a"]},
        },
    }  # fmt: skip
    body = chat(said("user", "Hi."), tools=(base_tool.model_copy(update={"parameters": sent}),))
    body["tools"][0]["function"]["strict"] = True
    expected = copy.deepcopy(body)
    expected["tools"][0]["function"]["parameters"]["properties"]["kind"]["enum"] = ["a"]
    assert rewritten(mutated(tools=(base_tool,)), mutated(tools=(changed,)), body) == expected


def test_a_parameter_that_the_request_has_otherwise_is_left_alone() -> None:
    before, after, own = (
        FIND.model_copy(update={"parameters": {"type": "object", "properties": {"id": {"type": kind}}}})
        for kind in ("string", "integer", "number")
    )
    sent = call(chat(said("user", "Hi."), tools=(own,)))
    rewriter = ConfigRewriter(mutated(tools=(before,)), mutated(tools=(after,)))
    assert rewriter.request(CHAT, sent).call is sent


def test_a_renamed_tool_has_its_new_name_in_history_and_choice_and_its_own_in_replies() -> None:
    rewriter = ConfigRewriter(BASE, mutated(tools=(renamed(FIND, "search"), PAY)))
    choice = {"type": "function", "function": {"name": "find"}}
    body = chat(
        said("user", "Hi."), asked_tool("find"), answered("{}"), tools=(FIND, PAY), tool_choice=choice
    )
    sent = rewriter.request(CHAT, call(body)).call
    found = json.loads(sent.body)
    assert names(found) == ["search", "pay"]
    assert found["messages"][1]["tool_calls"][0]["function"]["name"] == "search"
    assert found["tool_choice"]["function"]["name"] == "search"
    reply = CHAT.encode_reply(calling("search"), reply_id="r", stream=False)
    again = rewriter.reply(CHAT, sent, reply)
    assert again.again is None
    assert CHAT.decode_reply(again.body).tool_calls[0].name == "find"


@every_codec
@pytest.mark.parametrize("stream", [False, True])
def test_two_tools_that_swap_names_are_not_mixed_up(codec: Codec, stream: bool) -> None:
    swapped = mutated(tools=(renamed(FIND, "pay"), renamed(PAY, "find")))
    rewriter = ConfigRewriter(BASE, swapped)
    sent = rewriter.request(codec, codec.encode_request(turn(tool_messages("find"), stream=stream))).call
    found = codec.decode_request(sent)
    assert [(tool.name, tool.description) for tool in found.tools] == [
        ("pay", FIND.description),
        ("find", PAY.description),
    ]
    assert [made.name for message in found.messages for made in message.tool_calls] == ["pay"]
    reply = codec.encode_reply(calling("pay", "find"), reply_id="r", stream=stream)
    given = codec.decode_reply(rewriter.reply(codec, sent, reply).body)
    assert [made.name for made in given.tool_calls] == ["find", "pay"]


@every_codec
def test_events_of_a_stream_are_renamed_one_by_one_and_others_stay_byte_equal(codec: Codec) -> None:
    rewriter = ConfigRewriter(BASE, mutated(tools=(renamed(FIND, "search"), PAY)))
    sent = rewriter.request(codec, codec.encode_request(turn(stream=True))).call
    stream = codec.encode_reply(calling("search", "pay"), reply_id="r", stream=True)
    framing, written = codec.framing(), b""
    for frame in framing.feed(stream):
        value = frame.value if frame.value is None else rewriter.event(codec, sent, frame.value)
        written += frame.raw if value == frame.value else framing.written(frame, value)
    written += framing.rest()
    given = codec.decode_reply(written)
    assert [made.name for made in given.tool_calls] == ["find", "pay"]
    plain = codec.encode_reply(ModelReply(model="m", text="find search"), reply_id="r", stream=True)
    assert rewriter.reply(codec, codec.encode_request(turn(stream=True)), plain).body == plain


def test_a_call_of_a_tool_that_is_not_offered_reaches_the_agent_under_an_unknown_name() -> None:
    rewriter = ConfigRewriter(BASE, mutated(tools=(PAY,)))
    body = chat(said("user", "Hi."), tools=(FIND, PAY))
    sent = rewriter.request(CHAT, call(body)).call
    reply = CHAT.encode_reply(calling("find"), reply_id="r", stream=False)
    given = CHAT.decode_reply(rewriter.reply(CHAT, sent, reply).body)
    assert given.tool_calls[0].name == "find_not_offered"
    later = chat(
        said("user", "Hi."), asked_tool("find_not_offered"), answered("unknown tool"), tools=(FIND, PAY)
    )
    found = json.loads(rewriter.request(CHAT, call(later)).call.body)
    assert found["messages"][1]["tool_calls"][0]["function"]["name"] == "find"


def test_a_new_name_that_another_agents_tool_has_is_not_given_away() -> None:
    rewriter = ConfigRewriter(BASE, mutated(tools=(renamed(FIND, "mail"), PAY)))
    sent = rewriter.request(CHAT, call(chat(said("user", "Hi."), tools=(FIND, PAY, MAIL)))).call
    assert names(json.loads(sent.body)) == ["find", "pay", "mail"]
    reply = CHAT.encode_reply(calling("mail"), reply_id="r", stream=False)
    assert rewriter.reply(CHAT, sent, reply).body == reply


def test_a_tool_that_is_on_offer_twice_is_changed_twice() -> None:
    after = mutated(tools=(ToolSpec(name="find", description="Other."), PAY))
    found = rewritten(BASE, after, chat(said("user", "Hello."), tools=(FIND, PAY, FIND)))
    assert names(found) == ["find", "pay", "find"]
    assert [tool["function"]["description"] for tool in found["tools"]] == [
        "Other.",
        PAY.description,
        "Other.",
    ]


def test_a_tool_that_is_on_offer_twice_is_removed_twice() -> None:
    found = rewritten(BASE, mutated(tools=(PAY,)), chat(said("user", "Hello."), tools=(FIND, PAY, FIND)))
    assert names(found) == ["pay"]
