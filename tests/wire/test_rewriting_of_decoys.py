"""Calls of decoys are answered, and hidden from the agent."""

import pytest

from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.messages import Message, Role
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from tests.wire.rewritten_chat import BASE, DECOY, FIND, PAY, calling, every_codec, mutated, turn

WITH_DECOY = mutated(tools=(FIND, DECOY, PAY))


def said_in(codec: Codec, sent: HttpCall) -> list[tuple[Role, str, list[str]]]:
    messages = codec.decode_request(sent).messages
    return [
        (m.role, m.text, [made.name for made in m.tool_calls]) for m in messages if m.role is not Role.SYSTEM
    ]


NOTHING = "Nothing was found."


@every_codec
@pytest.mark.parametrize("stream", [False, True])
def test_a_decoys_call_is_answered_and_hidden_and_put_back_later(codec: Codec, stream: bool) -> None:
    rewriter = ConfigRewriter(BASE, WITH_DECOY)
    assert rewriter.needs_whole_replies
    sent = rewriter.request(codec, codec.encode_request(turn(stream=stream))).call
    assert [tool.name for tool in codec.decode_request(sent).tools] == ["find", "find_v2", "pay"]

    reply = codec.encode_reply(calling("find_v2"), reply_id="r1", stream=stream)
    again = rewriter.reply(codec, sent, reply).again
    assert again is not None
    hidden = [(Role.ASSISTANT, "", ["find_v2"]), (Role.TOOL, NOTHING, [])]
    user: tuple[Role, str, list[str]] = (Role.USER, "Where is it?", [])
    assert said_in(codec, again) == [user, *hidden]
    assert rewriter.marks == {"/tools/find_v2/fault"}

    last = codec.encode_reply(calling(text="It is lost."), reply_id="r2", stream=stream)
    given = rewriter.reply(codec, again, last)
    assert given == (last, None)

    later = turn((Message(role=Role.ASSISTANT, text="It is lost."), Message(role=Role.USER, text="Why?")))
    for _ in range(2):
        sent = rewriter.request(codec, codec.encode_request(later)).call
        assert said_in(codec, sent) == [
            user, *hidden, (Role.ASSISTANT, "It is lost.", []), (Role.USER, "Why?", []),
        ]  # fmt: skip


@every_codec
@pytest.mark.parametrize("stream", [False, True])
def test_of_decoys_and_own_calls_the_agent_is_given_its_own(codec: Codec, stream: bool) -> None:
    rewriter = ConfigRewriter(BASE, WITH_DECOY)
    sent = rewriter.request(codec, codec.encode_request(turn(stream=stream))).call
    reply = codec.encode_reply(calling("pay", "find_v2", "find"), reply_id="r", stream=stream)
    answered = rewriter.reply(codec, sent, reply)
    assert answered.again is None
    assert [made.name for made in codec.decode_reply(answered.body).tool_calls] == ["pay", "find"]


@every_codec
def test_after_eight_rounds_the_decoys_calls_are_dropped(codec: Codec) -> None:
    rewriter = ConfigRewriter(BASE, WITH_DECOY)
    sent = rewriter.request(codec, codec.encode_request(turn())).call
    rounds = 0
    while True:
        reply = codec.encode_reply(calling("find_v2", first=rounds), reply_id=f"r{rounds}", stream=False)
        body, again = rewriter.reply(codec, sent, reply)
        if again is None:
            break
        sent, rounds = again, rounds + 1
    assert rounds == 8
    assert codec.decode_reply(body).tool_calls == ()
