"""Requests of several agents in one trial, with one rewriter: each has its own tools and instructions."""

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from agentmut.nouns.codec import Body, HttpCall, OfferedTool, Rename
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.messages import ModelReply, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.rewriting.hunks import hunks
from agentmut.wire.rewriting.rewriter import ConfigRewriter

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


def texts_after(base: AgentConfig, after: AgentConfig, system: str, user: str) -> tuple[str, str]:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    call = HttpCall("/v1/chat/completions", json.dumps({"messages": messages}).encode())
    sent = json.loads(ConfigRewriter(base, after).request(CHAT, call).call.body)
    return sent["messages"][0]["content"], sent["messages"][1]["content"]


RULES = "You are a clerk.\n{more}Be kind.\n"
RULE = "Never promise a date to any customer."


def test_what_the_user_quotes_of_the_instructions_is_not_changed() -> None:
    base = AgentConfig(prompt=RULES.replace("{more}", f"{RULE}\n"))
    indented = "".join(f"  {line}\n" for line in base.prompt.splitlines())
    said = f"A:\n{indented}B:\n{indented}", f"Your rules say: {RULE} Why?"
    assert texts_after(base, AgentConfig(prompt=RULES.replace("{more}", "")), *said) == said


def test_a_short_prompt_is_not_looked_for_in_what_another_agent_is_asked() -> None:
    said = "I am the judge of style.", "Rate: 'Answer. Now.'"
    for prompt in ("Refuse.", ""):
        assert texts_after(AgentConfig(prompt="Answer."), AgentConfig(prompt=prompt), *said) == said


PAGES = (
    Document(name="a", text="Returns are accepted within thirty days of delivery."),
    Document(name="b", text="Shipping is free above fifty euros in all of Europe."),
)


def test_a_document_that_the_user_quotes_stays_where_the_instructions_have_it() -> None:
    base = AgentConfig(prompt="Agent one speaks for the shop in all things.", context=PAGES)
    quoted = f"Your page says: {PAGES[0].text} True?"
    gone = base.model_copy(update={"context": PAGES[1:]})
    changed = base.model_copy(update={"context": (Document(name="a", text="None."), PAGES[1])})
    for after in (gone, changed):
        system, user = texts_after(base, after, base.system_text(), quoted)
        assert PAGES[0].text not in system and user == quoted
    assert texts_after(base, gone, "Be kind.", f"{PAGES[0].text}\n\nWhy?")[1] == "Why?"


def test_a_document_that_stands_in_a_text_thousands_of_times_is_removed() -> None:
    base = AgentConfig(prompt="", context=PAGES)
    text = "\n\n".join(["Log", *[PAGES[0].text] * 3000])
    assert texts_after(base, AgentConfig(prompt="", context=PAGES[1:]), text, "Hello.")[0] == "Log"


def test_settings_reach_requests_with_tools_of_the_service() -> None:
    hosted = {"type": "web_search", "web_search": {"enable": True}}
    body = {"model": "m", "temperature": 0.5, "messages": [], "tools": [FIND.to_openai(), hosted]}
    base, after = (AgentConfig(tools=(FIND,), model=ModelConfig(name="m", temperature=t)) for t in (0.5, 1.0))
    call = HttpCall("/v1/chat/completions", json.dumps(body).encode())
    sent = ConfigRewriter(base, after).request(CHAT, call).call
    assert json.loads(sent.body) == {**body, "temperature": 1.0}
    assert [tool.name for tool in CHAT.decode_request(sent).tools] == ["find"]


class Broken(ChatCompletions):
    """A codec with a mistake in it."""

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        raise RecursionError

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        raise StopIteration


def test_a_mistake_in_rewriting_is_none_of_the_agent(caplog: pytest.LogCaptureFixture) -> None:
    rewriter = ConfigRewriter(AgentConfig(tools=(FIND,)), AgentConfig(tools=(RENAMED,)))
    call = body_of("one", FIND)
    assert rewriter.request(Broken(), call).call is call
    reply = b'{"choices": []}'
    assert rewriter.reply(Broken(), call, reply).body == reply
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


def test_the_changed_places_of_a_large_prompt_are_found_once_and_soon() -> None:
    before = "".join(f"- Rule {n}: ask for thing {n}.\n\n" for n in range(12_000))
    after = before.replace("Rule 7:", "Rule 7 never:").replace("Rule 11990:", "Rule 11990 never:")
    started = time.process_time()
    found = hunks(before, after)
    assert len(found) == 2 and hunks(before, after) is found
    sent, _ = texts_after(
        AgentConfig(prompt=before), AgentConfig(prompt=after), before.replace("\n", "\r\n"), ""
    )
    assert sent == after.replace("\n", "\r\n")
    repeated = "- Be kind.\n\n" * 12_000
    changed = f"{repeated[:500]}x\n{repeated[500:90_000]}y\n{repeated[90_000:]}"
    assert hunks(repeated, changed) == ()  # one place of 90,000 characters: nothing is made by halves
    assert time.process_time() - started < 10
