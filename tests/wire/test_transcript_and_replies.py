"""The agent's own past rewritten in requests, and replies that reach it damaged, in several dialects."""

import json
from typing import Any

import pytest

from agentmut.nouns import AgentConfig, HttpCall, ModelReply, ReplyFault, ToolCall, Transcript
from agentmut.nouns.trace import Usage
from agentmut.seams.plugins import load
from agentmut.wire import ConfigRewriter

RULES = "Never guess."
CALLS = [
    {"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"order": 1}'}},
    {"id": "b", "type": "function", "function": {"name": "find", "arguments": '{"order": 2}'}},
]
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": RULES},
    {"role": "user", "content": "Where are my orders?"},
    {"role": "assistant", "content": None, "tool_calls": CALLS, "reasoning_content": "I look them up."},
    {"role": "tool", "tool_call_id": "a", "content": "one"},
    {"role": "tool", "tool_call_id": "b", "content": "two"},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Where are my orders?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look them up.", "signature": "s"},
            {"type": "tool_use", "id": "a", "name": "find", "input": {"order": 1}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "one"}]},
]
LATER = [
    *CHAT,
    {"role": "assistant", "content": "Both are sent."},
    {"role": "user", "content": "Thanks. And the third?"},
]
REPLY = ModelReply(
    model="m",
    tool_calls=(
        ToolCall(id="a", name="find", arguments='{"order": 1}'),
        ToolCall(id="b", name="find", arguments="{}"),
    ),
    finish_reason="tool_calls",
    usage=Usage(),
)
ANSWER = ModelReply(model="m", text="Both are sent.", usage=Usage())


def rewriter(**changed: Any) -> ConfigRewriter:
    base = AgentConfig(prompt=RULES)
    return ConfigRewriter(base, base.model_copy(update=changed))


def told(
    kind: Transcript, messages: list[dict[str, Any]], dialect: str = "chat_completions"
) -> list[dict[str, Any]]:
    """Give the messages that the model is sent, and check that the change left its mark if there was one."""
    path = "/v1/messages" if dialect == "anthropic_messages" else "/v1/chat/completions"
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    changer = rewriter(transcript=kind)
    call = HttpCall(path, json.dumps(body).encode())
    sent = changer.request(load("codecs", dialect)(), call).call
    found: list[dict[str, Any]] = json.loads(sent.body)["messages"]
    assert ("/transcript" in changer.marks) == (found != messages)
    return found


def given(fault: ReplyFault, reply: ModelReply, *, stream: bool = False) -> ModelReply:
    codec = load("codecs", "chat_completions")()
    changer = rewriter(reply=fault)
    assert changer.needs_whole_replies
    call = HttpCall(
        "/v1/chat/completions", json.dumps({"model": "m", "messages": CHAT, "stream": stream}).encode()
    )
    body = codec.encode_reply(reply, reply_id="r", stream=stream)
    after = changer.reply(codec, call, body).body
    assert ("/reply" in changer.marks) == (after != body)
    found: ModelReply = codec.decode_reply(after)
    return found


def test_the_first_request_has_lost_nothing_yet() -> None:
    for kind in (Transcript.FIRST_TURN_LOST, Transcript.RULES_LOST, Transcript.RESULTS_SWAPPED):
        assert told(kind, CHAT[:2]) == CHAT[:2]


def test_later_requests_lose_the_task_or_the_rules() -> None:
    assert told(Transcript.FIRST_TURN_LOST, CHAT)[1]["content"] == "[earlier message removed]"
    assert RULES not in json.dumps(told(Transcript.RULES_LOST, CHAT))


def test_results_before_the_last_reply_become_placeholders() -> None:
    assert told(Transcript.RESULTS_OMITTED, CHAT) == CHAT, "these results are the latest"
    found = told(Transcript.RESULTS_OMITTED, LATER)
    assert [one["content"] for one in found if one["role"] == "tool"] == [
        "[result omitted to save space]"
    ] * 2


def test_results_of_one_reply_change_places_and_keep_their_ids() -> None:
    found = told(Transcript.RESULTS_SWAPPED, CHAT)
    assert [(one["tool_call_id"], one["content"]) for one in found[3:]] == [("a", "two"), ("b", "one")]


