"""Results of faulty tools are changed on their way to the model."""

import json

import pytest

from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from tests.wire.rewritten_chat import (
    BASE,
    CHAT,
    FIND,
    PAY,
    answered,
    asked_tool,
    call,
    calling,
    chat,
    fault,
    mutated,
    rewritten,
    said,
)


@pytest.mark.parametrize(
    ("kind", "result", "told"),
    [
        (FaultKind.ERROR, '{"id": 7}', "Error: 503 Service Unavailable"),
        (FaultKind.TIMEOUT, "Shipped.", "Error: The read operation timed out"),
        (FaultKind.PERMISSION_DENIED, "Shipped.", "Error: 403 Forbidden: permission denied"),
        (FaultKind.PERMISSION_DENIED, '{"id": 7}', '{"error": "403 Forbidden: permission denied"}'),
        (FaultKind.EMPTY, '[{"id": 7}]', "[]"),
        (FaultKind.TRUNCATED, "Shipped.", "Ship"),
        (FaultKind.MALFORMED, '{"id": 7, "status": "shipped"}', '{"id": 7, "stat,'),
    ],
)
def test_a_faulty_tools_results_are_spoiled_and_others_are_not(
    kind: FaultKind, result: str, told: str
) -> None:
    rewriter = ConfigRewriter(BASE, fault(kind))
    messages = [asked_tool("find"), answered(result), asked_tool("pay", "c2"), answered(result, "c2")]
    body = chat(said("user", "Hi."), *messages, tools=(FIND, PAY))
    for _ in range(2):
        found = json.loads(rewriter.request(CHAT, call(body)).call.body)
        assert [m["content"] for m in found["messages"] if m["role"] == "tool"] == [told, result]
    assert rewriter.marks == {"/tools/find/fault"}


def test_a_fault_that_leaves_the_result_as_it_is_leaves_no_mark() -> None:
    rewriter = ConfigRewriter(BASE, fault(FaultKind.EMPTY))
    sent = call(chat(said("user", "Hi."), asked_tool("find"), answered("{}")))
    assert rewriter.request(CHAT, sent).call is sent
    assert not rewriter.marks


def test_a_result_in_several_blocks_becomes_one() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    blocks = [{"type": "text", "text": "One"}, image, {"type": "text", "text": "Two"}]
    body = chat(said("user", "Hi."), asked_tool("find"), answered(blocks))
    found = rewritten(BASE, fault(FaultKind.ERROR), body)
    text = {"type": "text", "text": "Error: 503 Service Unavailable"}
    assert found["messages"][2]["content"] == [text, image]


def test_a_stale_tool_repeats_its_first_result_of_the_conversation() -> None:
    rewriter = ConfigRewriter(BASE, fault(FaultKind.STALE))
    first = [asked_tool("find", "a"), answered("one", "a")]
    later = [*first, asked_tool("find", "b"), answered("two", "b")]
    found = [
        json.loads(rewriter.request(CHAT, call(chat(said("user", "Hi."), *messages))).call.body)["messages"][
            -1
        ]
        for messages in (first, later, later[2:])
    ]
    assert [message["content"] for message in found] == ["one", "one", "one"]


def test_a_slow_tool_is_waited_for_once_per_call() -> None:
    rewriter = ConfigRewriter(BASE, fault(FaultKind.SLOW, 3.0))
    first = chat(said("user", "Hi."), asked_tool("find", "a"), answered("one", "a"))
    later = chat(*first["messages"], asked_tool("find", "b"), answered("two", "b"))
    sent = [call(first), call(first), call(later)]
    outgoing = [rewriter.request(CHAT, each) for each in sent]
    assert [one.pause for one in outgoing] == [3.0, 0.0, 3.0]
    assert [one.call for one in outgoing] == sent
    assert rewriter.marks == {"/tools/find/fault"}


def test_results_are_known_by_the_calls_of_earlier_replies_where_the_request_does_not_tell() -> None:
    rewriter = ConfigRewriter(BASE, fault(FaultKind.ERROR))
    reply = CHAT.encode_reply(calling("find"), reply_id="r", stream=False)
    assert rewriter.reply(CHAT, call(chat(said("user", "Hi."))), reply).body == reply
    found = json.loads(rewriter.request(CHAT, call(chat(answered("{}", "c1")))).call.body)
    assert found["messages"][0]["content"] == "Error: 503 Service Unavailable"


def test_a_stale_result_is_the_first_one_of_the_trial_also_where_the_history_is_not_sent_again() -> None:
    stale = FIND.model_copy(update={"fault": ToolFault(kind=FaultKind.STALE)})
    rewriter = ConfigRewriter(BASE, mutated(tools=(stale, PAY)))
    given = []
    for number in range(3):
        turn = (
            said("user", "Go on."),
            asked_tool("find", f"c{number}"),
            answered(f"result {number}", f"c{number}"),
        )
        sent = rewriter.request(CHAT, call(chat(*turn, tools=(FIND, PAY)))).call
        given.append(json.loads(sent.body)["messages"][-1]["content"])
    assert given == ["result 0"] * 3
