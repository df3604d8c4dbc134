"""boto3 calls an agent that is played on loopback, and reads its event stream."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.messages import Message, ModelReply, Role, ToolCall
from agentmut.nouns.trace import Usage
from agentmut.wire.dialects import bedrock_agent
from tests.loopback import served

INLINE: dict[str, Any] = {
    "foundationModel": "anthropic.claude-x:0",
    "instruction": "You are a weather desk. Be kind and brief to everybody.",
    "inputText": "Weather?",
    "enableTrace": True,
    "actionGroups": [
        {
            "actionGroupName": "desk",
            "actionGroupExecutor": {"customControl": "RETURN_CONTROL"},
            "functionSchema": {
                "functions": [
                    {
                        "name": "get_weather",
                        "description": "Weather",
                        "parameters": {
                            "city": {"type": "string", "description": "A city", "required": True},
                            "days": {"type": "integer"},
                        },
                    }
                ]
            },
        }
    ],
    "promptOverrideConfiguration": {
        "promptConfigurations": [
            {
                "promptType": "ORCHESTRATION",
                "inferenceConfiguration": {"temperature": 0.5, "maximumLength": 9},
            }
        ]
    },
}
CALLS = ModelReply(
    model="m",
    tool_calls=(ToolCall(id="x", name="desk__get_weather", arguments='{"city":"Bern","days":2}'),),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=7, output_tokens=5),
)
WORDS = ModelReply(model="m", text="It rains in Zürich.", usage=Usage(input_tokens=7, output_tokens=5))


def test_prompt_session_attributes_are_part_of_the_instructions() -> None:
    """The service's prompt templates show them to the model."""
    state = {"promptSessionAttributes": {"documents": "Umbrellas are sold out."}}
    request = decoded({**INLINE, "inlineSessionState": state}).request
    assert request.system_text == f"{INLINE['instruction']}\n\nUmbrellas are sold out."


def decoded(body: dict[str, Any], path: str = "/agents/s1") -> bedrock_agent.AgentCall:
    return bedrock_agent.decode(HttpCall(path, json.dumps(body).encode()))


def test_an_inline_agent_is_read() -> None:
    call = decoded(INLINE)
    assert (call.session, call.agent, call.traced) == ("s1", None, True)
    assert call.request.system_text == INLINE["instruction"]
    assert call.request.messages[-1] == Message(role=Role.USER, text="Weather?")
    assert (call.request.model, call.request.temperature, call.request.max_tokens) == (
        "anthropic.claude-x:0",
        0.5,
        9,
    )
    (tool,) = call.request.tools
    assert (tool.name, tool.description) == ("desk__get_weather", "Weather")
    assert tool.parameters == {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "A city"}, "days": {"type": "integer"}},
        "required": ["city"],
    }


def test_history_and_results_are_read() -> None:
    said = [
        {"role": "user", "content": [{"text": "Hi"}]},
        {"role": "assistant", "content": [{"text": "Yes?"}]},
    ]
    result = {"functionResult": {"actionGroup": "desk", "responseBody": {"TEXT": {"body": "rain"}}}}
    state = {
        "conversationHistory": {"messages": said},
        "invocationId": "i1",
        "returnControlInvocationResults": [result],
    }
    call = decoded({"foundationModel": "m", "inlineSessionState": state})
    assert [(m.role, m.text) for m in call.request.messages] == [
        (Role.USER, "Hi"),
        (Role.ASSISTANT, "Yes?"),
        (Role.TOOL, "rain"),
    ]
    assert call.request.messages[-1].tool_call_id == bedrock_agent.call_ids("i1", 1)[0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"foundationModel": None}, "foundationModel"),
        ({"actionGroups": 1}, "actionGroups: expected a list"),
        ({"actionGroups": [{}]}, r"actionGroups\[0\].actionGroupName"),
        ({"inputText": 1}, "inputText: expected a string"),
    ],
)
def test_an_unreadable_call_names_the_place(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decoded({**INLINE, **fields})


def test_a_call_of_an_unknown_tool_is_refused() -> None:
    call = decoded({"foundationModel": "m", "inputText": "x"})
    with pytest.raises(ValueError, match="no tool 'desk__get_weather'; it has none"):
        bedrock_agent.encode(CALLS, call, invocation_id="i")


@pytest.fixture(scope="module")
def agents(loop_thread: Any) -> Iterator[Any]:
    boto3 = pytest.importorskip("boto3")

    async def answer(http: web.Request) -> web.Response:
        assert bedrock_agent.matches(http.raw_path)
        call = bedrock_agent.decode(HttpCall(http.raw_path, await http.read()))
        asked = call.request.messages[-1].text == "Weather?" and call.functions
        encoded = bedrock_agent.encode(CALLS if asked else WORDS, call, invocation_id="i1")
        return web.Response(body=encoded, headers=bedrock_agent.headers(call))

    with served(loop_thread, {"/agents/{rest:.*}": answer}) as address:
        yield boto3.client(
            "bedrock-agent-runtime",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="x",
            aws_secret_access_key="y",
        )


def test_boto3_reads_the_calls_and_the_answer_of_an_inline_agent(agents: Any) -> None:
    reply = agents.invoke_inline_agent(sessionId="s1", **INLINE)
    assert reply["sessionId"] == "s1"
    events = list(reply["completion"])
    traces = [event["trace"]["trace"]["orchestrationTrace"] for event in events if "trace" in event]
    assert [next(iter(trace)) for trace in traces] == [
        "modelInvocationInput",
        "modelInvocationOutput",
        "invocationInput",
    ]
    assert traces[1]["modelInvocationOutput"]["metadata"]["usage"] == {"inputTokens": 7, "outputTokens": 5}
    control = events[-1]["returnControl"]
    assert control["invocationId"] == "i1"
    assert control["invocationInputs"][0]["functionInvocationInput"] == {
        "actionGroup": "desk",
        "actionInvocationType": "RESULT",
        "function": "get_weather",
        "parameters": [
            {"name": "city", "type": "string", "value": "Bern"},
            {"name": "days", "type": "integer", "value": "2"},
        ],
    }


def test_boto3_reads_the_answer_of_a_stored_agent(agents: Any) -> None:
    asked = {"agentId": "A1", "agentAliasId": "B1", "sessionId": "s2", "inputText": "Weather?"}
    (event,) = agents.invoke_agent(**asked)["completion"]
    assert event["chunk"]["bytes"].decode() == WORDS.text
    assert bedrock_agent.decode(
        HttpCall("/agents/A1/agentAliases/B1/sessions/s2/text", b'{"inputText": "x"}')
    ).request.model == ("A1")
