"""One conversation with the simulator by each real SDK: a question, a call, its result, an answer."""

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import boto3
import openai
import pytest
from botocore.config import Config

from agentmut.simulator.service.background import Simulator

if TYPE_CHECKING:
    from anthropic import Anthropic


PROMPT = "You help in a garden. Be kind to all who ask."


ASKED = "Water plant P-77 please"


RESULT = '{"watered": true, "moisture": 81}'


NAME, DESCRIPTION = "water_plant", "Water a plant"


SCHEMA: Any = {
    "type": "object",
    "properties": {"plant": {"type": "string", "description": "Number such as P-12"}},
    "required": ["plant"],
}


MODEL = "sim-large"


def openai_at(url: str) -> openai.OpenAI:
    http = openai.DefaultHttpxClient(verify=False)  # no certificates to load
    return openai.OpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)


def anthropic_at(url: str) -> "Anthropic":
    import anthropic  # slow

    http = anthropic.DefaultHttpxClient(verify=False)
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, http_client=http)


class Talk(NamedTuple):
    calls: list[tuple[str, Any]]
    text: str


def chat(simulator: Simulator, trial: str, stream: bool) -> Talk:
    sdk = openai_at(simulator.of(trial).openai_base_url)
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
    sdk = openai_at(simulator.of(trial).openai_base_url)
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
    sdk = anthropic_at(simulator.of(trial).anthropic_base_url)
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


def gemini(simulator: Simulator, trial: str, stream: bool) -> Talk:
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=simulator.of(trial).gemini_base_url)
    sdk: Any = genai.Client(api_key="none", http_options=options)
    function = types.FunctionDeclaration(name=NAME, description=DESCRIPTION, parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        system_instruction=PROMPT, tools=[types.Tool(function_declarations=[function])]
    )
    said: Any = [types.Content(role="user", parts=[types.Part(text=ASKED)])]
    calls: list[tuple[str, Any]] = []
    for _ in range(5):
        asked: Any = {"model": MODEL, "contents": said, "config": config}
        if stream:
            pieces = [piece.candidates[0].content for piece in sdk.models.generate_content_stream(**asked)]
            parts = [part for piece in pieces for part in piece.parts or []]
        else:
            parts = sdk.models.generate_content(**asked).candidates[0].content.parts
        made = [part.function_call for part in parts if part.function_call]
        if not made:
            return Talk(calls, "".join(part.text for part in parts if part.text))
        calls += [(call.name, call.args) for call in made]
        results = [types.Part.from_function_response(name=c.name, response=json.loads(RESULT)) for c in made]
        said += [types.Content(role="model", parts=parts), types.Content(role="user", parts=results)]
    raise AssertionError(calls)


@cache
def bedrock_session() -> Any:
    return boto3.Session("key", "secret", region_name="us-east-1")


def bedrock(service: str, url: str) -> Any:
    once = Config(retries={"total_max_attempts": 1})
    return bedrock_session().client(service, endpoint_url=url, config=once)


def converse(simulator: Simulator, trial: str, stream: bool) -> Talk:
    sdk = bedrock("bedrock-runtime", simulator.of(trial).bedrock_endpoint)
    spec = {"name": NAME, "description": DESCRIPTION, "inputSchema": {"json": SCHEMA}}
    said: Any = [{"role": "user", "content": [{"text": ASKED}]}]
    calls: list[tuple[str, Any]] = []
    for _ in range(5):
        asked = {
            "modelId": MODEL,
            "system": [{"text": PROMPT}],
            "messages": said,
            "toolConfig": {"tools": [{"toolSpec": spec}]},
        }
        content = (
            streamed_content(sdk, asked) if stream else sdk.converse(**asked)["output"]["message"]["content"]
        )
        made = [block["toolUse"] for block in content if "toolUse" in block]
        if not made:
            return Talk(calls, "".join(block["text"] for block in content))
        calls += [(call["name"], call["input"]) for call in made]
        results = [
            {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": RESULT}]}} for call in made
        ]
        said += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
    raise AssertionError(calls)


def streamed_content(sdk: Any, asked: Any) -> list[Any]:
    blocks: dict[int, Any] = {}
    events = list(sdk.converse_stream(**asked)["stream"])
    for event in events:
        if begun := event.get("contentBlockStart"):
            blocks[begun["contentBlockIndex"]] = {"toolUse": {**begun["start"]["toolUse"], "input": ""}}
        elif more := event.get("contentBlockDelta"):
            block = blocks.setdefault(more["contentBlockIndex"], {"text": ""})
            if "toolUse" in block:
                block["toolUse"]["input"] += more["delta"]["toolUse"]["input"]
            else:
                block["text"] += more["delta"]["text"]
    assert "metadata" in events[-1]
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return [blocks[index] for index in sorted(blocks)]


def ollama(simulator: Simulator, trial: str, stream: bool) -> Talk:
    ollama = pytest.importorskip("ollama")

    function = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}
    said: list[Any] = [{"role": "system", "content": PROMPT}, {"role": "user", "content": ASKED}]
    calls: list[tuple[str, Any]] = []
    with ollama.Client(simulator.of(trial).ollama_host, verify=False) as sdk:  # no certificates to load
        for _ in range(5):
            asked: Any = {
                "model": MODEL,
                "messages": said,
                "tools": [{"type": "function", "function": function}],
            }
            pieces = list(sdk.chat(**asked, stream=True)) if stream else [sdk.chat(**asked)]
            text = "".join(piece.message.content or "" for piece in pieces)
            made = [call for piece in pieces for call in piece.message.tool_calls or ()]
            assert pieces[-1].done and pieces[-1].prompt_eval_count
            if not made:
                return Talk(calls, text)
            calls += [(call.function.name, call.function.arguments) for call in made]
            said.append({"role": "assistant", "content": text, "tool_calls": made})
            said += [{"role": "tool", "content": RESULT, "tool_name": call.function.name} for call in made]
    raise AssertionError(calls)
