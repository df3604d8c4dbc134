"""Requests of several agents in one trial, with one rewriter: each has its own tools and instructions."""

import json
from typing import Any

from agentmut.config import AgentConfig
from agentmut.tools import ToolSpec
from agentmut.wire.codec import HttpCall
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.messages import ModelReply, ToolCall
from agentmut.wire.rewriting import ConfigRewriter

CHAT = ChatCompletions()
FIND = ToolSpec(name="find", description="Find an order.")
SEARCH = ToolSpec(name="search", description="Search the web.")
RENAMED = FIND.model_copy(update={"name": "search", "implemented_by": "find"})


def body_of(said: str, *tools: ToolSpec, history: tuple[dict[str, Any], ...] = ()) -> HttpCall:
    messages = [{"role": "user", "content": said}, *history]
    offered = [tool.to_openai() for tool in tools]
    return HttpCall("/v1/chat/completions", json.dumps({"messages": messages, "tools": offered}).encode())


def called_by(rewriter: ConfigRewriter, sent: HttpCall, name: str) -> str:
    made = ModelReply(model="m", tool_calls=(ToolCall(id="c1", name=name, arguments="{}"),))
    reply = CHAT.encode_reply(made, reply_id="r", stream=False)
    given = CHAT.decode_reply(rewriter.reply(CHAT, sent, reply).body).tool_calls[0].name
    event = {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": name}}]}}]}
    heard: Any = rewriter.event(CHAT, sent, event)
    assert heard["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] == given
    return given


def test_a_renamed_tool_is_mapped_back_although_another_agent_has_a_tool_of_that_name() -> None:
    rewriter = ConfigRewriter(AgentConfig(tools=(FIND,)), AgentConfig(tools=(RENAMED,)))
    first = rewriter.request(CHAT, body_of("one", FIND)).call
    other = rewriter.request(CHAT, body_of("two", SEARCH)).call
    assert called_by(rewriter, first, "search") == "find"
    assert called_by(rewriter, other, "search") == "search"
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    later = body_of("one", FIND, history=({"role": "assistant", "tool_calls": [call]},))
    sent = json.loads(rewriter.request(CHAT, later).call.body)
    assert sent["tools"][0]["function"]["name"] == "search"
    assert sent["messages"][1]["tool_calls"][0]["function"]["name"] == "search"


def test_a_tool_is_not_offered_in_those_requests_only_that_had_it() -> None:
    rewriter = ConfigRewriter(AgentConfig(tools=(FIND, SEARCH)), AgentConfig(tools=(SEARCH,)))
    first = rewriter.request(CHAT, body_of("one", FIND, SEARCH)).call
    other = rewriter.request(CHAT, body_of("two", SEARCH)).call
    assert called_by(rewriter, first, "find") == "find_not_offered"
    assert called_by(rewriter, other, "find") == "find"
