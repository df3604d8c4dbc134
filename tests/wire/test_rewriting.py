"""Model requests of an agent made those of its mutant, and replies made those that the agent expects."""

import copy
import json
import threading
import time
from typing import Any

import pytest

from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Usage
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.rewriting.rewriter import ConfigRewriter

CHAT = ChatCompletions()
PATH = "/v1/chat/completions"
every_codec = pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
FIND = ToolSpec(name="find", description="Find an order.")
PAY = ToolSpec(name="pay", description="Pay money back.")
MAIL = ToolSpec(name="mail", description="Send a mail.")
PROMPT = "You are the clerk of a shop.\n\n- Always ask for the order number.\n- Never promise a date.\n"
BASE = AgentConfig(prompt=PROMPT, tools=(FIND, PAY), model=ModelConfig(name="sim-large", temperature=0.5))


def call(body: dict[str, Any]) -> HttpCall:
    return HttpCall(PATH, json.dumps(body, indent=1).encode())


def chat(*messages: dict[str, Any], tools: tuple[ToolSpec, ...] = (), **fields: Any) -> dict[str, Any]:
    offered = {"tools": [tool.to_openai() for tool in tools]} if tools else {}
    return {"model": "sim-large", "messages": list(messages), **offered, **fields}


def said(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def asked_tool(name: str, call_id: str = "c1") -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    made = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def answered(text: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def mutated(**update: Any) -> AgentConfig:
    return BASE.model_copy(update=update)


def rewritten(base: AgentConfig, after: AgentConfig, body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ConfigRewriter(base, after).request(CHAT, call(body)).call.body)
    return found


def system_of(after_prompt: str, system: str, base_prompt: str = PROMPT) -> str:
    base = AgentConfig(prompt=base_prompt)
    body = chat(said("system", system), said("user", "Hello."))
    found = rewritten(base, AgentConfig(prompt=after_prompt), body)
    return str(found["messages"][0]["content"])


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


# Prompt


def test_the_prompt_in_a_longer_system_text_is_replaced_as_a_whole() -> None:
    assert system_of("Be kind.\n", f"Today is Monday.\n\n{PROMPT}\nMemory: none.") == (
        "Today is Monday.\n\nBe kind.\n\nMemory: none."
    )


def test_a_stripped_prompt_is_found_as_well() -> None:
    assert system_of("Be kind.\n", PROMPT.strip()) == "Be kind."


def test_a_short_prompt_is_not_found_in_the_middle_of_words() -> None:
    assert system_of("Lie.", "Askew or not, Ask.", base_prompt="Ask.") == "Askew or not, Lie."
    assert system_of("Lie", "Asking is free.", base_prompt="Ask") == "Asking is free."


def test_one_line_of_a_template_changes_and_its_values_stay() -> None:
    template = "You serve {name}, a {{ tier }} customer.\n- Ask $name early.\n- Be brief.\n"
    rendered = "You serve Dr. Ann Lee, a gold customer.\n- Ask Ann early.\n- Be brief.\n"
    assert system_of(template.replace("serve", "ignore"), rendered, template) == rendered.replace(
        "serve", "ignore"
    )
    assert system_of(template.replace("- Ask $name early.\n", ""), rendered, template) == (
        "You serve Dr. Ann Lee, a gold customer.\n- Be brief.\n"
    )
    repeated = template + "- Ask $name early.\n"
    assert system_of(repeated, rendered, template) == rendered + "- Ask Ann early.\n"


def test_a_new_line_with_a_placeholder_that_nothing_tells_is_left_out() -> None:
    assert (
        system_of("Be brief, {x}.\nBe kind.\n", "Be kind. Be calm.", "Be kind.\n{y}") == "Be kind. Be calm."
    )


def test_a_line_is_found_by_its_neighbours_where_it_stands_twice() -> None:
    base = "# Orders\n- Be brief.\n\n# Refunds\n- Be brief.\n\n{memory}\n"
    rendered = base.replace("{memory}", "none")
    changed = base.replace("# Refunds\n- Be brief.", "# Refunds\n- Be long.")
    assert system_of(changed, rendered, base) == rendered.replace(
        "# Refunds\n- Be brief.", "# Refunds\n- Be long."
    )


def test_what_cannot_be_told_apart_is_left_as_it_is() -> None:
    twice = "- Always ask for the order number.\nx\n- Always ask for the order number.\n"
    assert system_of(PROMPT.replace("order number", "name"), twice) == twice


def test_a_prompt_in_blocks_keeps_the_blocks_and_their_cache_markers() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "You are the clerk of a shop.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "- Always ask for the order number.\n- Never promise a date."},
    ]
    after = AgentConfig(prompt=PROMPT.replace("Never", "Always"))
    found = rewritten(AgentConfig(prompt=PROMPT), after, chat(said("system", blocks), said("user", "Hi.")))
    expected = copy.deepcopy(blocks)
    expected[1]["text"] = "- Always ask for the order number.\n- Always promise a date."
    assert found["messages"][0]["content"] == expected


def test_a_prompt_in_a_user_message_is_changed_there_and_only_where_no_system_text_has_it() -> None:
    base, after = AgentConfig(prompt=PROMPT), AgentConfig(prompt="Be kind.")
    alone = rewritten(base, after, chat(said("user", f"{PROMPT}\nWhere is it?")))
    assert alone["messages"][0]["content"] == "Be kind.\nWhere is it?"
    both = rewritten(base, after, chat(said("system", PROMPT), said("user", PROMPT)))
    assert [message["content"] for message in both["messages"]] == ["Be kind.", PROMPT]


def test_the_destroyed_prompt_leaves_no_instructions_where_any_of_it_was() -> None:
    system = "Preamble of the framework.\n- Always ask for the order number.\nMore."
    assert system_of("", system) == ""
    assert system_of("", "Another agent's instructions.") == "Another agent's instructions."


# Documents

ONE = Document(name="one", text="Refunds take a day.")
TWO = Document(name="two", text="Returns are free.")
NEW = Document(name="new", text="The moon is far.")


def documents(
    before: tuple[Document, ...], after: tuple[Document, ...], text: str, role: str = "system"
) -> str:
    base, changed = (BASE.model_copy(update={"context": docs}) for docs in (before, after))
    found = rewritten(base, changed, chat(said("user", "Hi."), said(role, text), said("user", "And?")))
    return str(found["messages"][1]["content"])


def test_documents_change_places_in_the_form_they_have() -> None:
    text = f"Rules.\n\n{ONE.wrapped}\n\nBetween.\n\n{TWO.text}"
    assert documents((ONE, TWO), (TWO, ONE), text) == f"Rules.\n\n{TWO.text}\n\nBetween.\n\n{ONE.wrapped}"


def test_a_dropped_document_goes_with_its_tags() -> None:
    assert (
        documents((ONE, TWO), (TWO,), f"Rules.\n\n{ONE.wrapped}\n\n{TWO.wrapped}")
        == f"Rules.\n\n{TWO.wrapped}"
    )


def test_a_new_document_goes_behind_its_neighbour_or_to_the_end_of_the_instructions() -> None:
    inserted = (ONE, NEW, TWO)
    assert documents((ONE, TWO), inserted, f"{ONE.text}\n\n{TWO.text}") == (
        f"{ONE.text}\n\n{NEW.text}\n\n{TWO.text}"
    )
    assert documents((ONE, TWO), inserted, PROMPT) == f"{PROMPT}\n\n{NEW.wrapped}"
    assert documents((ONE, TWO), inserted, "Another agent's rules.") == "Another agent's rules."


def test_a_document_given_twice_follows_itself() -> None:
    assert documents((ONE,), (ONE, ONE), ONE.wrapped) == f"{ONE.wrapped}\n\n{ONE.wrapped}"


def test_documents_in_json_results_of_tools_are_changed_there() -> None:
    old = Document(name="d", text='Say "yes".\nRefunds take 14 days.')
    new = Document(name="d", text='Say "yes".\nRefunds take 30 days.')
    base, changed = (BASE.model_copy(update={"context": (document,)}) for document in (old, new))
    body = chat(said("user", "Hi."), asked_tool("find"), answered(json.dumps({"hits": [old.text]})))
    found = rewritten(base, changed, body)
    assert json.loads(found["messages"][2]["content"]) == {"hits": [new.text]}
    part = chat(said("user", "Hi."), asked_tool("find"), answered("...Refunds take 14 days."))
    assert rewritten(base, changed, part)["messages"][2]["content"] == "...Refunds take 30 days."


# Tools


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


def renamed(tool: ToolSpec, name: str) -> ToolSpec:
    return tool.model_copy(update={"name": name, "implemented_by": tool.name})


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


# Decoys

DECOY = ToolSpec(name="find_v2", description="Find. (new version)", fault=ToolFault(kind=FaultKind.DECOY))
WITH_DECOY = mutated(tools=(FIND, DECOY, PAY))


def calling(*tools: str, text: str = "", first: int = 1) -> ModelReply:
    made = tuple(ToolCall(id=f"c{n}", name=name, arguments="{}") for n, name in enumerate(tools, first))
    usage = Usage(input_tokens=7, output_tokens=3)
    finish = "tool_calls" if made else "stop"
    return ModelReply(model="sim-large", text=text, tool_calls=made, finish_reason=finish, usage=usage)


def tool_messages(*tools: str) -> tuple[Message, ...]:
    made = tuple(ToolCall(id=f"h{n}", name=name, arguments="{}") for n, name in enumerate(tools))
    results = (Message(role=Role.TOOL, text="{}", tool_call_id=call.id) for call in made)
    return (Message(role=Role.ASSISTANT, tool_calls=made), *results)


def turn(
    earlier: tuple[Message, ...] = (), *, stream: bool = False, tools: tuple[ToolSpec, ...] = (FIND, PAY)
) -> ModelRequest:
    messages = (
        Message(role=Role.SYSTEM, text=PROMPT),
        Message(role=Role.USER, text="Where is it?"),
        *earlier,
    )
    return ModelRequest(model="sim-large", messages=messages, tools=tools, stream=stream)


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


# Results


def fault(kind: FaultKind, seconds: float = 0.0) -> AgentConfig:
    return mutated(tools=(FIND.model_copy(update={"fault": ToolFault(kind=kind, seconds=seconds)}), PAY))


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


# Model, history


def test_settings_are_changed_where_the_request_has_the_originals() -> None:
    after = mutated(model=ModelConfig(name="sim-large", temperature=1.5, max_tokens=5))
    body = chat(said("user", "Hi."), temperature=0.5)
    found = rewritten(BASE, after, body)
    assert found["temperature"] == 1.5
    assert found.get("max_tokens", found.get("max_completion_tokens")) == 5
    own = rewritten(BASE, after, chat(said("user", "Hi."), temperature=0.1))
    assert own["temperature"] == 0.1


def test_the_requests_of_another_model_are_another_agents() -> None:
    sent = call({**chat(said("user", "Hi."), temperature=0.5), "model": "sim-judge"})
    after = mutated(model=ModelConfig(name="sim-small", temperature=1.5))
    assert ConfigRewriter(BASE, after).request(CHAT, sent).call is sent


def turns_of(history: History, *messages: dict[str, Any]) -> tuple[list[tuple[str, Any]], frozenset[str]]:
    base = mutated(history=History.KEPT)
    rewriter = ConfigRewriter(base, mutated(history=history))
    found = json.loads(rewriter.request(CHAT, call(chat(*messages))).call.body)
    return [(message["role"], message["content"]) for message in found["messages"]], rewriter.marks


CONVERSATION = [
    said("system", PROMPT), said("user", "One?"), asked_tool("find"), answered("{}"), said("assistant", "One."),
    said("user", "Two?"), asked_tool("pay", "c2"), answered("{}", "c2"),
]  # fmt: skip


def test_dropped_turns_go_and_the_instructions_and_the_last_turn_stay() -> None:
    left, marks = turns_of(History.DROPPED, *CONVERSATION)
    assert left == [("system", PROMPT), ("user", "Two?"), ("assistant", None), ("tool", "{}")]
    assert marks == {"/history"}


def test_swapped_turns_have_the_speakers_exchanged() -> None:
    left, marks = turns_of(History.SWAPPED, *CONVERSATION)
    assert [content for _, content in left] == [PROMPT, "One.", None, "{}", "One?", "Two?", None, "{}"]
    assert marks == {"/history"}


@pytest.mark.parametrize("history", [History.DROPPED, History.SWAPPED])
def test_the_first_turn_has_no_history(history: History) -> None:
    kept, marks = turns_of(history, *CONVERSATION[:5])
    assert [content for _, content in kept] == [message["content"] for message in CONVERSATION[:5]]
    assert not marks


def test_instructions_that_a_user_message_carries_stay() -> None:
    left, _ = turns_of(History.DROPPED, said("user", PROMPT), said("assistant", "Yes."), said("user", "Two?"))
    assert left == [("user", PROMPT), ("user", "Two?")]


# What cannot be read, cost, threads


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b'{"messages": 5}', b'{"messages": [5], "tools": 7}', b"[" * 9999]
)
@every_codec
def test_what_cannot_be_read_goes_out_as_it_is(codec: Codec, body: bytes) -> None:
    after = AgentConfig(
        history=History.DROPPED, tools=(renamed(FIND, "x"), DECOY), model=ModelConfig(name="m", seed=3)
    )
    base = mutated(context=(ONE,))
    rewriter = ConfigRewriter(base, after)
    sent = HttpCall("/v1/x", body)
    assert rewriter.request(codec, sent).call.body == body
    assert rewriter.reply(codec, sent, body) == (body, None)


