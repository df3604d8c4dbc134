"""The tool loop of the Anthropic API: requests, calls, settings and endings."""

from collections.abc import Iterator
from typing import Any

import pytest

from agentmut.nouns.config import History, ModelConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.trace import Usage
from tests.adapters.scripted_loops import (
    SCHEMA,
    SYSTEM,
    Scripted,
    anthropic,
    message,
    message_stream,
    run,
    scripted_service,
    streams,
    text,
    use,
)


@pytest.fixture(autouse=True)
def scripted(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    with scripted_service(loop_thread, monkeypatch) as service:
        yield service


@streams
def test_anthropic_asks_calls_at_once_and_answers(scripted: Scripted, stream: bool) -> None:
    asked = message(text("Let me see."), use(1, "A-1"), use(2, "?"), stop="tool_use")
    given = [asked, message(text("On its way."))]
    scripted.script = [message_stream(one) if stream else one for one in given]
    found = run(anthropic(stream), "Where?")
    assert (found.ending, found.trace.output) == (Ending.ANSWERED, "On its way.")
    first, second = scripted.bodies
    assert set(scripted.paths) == {"/v1/messages"}
    assert (first["system"], first["max_tokens"], first["model"]) == (SYSTEM, 1024, "m-1")
    assert (first["temperature"], first["top_p"]) == (0.7, 0.9)
    assert first["messages"] == [{"role": "user", "content": "Where?"}]
    assert first["tools"] == [
        {"name": "look_up", "description": "Look up an order by its number.", "input_schema": SCHEMA}
    ]
    assert "tool_choice" not in first and "stop_sequences" not in first
    assert second["messages"][1] == {"role": "assistant", "content": asked["content"]}
    assert second["messages"][2] == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": '{"order": "A-1", "status": "on its way"}',
            },
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "content": "Error: LookupError: no such order",
                "is_error": True,
            },
        ],
    }
    calls = {(s.call_id, s.error) for s in found.trace.tool_calls}
    assert calls == {("toolu_1", None), ("toolu_2", "LookupError: no such order")}
    reason = found.trace.steps[0]
    assert (reason.model, reason.usage) == (
        "m-1-exact",
        Usage(input_tokens=7, output_tokens=3, cached_tokens=2),
    )


def test_every_setting_reaches_anthropic_in_its_own_terms(scripted: Scripted) -> None:
    scripted.script = [message(text("{}"))]
    model = ModelConfig(
        name="m-1",
        temperature=1.0,
        top_p=0.5,
        max_tokens=77,
        stop=("END",),
        reasoning_effort="low",
        tool_choice={"type": "function", "function": {"name": "look_up"}},
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
    )
    run(anthropic(model=model))
    sent = scripted.bodies[0]
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (1.0, 0.5, 77)
    assert sent["stop_sequences"] == ["END"] and sent["tool_choice"] == {"type": "tool", "name": "look_up"}
    assert sent["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": {"type": "object"}},
    }


def test_anthropic_stops_and_refusals(scripted: Scripted) -> None:
    scripted.script = [message(text("It is o"), stop="max_tokens")]
    found = run(anthropic())
    assert (found.trace.output, found.trace.steps[-1].error) == (
        "It is o", "the answer was cut off: max_tokens"
    )  # fmt: skip
    scripted.script = [message(stop="refusal")]
    found = run(anthropic())
    assert found.ending is Ending.EMPTY_ANSWER
    assert found.trace.steps[-1].error == "the answer was cut off: the model refused"
    scripted.script = [message(text("Wait."), stop="pause_turn"), message(text("Done."))]
    assert run(anthropic()).trace.output == "Done."
    scripted.script = [message_stream(message(text("It is on")))[:3]]
    assert run(anthropic(stream=True)).ending is Ending.INFRASTRUCTURE


@pytest.mark.parametrize(
    ("history", "seen"),
    [
        (History.KEPT, [("user", "One"), ("assistant", [text("First.")]), ("user", "Two")]),
        (History.DROPPED, [("user", "Two")]),
        (History.SWAPPED, [("assistant", "One"), ("user", "First."), ("user", "Two")]),
    ],
)
def test_anthropic_is_given_the_earlier_turns_as_the_config_says(
    scripted: Scripted, history: History, seen: Any
) -> None:
    scripted.script = [message(text("First.")), message(text("Second."))]
    run(anthropic(history=history), "One", "Two")
    assert [(m["role"], m["content"]) for m in scripted.bodies[1]["messages"]] == seen


def test_anthropic_without_a_key_runs_nothing(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", "/nonexistent")
    found = run(anthropic())
    assert found.ending is Ending.UNBUILDABLE and "Set ANTHROPIC_API_KEY" in found.reason
    assert not scripted.bodies
