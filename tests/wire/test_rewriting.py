"""Model requests of an agent made those of its mutant, and replies made those that the agent expects.

Here: settings, the history, and what cannot be read. Texts, tools, decoys and results have files of their own.
"""

import json
import threading
import time
from typing import Any

import pytest

from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.config import AgentConfig, History, ModelConfig
from agentmut.nouns.faults import FaultKind
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from tests.wire.rewritten_chat import (
    BASE,
    CHAT,
    DECOY,
    FIND,
    ONE,
    PAY,
    PROMPT,
    answered,
    asked_tool,
    call,
    chat,
    every_codec,
    fault,
    mutated,
    renamed,
    rewritten,
    said,
)

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
