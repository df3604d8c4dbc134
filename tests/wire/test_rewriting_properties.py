"""What holds for every rewriter: unchanged configs change nothing, and a history sent again reads the same."""

import json
from typing import Any
from unittest import TestCase

from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.messages import Message, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.codecs import all_codecs
from agentmut.wire.rewriting.hunks import applied, hunks
from agentmut.wire.rewriting.rewriter import ConfigRewriter

LINES = [
    "Be brief.",
    "Ask for {name} first.",
    "# Rules",
    "",
    "- Never guess.",
    "  - Be kind.",
    "Say \x00 or é.",
]
texts = st.lists(st.sampled_from(LINES), max_size=6).map("\n".join)
TOOLS = tuple(ToolSpec(name=name, description=f"Does {name}.") for name in ("find", "pay", "mail"))
KINDS = [kind for kind in FaultKind if kind is not FaultKind.DECOY]
faults = st.none() | st.sampled_from(KINDS).map(lambda kind: ToolFault(kind=kind))
tools = st.lists(
    st.builds(
        lambda tool, name, fault: tool.model_copy(
            update={"name": name, "implemented_by": None if name == tool.name else tool.name, "fault": fault}
        ),
        st.sampled_from(TOOLS),
        st.sampled_from(["find", "pay", "mail", "search"]),
        faults,
    ),
    max_size=3,
    unique_by=(lambda tool: tool.name, lambda tool: tool.own_name),
).map(tuple)
configs = st.builds(
    AgentConfig,
    prompt=texts,
    tools=tools,
    context=st.lists(st.builds(Document, name=st.sampled_from("ab"), text=texts), max_size=2).map(tuple),
    model=st.builds(ModelConfig, name=st.just("m"), temperature=st.sampled_from([None, 0.5])),
)
codecs = st.sampled_from(all_codecs())


def conversation(base: AgentConfig, prompt: str, spoken: list[tuple[int, str]]) -> list[Message]:
    """User turns (0), answers (1) and calls of tools with their results (2 to 4)."""
    messages = [Message(role=Role.SYSTEM, text=prompt), Message(role=Role.USER, text="Hello.")]
    for number, (kind, text) in enumerate(spoken):
        said = text.strip() or "Well."
        if kind > 1:
            called = ToolCall(id=f"c{number}", name=TOOLS[kind - 2].name, arguments="{}")
            messages.append(Message(role=Role.ASSISTANT, tool_calls=(called,)))
            messages.append(Message(role=Role.TOOL, text=said, tool_call_id=called.id))
        else:
            messages.append(Message(role=Role.ASSISTANT if kind else Role.USER, text=said))
    return messages


spoken = st.lists(st.tuples(st.integers(0, 4), texts), max_size=5)


@given(base=configs, after=configs, prompt=texts, said=spoken, codec=codecs)
@settings(max_examples=50, deadline=None)
def test_a_history_that_is_sent_again_reads_the_same(
    base: AgentConfig, after: AgentConfig, prompt: str, said: list[tuple[int, str]], codec: Any
) -> None:
    base = base.model_copy(update={"tools": TOOLS})
    rewriter = ConfigRewriter(base, after)
    messages = conversation(base, f"{base.prompt}\n{prompt}", said)
    requests = [
        codec.encode_request(ModelRequest(model="m", messages=tuple(messages[:n]), tools=TOOLS))
        for n in range(2, len(messages) + 1)
        if messages[n - 1].role is not Role.ASSISTANT
    ]
    first = [rewriter.request(codec, request).call for request in requests]
    assert [rewriter.request(codec, request).call for request in requests] == first
    assert ConfigRewriter(base, after).request(codec, requests[-1]).call == first[-1]


@given(base=configs, prompt=texts, said=spoken, codec=codecs)
@settings(max_examples=40, deadline=None)
def test_equal_configs_change_no_byte(
    base: AgentConfig, prompt: str, said: list[tuple[int, str]], codec: Any
) -> None:
    request = ModelRequest(model="m", messages=tuple(conversation(base, prompt, said)), tools=TOOLS)
    path, body = codec.encode_request(request)
    call = HttpCall(path, json.dumps(json.loads(body), indent=1).encode())
    rewriter = ConfigRewriter(base, AgentConfig.model_validate(base.model_dump()))
    assert rewriter.request(codec, call).call is call
    assert not rewriter.needs_whole_replies and not rewriter.marks


KEYS = [
    "messages",
    "role",
    "content",
    "tools",
    "name",
    "text",
    "input",
    "system",
    "contents",
    "parts",
    "choices",
]
leaves = st.none() | st.integers() | st.text(max_size=9) | st.sampled_from(["user", "find", "function"])
json_values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(base=configs, after=configs, body=json_values, codec=codecs)
@settings(max_examples=60, deadline=None)
def test_no_json_makes_a_rewriter_raise(base: AgentConfig, after: AgentConfig, body: Any, codec: Any) -> None:
    rewriter = ConfigRewriter(base, after)
    call = HttpCall("/v1/x", json.dumps(body).encode())
    with TestCase().assertNoLogs(
        "agentmut.wire.rewriting"
    ):  # an error there is caught, and the request passes
        rewriter.request(codec, call)
        rewriter.reply(codec, call, call.body)
        rewriter.event(codec, call, body)


@given(before=texts, after=texts, around=texts)
@settings(max_examples=60, deadline=None)
def test_hunks_turn_one_text_into_the_other(before: str, after: str, around: str) -> None:
    found = [place for hunk in hunks(before, after) for place in [(hunk.start, hunk.end, hunk.after)]]
    changed, last = "", 0
    for start, end, text in found:
        changed, last = changed + before[last:start] + text, end
    assert changed + before[last:] == after
    for hunk in hunks(before, after):  # in any other text it is found or not, and nothing goes wrong
        applied(around, hunk.found(around))
