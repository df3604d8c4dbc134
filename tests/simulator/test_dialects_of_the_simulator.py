"""The real SDKs hold the same conversation with the simulator, each in its dialect."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import anthropic
import openai
import pytest

from agentmut.simulator.background import Simulator
from agentmut.simulator.service_settings import read_settings

PROMPT = "You help in a garden. Be kind."
ASKED = "Water plant P-77 please"
RESULT = '{"watered": true, "moisture": 81}'
NAME, DESCRIPTION = "water_plant", "Water a plant"
SCHEMA: Any = {
    "type": "object",
    "properties": {"plant": {"type": "string", "description": "Number such as P-12"}},
    "required": ["plant"],
}
MODEL = "sim-large"


class Talk(NamedTuple):
    calls: list[tuple[str, Any]]
    text: str


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator(read_settings(seed=1)) as running:
        yield running


def chat(simulator: Simulator, trial: str, stream: bool) -> Talk:
    sdk = openai.OpenAI(base_url=simulator.of(trial).openai_base_url, api_key="none", max_retries=0)
    function = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}
    tools: Any = [{"type": "function", "function": function}]
    messages: Any = [{"role": "system", "content": PROMPT}, {"role": "user", "content": ASKED}]
    calls: list[tuple[str, Any]] = []
    for _ in range(5):
        asked = {"model": MODEL, "messages": messages, "tools": tools}
        if stream:
            with sdk.chat.completions.stream(**asked) as events:
                answer = events.get_final_completion()
        else:
            answer = sdk.chat.completions.create(**asked)
        message = answer.choices[0].message
        if not message.tool_calls:
            return Talk(calls, str(message.content))
        messages.append(message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
        for call in message.tool_calls:
            calls.append((call.function.name, json.loads(call.function.arguments)))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULT})
    raise AssertionError(calls)


def responses(simulator: Simulator, trial: str, stream: bool, stored: bool = False) -> Talk:
    sdk = openai.OpenAI(base_url=simulator.of(trial).openai_base_url, api_key="none", max_retries=0)
    tools: Any = [{"type": "function", "name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}]
    items: Any = [{"role": "user", "content": ASKED}]
    calls: list[tuple[str, Any]] = []
    previous: Any = {}
    for _ in range(5):
        asked = {"model": MODEL, "instructions": PROMPT, "input": items, "tools": tools, **previous}
        if stream:
            with sdk.responses.stream(**asked) as events:
                answer: Any = events.get_final_response()
        else:
            answer = sdk.responses.create(**asked)
        made = [item for item in answer.output if item.type == "function_call"]
        if not made:
            return Talk(calls, answer.output_text)
        results = [
            {"type": "function_call_output", "call_id": call.call_id, "output": RESULT} for call in made
        ]
        calls += [(call.name, json.loads(call.arguments)) for call in made]
        previous = {"previous_response_id": answer.id} if stored else {}
        items = results if stored else [*items, *answer.output, *results]
    raise AssertionError(calls)


def stored_responses(simulator: Simulator, trial: str, stream: bool) -> Talk:
    return responses(simulator, trial, stream, stored=True)


def messages(simulator: Simulator, trial: str, stream: bool) -> Talk:
    sdk = anthropic.Anthropic(base_url=simulator.of(trial).anthropic_base_url, api_key="none", max_retries=0)
    tools: Any = [{"name": NAME, "description": DESCRIPTION, "input_schema": SCHEMA}]
    said: Any = [{"role": "user", "content": ASKED}]
    calls: list[tuple[str, Any]] = []
    for _ in range(5):
        asked: Any = {"model": MODEL, "max_tokens": 1000, "system": PROMPT, "messages": said, "tools": tools}
        if stream:
            with sdk.messages.stream(**asked) as events:
                answer: Any = events.get_final_message()
        else:
            answer = sdk.messages.create(**asked)
        made = [block for block in answer.content if block.type == "tool_use"]
        if not made:
            return Talk(calls, "".join(block.text for block in answer.content))
        calls += [(call.name, call.input) for call in made]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT} for call in made]
        said += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]
    raise AssertionError(calls)


DIALECTS: list[Callable[[Simulator, str, bool], Talk]] = [responses, stored_responses, messages]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conversation_is_the_same_in_every_dialect(
    dialect: Any, stream: bool, simulator: Simulator
) -> None:
    held = dialect(simulator, "a", stream)
    assert held.calls == [("water_plant", {"plant": "P-77"})]
    assert held == chat(simulator, "a", False)
