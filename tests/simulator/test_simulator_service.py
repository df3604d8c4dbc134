"""The simulator over loopback, spoken to by the real OpenAI SDK."""

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import openai
import pytest

from agentmut._base.errors import RunError, UsageError
from agentmut.simulator.service.server import serve

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "water_plant",
        "description": "Water a plant",
        "parameters": {
            "type": "object",
            "properties": {"plant": {"type": "string", "description": "Number such as P-12"}},
            "required": ["plant"],
        },
    },
}
MESSAGES: Any = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Water plant P-77 please"},
]


def client(url: str, **options: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, **options)


def test_the_sdk_gets_calls_plain_and_streamed() -> None:
    async def both() -> tuple[Any, list[Any]]:
        async with serve(seed=1) as url, client(url) as sdk:
            plain = await sdk.chat.completions.create(model="sim-large", messages=MESSAGES, tools=[TOOL])
            stream = await sdk.chat.completions.create(
                model="sim-large",
                messages=MESSAGES,
                tools=[TOOL],
                stream=True,
                stream_options={"include_usage": True},
            )
            return plain, [chunk async for chunk in stream]

    plain, chunks = asyncio.run(both())
    call = plain.choices[0].message.tool_calls[0].function
    assert (call.name, json.loads(call.arguments)) == ("water_plant", {"plant": "P-77"})
    assert plain.usage.prompt_tokens > 20
    assert plain.choices[0].finish_reason == "tool_calls"
    pieces = [c for chunk in chunks[:-1] for c in chunk.choices[0].delta.tool_calls or []]
    assert "".join(piece.function.arguments for piece in pieces) == call.arguments
    assert chunks[-2].choices[0].finish_reason == "tool_calls"
    assert chunks[-1].choices == []
    assert chunks[-1].usage == plain.usage


def test_replies_do_not_depend_on_the_order_of_arrival() -> None:
    messages: Any = [
        {"role": "system", "content": 'You may say "at once".'},
        {"role": "user", "content": "Hi"},
    ]

    async def answers(order: list[int]) -> dict[int, str]:
        async with serve(seed=3) as url:

            async def one(trial: int) -> tuple[int, str]:
                async with client(url, default_headers={"x-agentmut-trial": str(trial)}) as sdk:
                    made = await sdk.chat.completions.create(model="sim-medium", messages=messages)
                return trial, str(made.choices[0].message.content)

            return dict(await asyncio.gather(*map(one, order)))

    forwards = asyncio.run(answers(list(range(12))))
    assert asyncio.run(answers(list(range(11, -1, -1)))) == forwards
    assert len(set(forwards.values())) > 1


def test_header_and_path_name_the_same_trial() -> None:
    async def both() -> list[Any]:
        async with serve() as url:
            prefixed = url.replace("/v1", "/t/abc/v1")
            async with (
                client(prefixed) as by_path,
                client(url, default_headers={"x-agentmut-trial": "abc"}) as by_header,
            ):
                return [
                    await sdk.chat.completions.create(model="sim-small", messages=MESSAGES, tools=[TOOL])
                    for sdk in (by_path, by_header)
                ]

    by_path, by_header = asyncio.run(both())
    assert by_path == by_header


def test_an_unknown_model_is_refused_as_the_service_does() -> None:
    async def ask() -> None:
        async with serve() as url, client(url) as sdk:
            assert [model.id async for model in sdk.models.list()] == ["sim-large", "sim-medium", "sim-small"]
            await sdk.chat.completions.create(model="gpt-x", messages=MESSAGES)

    with pytest.raises(openai.NotFoundError) as refused:
        asyncio.run(ask())
    assert refused.value.code == "model_not_found"
    assert "sim-large" in str(refused.value)


def test_an_unreadable_body_is_refused_with_the_reason() -> None:
    async def ask() -> tuple[int, Any]:
        async with serve() as url:
            return await asyncio.to_thread(_post, f"{url}/chat/completions", b'{"model": "sim-large"}')

    status, body = asyncio.run(ask())
    assert status == 400
    assert "messages: expected a list" in body["error"]["message"]


def _post(url: str, body: bytes) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body, method="POST")) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_an_occupied_port_says_what_to_do() -> None:
    async def twice() -> None:
        async with serve() as url:
            port = int(url.split(":")[2].split("/")[0])
            async with serve(port=port):
                pass

    with pytest.raises(RunError, match="another one with --port, or 0"):
        asyncio.run(twice())


def test_other_machines_are_not_served() -> None:
    async def public() -> None:
        async with serve(host="0.0.0.0"):
            pass

    with pytest.raises(UsageError, match="loopback"):
        asyncio.run(public())