def test_arguments_of_earlier_calls_are_blanked_in_each_dialect() -> None:
    calls = told(Transcript.ARGUMENTS_BLANKED, CHAT)[2]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ["{}", "{}"]
    blocks = told(Transcript.ARGUMENTS_BLANKED, ANTHROPIC, "anthropic_messages")[1]["content"]
    assert blocks[1]["input"] == {} and blocks[1]["name"] == "find"


def test_thoughts_and_their_signatures_are_stripped() -> None:
    assert "reasoning_content" not in told(Transcript.REASONING_STRIPPED, CHAT)[2]
    blocks = told(Transcript.REASONING_STRIPPED, ANTHROPIC, "anthropic_messages")[1]["content"]
    assert [block["type"] for block in blocks] == ["tool_use"]


def test_the_last_turn_is_sent_twice_and_only_as_the_last() -> None:
    assert told(Transcript.TURN_TWICE, CHAT[:2]) == [*CHAT[:2], CHAT[1]]
    assert told(Transcript.TURN_TWICE, CHAT) == CHAT


def test_earlier_turns_are_reopened_or_summarised() -> None:
    assert told(Transcript.WORK_REOPENED, LATER) == [CHAT[0], CHAT[1], LATER[-1]]
    found = told(Transcript.SUMMARISED, LATER)
    assert found[1]["content"] == "[Earlier: Where are my orders?]\n\nThanks. And the third?"
    assert len(found) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_replies_reach_the_agent_damaged(stream: bool) -> None:
    assert given(ReplyFault.ANSWER_CUT, ANSWER, stream=stream).text == "Both ar"
    assert given(ReplyFault.ANSWER_EMPTY, ANSWER, stream=stream).text == ""
    assert [c.id for c in given(ReplyFault.SECOND_CALL_LOST, REPLY, stream=stream).tool_calls] == ["a"]
    as_text = given(ReplyFault.CALL_AS_TEXT, REPLY, stream=stream)
    assert not as_text.tool_calls and '"name": "find"' in as_text.text
    cut = given(
        ReplyFault.CALL_CUT, REPLY.model_copy(update={"tool_calls": REPLY.tool_calls[:1]}), stream=stream
    )
    assert cut.tool_calls[0].arguments == '{"orde'
    assert given(ReplyFault.WRONG_FINISH, ANSWER, stream=stream).finish_reason == "length"


@pytest.mark.parametrize("fault", [ReplyFault.ANSWER_CUT, ReplyFault.ANSWER_EMPTY])
def test_a_fault_of_answers_leaves_calls(fault: ReplyFault) -> None:
    assert given(fault, REPLY).tool_calls == REPLY.tool_calls


def test_what_the_agent_said_last_is_lost_and_nothing_of_the_turn_under_way() -> None:
    assert told(Transcript.QUESTION_LOST, LATER) == [*CHAT, LATER[-1]]
    assert told(Transcript.QUESTION_LOST, CHAT) == CHAT, "nothing was said before the only turn"
    begun = [*LATER, {"role": "assistant", "content": None, "tool_calls": CALLS}]
    assert told(Transcript.QUESTION_LOST, begun) == [*CHAT, *begun[-2:]]


def test_arguments_are_those_of_another_case_or_have_a_longer_query() -> None:
    asked = REPLY.model_copy(
        update={"tool_calls": (ToolCall(id="a", name="find", arguments='{"query": "PE 4", "most": 3}'),)}
    )
    other, longer = (
        given(fault, asked).tool_calls[0] for fault in (ReplyFault.ARGUMENTS_OTHER, ReplyFault.QUERY_EXPANDED)
    )
    assert json.loads(other.arguments) == {"query": "PE 7", "most": 6}
    assert json.loads(longer.arguments) == {
        "query": "PE 4 general meaning, definition and overview", "most": 3,
    }  # fmt: skip
    broken = asked.model_copy(update={"tool_calls": (ToolCall(id="a", name="find", arguments='{"que'),)})
    assert given(ReplyFault.ARGUMENTS_OTHER, broken).tool_calls == broken.tool_calls
