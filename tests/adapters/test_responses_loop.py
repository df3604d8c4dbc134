"""The tool loop of the Responses API: requests, calls, settings and endings."""

from collections.abc import Iterator
from typing import Any

import pytest

from agentmut.nouns.config import ModelConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.trace import Action, Usage
from tests.adapters.scripted_loops import (
    SCHEMA,
    SYSTEM,
    Scripted,
    function_call,
    response,
    response_stream,
    responses,
    run,
    scripted_service,
    spoken,
    streams,
)


@pytest.fixture(autouse=True)
def scripted(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    with scripted_service(loop_thread, monkeypatch) as service:
        yield service


@streams
def test_responses_asks_calls_at_once_and_answers(scripted: Scripted, stream: bool) -> None:
    asked = response(function_call(1, '{"order": "A-1"}'), function_call(2, '{"order"'))
    given = [asked, response(spoken("On its way."))]
    scripted.script = [response_stream(one) if stream else one for one in given]
    found = run(responses(stream), "Where?")
    assert (found.ending, found.trace.output) == (Ending.ANSWERED, "On its way.")
    first, second = scripted.bodies
    assert set(scripted.paths) == {"/v1/responses"}
    assert (first["instructions"], first["model"]) == (SYSTEM, "m-1")
    assert (first["temperature"], first["top_p"]) == (0.7, 0.9)
    assert first["input"] == [{"role": "user", "content": "Where?"}]
    assert first["tools"] == [
        {
            "type": "function",
            "name": "look_up",
            "description": "Look up an order by its number.",
            "parameters": SCHEMA,
            "strict": False,
        }
    ]
    assert second["input"][1:3] == asked["output"]
    assert second["input"][3]["output"] == '{"order": "A-1", "status": "on its way"}'
    assert [item["call_id"] for item in second["input"][3:]] == ["call_1", "call_2"]
    assert second["input"][4]["output"].startswith("Error: the arguments of 'look_up' are not JSON")
    reason = found.trace.steps[0]
    assert (reason.model, reason.usage) == ("m-1-exact", Usage(input_tokens=7, output_tokens=3))
    assert [step.action for step in found.trace.steps].count(Action.CALL_TOOL) == 2


def test_every_setting_reaches_responses_in_its_own_terms(scripted: Scripted) -> None:
    scripted.script = [response(spoken("{}"))]
    schema = {"name": "x", "schema": {"type": "object"}, "strict": True}
    model = ModelConfig(
        name="m-1",
        max_tokens=77,
        reasoning_effort="low",
        tool_choice={"type": "function", "function": {"name": "look_up"}},
        response_format={"type": "json_schema", "json_schema": schema},
    )
    run(responses(model=model))
    sent = scripted.bodies[0]
    assert (sent["max_output_tokens"], sent["reasoning"]) == (77, {"effort": "low"})
    assert sent["tool_choice"] == {"type": "function", "name": "look_up"}
    assert sent["text"] == {"format": {"type": "json_schema", **schema}}
    run(
        responses(
            model=ModelConfig(name="m-1", tool_choice="required", response_format={"type": "json_object"})
        )
    )
    assert (scripted.bodies[1]["tool_choice"], scripted.bodies[1]["text"]) == (
        "required", {"format": {"type": "json_object"}}
    )  # fmt: skip


def test_responses_stops_refusals_and_failures(scripted: Scripted) -> None:
    cut = {"incomplete_details": {"reason": "max_output_tokens"}}
    scripted.script = [response(spoken("It is o"), status="incomplete", **cut)]
    found = run(responses())
    assert (found.trace.output, found.trace.steps[-1].error) == (
        "It is o", "the answer was cut off: max_tokens"
    )  # fmt: skip
    scripted.script = [response(spoken("I cannot.", "refusal", "refusal"))]
    assert run(responses()).trace.output == "I cannot."
    failed = response(status="failed", error={"code": "server_error", "message": "sorry"})
    scripted.script = [failed]
    assert "ResponseFailedError: server_error: sorry" in run(responses()).reason
    scripted.script = [response_stream(failed)]
    assert "server_error: sorry" in run(responses(stream=True)).reason
    scripted.script = [response_stream(response(spoken("It")))[:1]]
    assert run(responses(stream=True)).ending is Ending.INFRASTRUCTURE


def test_responses_keeps_the_conversation_itself(scripted: Scripted) -> None:
    scripted.script = [response(spoken("First.")), response(spoken("Second."))]
    found = run(responses(), "One", "Two")
    assert found.trace.outputs == ("First.", "Second.")
    assert scripted.bodies[1]["input"] == [
        {"role": "user", "content": "One"}, spoken("First."), {"role": "user", "content": "Two"}
    ]  # fmt: skip
    assert "previous_response_id" not in scripted.bodies[1]