def test_a_large_request_with_nothing_to_change_costs_little() -> None:
    filler = "All work and no play makes a dull boy.\n" * 250
    messages = [said("system", PROMPT), *(said("user", filler) for _ in range(20))]
    sent = call(chat(*messages, tools=(FIND, PAY)))
    assert len(sent.body) > 190_000
    rewriter = ConfigRewriter(BASE, fault(FaultKind.ERROR))
    seconds = []
    for _ in range(15):
        started = time.thread_time()
        assert rewriter.request(CHAT, sent).call is sent
        seconds.append(time.thread_time() - started)
    assert min(seconds) < 0.002


def test_parallel_requests_of_a_trial_are_all_rewritten() -> None:
    rewriter = ConfigRewriter(BASE, fault(FaultKind.SLOW, 1.0))
    bodies = [
        call(chat(said("user", "Hi."), asked_tool("find", f"c{n}"), answered("one", f"c{n}")))
        for n in range(40)
    ]
    pauses: list[float] = []
    threads = [
        threading.Thread(target=lambda one=one: pauses.append(rewriter.request(CHAT, one).pause))
        for one in bodies * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(pauses) == [0.0] * 40 + [1.0] * 40


# What a trial must survive, and remember


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


def test_words_beside_the_result_of_a_tool_begin_no_turn() -> None:
    """Agents put reminders there; without the call before it, the service refuses the result."""
    base = AgentConfig(prompt=PROMPT, history=History.KEPT)
    rewriter = ConfigRewriter(base, base.model_copy(update={"history": History.DROPPED}))
    result = {"type": "tool_result", "tool_use_id": "1", "content": "Found."}
    use = {"type": "tool_use", "id": "1", "name": "find", "input": {}}
    body = {
        "model": "m",
        "max_tokens": 5,
        "messages": [
            said("user", "Where is it?"),
            said("assistant", [use]),
            said("user", [result, {"type": "text", "text": "Remember to be brief."}]),
        ],
    }
    asked = HttpCall("/v1/messages", json.dumps(body).encode())
    assert rewriter.request(AnthropicMessages(), asked).call is asked
    assert not rewriter.marks
