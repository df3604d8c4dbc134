"""The real SDK reads what the codecs of its two dialects write, also when the bytes come in odd pieces."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from aiohttp import web

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.messages import ModelReply, ToolCall
from agentmut.nouns.trace import Usage
from agentmut.wire.codecs import codec_for
from tests.loopback import ANY_PATH, served

REPLY = ModelReply(
    model="gpt-x",
    text="One moment, please.",
    tool_calls=(
        ToolCall(id="c1", name="get_weather", arguments='{"city":"Zürich"}'),
        ToolCall(id="c2", name="now", arguments="{}"),
    ),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=7, output_tokens=5),
)
TOOL: Any = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}


class Server:
    """Answers every request with `reply`, and keeps what came."""

    url = ""
    reply = REPLY
    status = 200

    def __init__(self) -> None:
        self.calls: list[HttpCall] = []

    async def handle(self, http: web.Request) -> web.StreamResponse:
        codec = codec_for(http.path)
        assert codec
        self.calls.append(HttpCall(http.path_qs, await http.read()))
        stream = codec.decode_request(self.calls[-1]).stream
        kind = codec.content_type(stream=stream)
        if self.status != 200:
            body = codec.encode_error(self.status, "too many", "rate_limit_exceeded")
            return web.Response(status=self.status, body=body, content_type="application/json")
        answer = web.StreamResponse(headers={"content-type": kind})
        await answer.prepare(http)
        body = codec.encode_reply(self.reply, reply_id="resp_1", stream=stream)
        for at in range(0, len(body), 777):
            await answer.write(body[at : at + 777])
        await answer.write_eof()
        return answer


@pytest.fixture
def server(loop_thread: Any) -> Iterator[Server]:
    found = Server()

    with served(loop_thread, {ANY_PATH: found.handle}) as address:
        found.url = f"{address}/v1"
        yield found


@pytest.fixture
def client(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as found:
        yield found


def test_the_sdk_reads_a_plain_response(client: openai.OpenAI) -> None:
    response = client.responses.create(model="gpt-x", input="Weather?", tools=[TOOL])
    assert response.output_text == REPLY.text
    calls = [item for item in response.output if item.type == "function_call"]
    assert [(c.call_id, c.name, c.arguments) for c in calls] == [
        ("c1", "get_weather", '{"city":"Zürich"}'),
        ("c2", "now", "{}"),
    ]
    assert response.usage and response.usage.total_tokens == 12
    assert response.status == "completed"


def test_the_sdk_reads_a_streamed_response(client: openai.OpenAI) -> None:
    events = list(client.responses.create(model="gpt-x", input="Weather?", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert said == REPLY.text
    with client.responses.stream(model="gpt-x", input="Weather?", tools=[TOOL]) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert final.output_text == REPLY.text
    assert [item.name for item in final.output if item.type == "function_call"] == ["get_weather", "now"]


def test_the_sdk_reads_a_response_that_ended_early_and_an_empty_one(
    client: openai.OpenAI, server: Server
) -> None:
    server.reply = ModelReply(model="gpt-x", text="One mo", finish_reason="length")
    early = client.responses.create(model="gpt-x", input="Weather?")
    assert early.incomplete_details and early.incomplete_details.reason == "max_output_tokens"
    with client.responses.stream(model="gpt-x", input="Weather?") as stream:
        assert [event.type for event in stream][-1] == "response.incomplete"
    server.reply = ModelReply(model="gpt-x")
    assert client.responses.create(model="gpt-x", input="Weather?").output == []


def test_the_sdk_reads_chat_completions_plain_and_streamed(client: openai.OpenAI) -> None:
    asked: Any = {"model": "gpt-x", "messages": [{"role": "user", "content": "Weather?"}]}
    plain = client.chat.completions.create(**asked)
    with client.chat.completions.stream(**asked) as stream:
        list(stream)
        streamed = stream.get_final_completion()
    for reply in (plain, streamed):
        message = reply.choices[0].message
        assert message.content == REPLY.text
        assert [c.function.name for c in message.tool_calls or () if c.type == "function"] == [
            "get_weather",
            "now",
        ]


def test_the_sdk_reads_errors_of_both_dialects(client: openai.OpenAI, server: Server) -> None:
    server.status = 429
    with pytest.raises(openai.RateLimitError, match="too many"):
        client.responses.create(model="gpt-x", input="hi")
    with pytest.raises(openai.RateLimitError, match="too many"):
        client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "hi"}])


def test_what_the_sdk_sends_back_is_what_a_codec_goes_on_with(client: openai.OpenAI, server: Server) -> None:
    """The items that an agent's own loop appends, and those that `continued` does, say the same."""
    response = client.responses.create(model="gpt-x", input=[{"role": "user", "content": "Weather?"}])
    results: list[Any] = [
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {"type": "function_call_output", "call_id": "c2", "output": "noon"},
    ]
    client.responses.create(
        model="gpt-x",
        input=[{"role": "user", "content": "Weather?"}, *response.output, *results],  # type: ignore[list-item]
    )
    first, second = server.calls
    codec = codec_for(first.path)
    assert codec
    reply = codec.encode_reply(REPLY, reply_id="resp_1", stream=True)
    going_on = codec.continued(json.loads(first.body), reply, {"c1": "rain", "c2": "noon"})
    path = first.path
    assert codec.decode_request(HttpCall(path, json.dumps(going_on).encode())) == codec.decode_request(second)
