"""The real SDKs hold the same conversation with the simulator, each in its dialect."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import openai
import pytest
from botocore.eventstream import ChecksumMismatch

from agentmut.simulator.service.agents import Conversations, UnknownResponseError
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from tests.simulator.sdk_talks import (
    ASKED,
    DESCRIPTION,
    MODEL,
    NAME,
    PROMPT,
    RESULT,
    SCHEMA,
    Talk,
    anthropic_at,
    bedrock,
    chat,
    converse,
    gemini,
    messages,
    ollama,
    openai_at,
    responses,
    stored_responses,
)

DIALECTS: list[Callable[[Simulator, str, bool], Talk]] = [
    responses,
    stored_responses,
    messages,
    gemini,
    converse,
    ollama,
]


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator(read_settings(seed=1)) as running:
        yield running


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conversation_is_the_same_in_every_dialect(
    dialect: Any, stream: bool, simulator: Simulator
) -> None:
    held = dialect(simulator, "a", stream)
    assert held.calls == [("water_plant", {"plant": "P-77"})]
    assert held == chat(simulator, "a", False)


def test_models_are_listed_in_the_words_of_each_service(simulator: Simulator) -> None:
    from google import genai

    names = ["sim-large", "sim-medium", "sim-small"]
    with openai_at(simulator.openai_base_url) as sdk:
        assert [model.id for model in sdk.models.list()] == names
        assert sdk.models.retrieve("sim-small").id == "sim-small"
        with pytest.raises(openai.NotFoundError):
            sdk.models.retrieve("sim-huge")
    with anthropic_at(simulator.anthropic_base_url) as claude:
        assert [model.id for model in claude.models.list()] == names
    options: Any = {"base_url": simulator.gemini_base_url}
    google = genai.Client(api_key="none", http_options=options)
    assert [model.name for model in google.models.list()] == [f"models/{name}" for name in names]


def test_another_name_of_a_model_is_answered_under_that_name() -> None:
    asked: Any = {"messages": [{"role": "user", "content": "Hi"}]}
    with Simulator(read_settings(aliases={"gpt-x": "sim-large"})) as simulator:
        url = simulator.openai_base_url
        with openai_at(url) as sdk:
            aliased = sdk.chat.completions.create(model="gpt-x", **asked)
            plain = sdk.chat.completions.create(model="sim-large", **asked)
    assert (aliased.model, plain.model) == ("gpt-x", "sim-large")
    assert aliased.choices == plain.choices


def test_a_stream_reports_usage_only_where_it_is_asked_for(simulator: Simulator) -> None:
    asked: Any = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    with openai_at(simulator.openai_base_url) as sdk:
        silent = list(sdk.chat.completions.create(**asked))
        asked["stream_options"] = {"include_usage": True}
        told = list(sdk.chat.completions.create(**asked))
    assert [chunk.usage for chunk in silent] == [None] * len(silent)
    assert told[-1].choices == []
    assert told[-1].usage is not None
    assert [chunk.choices for chunk in told[:-1]] == [chunk.choices for chunk in silent]


def test_a_gemini_stream_is_an_array_where_events_are_not_asked_for(simulator: Simulator) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    url = f"{simulator.gemini_base_url}/v1beta/models/sim-large:streamGenerateContent"
    array = httpx2.post(url, json=body)
    assert array.headers["content-type"] == "application/json"
    events = httpx2.post(f"{url}?alt=sse", json=body).text.strip().split("\r\n\r\n")
    events = events if len(events) > 1 else events[0].split("\n\n")
    strip_id = [{**chunk, "responseId": ""} for chunk in array.json()]
    assert strip_id == [{**json.loads(event.removeprefix("data: ")), "responseId": ""} for event in events]


WATER_ALL: Any = [
    {
        "role": "system",
        "content": "You must water a plant when asked. You must measure the light when asked.",
    },
    {"role": "user", "content": "Water plant P-77 please. And measure the light for plant P-77."},
]


def test_tools_are_called_at_once_unless_the_request_wants_one_at_a_time(simulator: Simulator) -> None:
    light = {"name": "measure_light", "description": "Measure the light for a plant", "parameters": SCHEMA}
    water = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}
    tools: Any = [{"type": "function", "function": function} for function in (water, light)]

    def called(trial: str, **more: Any) -> int:
        url = simulator.of(trial).openai_base_url
        with openai_at(url) as sdk:
            made = sdk.chat.completions.create(model=MODEL, messages=WATER_ALL, tools=tools, **more)
        return len(made.choices[0].message.tool_calls or [])

    trials = [f"trial {number}" for number in range(6)]
    assert {called(trial) for trial in trials} == {1, 2}  # as the profile says, about half of the time
    assert {called(trial, parallel_tool_calls=False) for trial in trials} == {1}


def test_a_response_that_is_not_known_cannot_be_gone_on_from(simulator: Simulator) -> None:
    with openai_at(simulator.openai_base_url) as sdk:
        unstored = sdk.responses.create(model=MODEL, input="Hi", store=False)
        for previous in (unstored.id, "resp_1"):
            with pytest.raises(openai.BadRequestError) as refused:
                sdk.responses.create(model=MODEL, input="And?", previous_response_id=previous)
            assert refused.value.code == "previous_response_not_found"


def test_stored_responses_are_bounded_and_the_oldest_are_forgotten() -> None:
    kept = Conversations(most=2, most_bytes=100)
    for name in ("a", "b", "c"):
        kept.keep(name, {"input": name}, [], 10)
    assert len(kept) == 2
    with pytest.raises(UnknownResponseError):
        kept.whole({"previous_response_id": "a"})
    whole = kept.whole({"previous_response_id": "c", "input": "d"})
    assert whole["input"] == [{"role": "user", "content": "c"}, {"role": "user", "content": "d"}]
    kept.keep("large", {"input": "x"}, [], 99)
    assert len(kept) == 1


def test_an_agent_that_is_deployed_at_aws_is_not_there_and_no_alias_is_proposed(simulator: Simulator) -> None:
    base = simulator.openai_base_url.removesuffix("/v1")
    path = "/agents/ABCDEFGHIJ/agentAliases/TSTALIASID/sessions/s1/text"
    answer = httpx2.post(base + path, json={"inputText": "Where is my order?"})
    assert answer.status_code == 404
    assert "keeps no agents" in answer.text and "--alias" not in answer.text


def test_a_path_that_is_no_services_is_not_found_with_what_there_is(simulator: Simulator) -> None:
    answer = httpx2.post(f"{simulator.openai_base_url}/embeddings", json={})
    assert answer.status_code == 404
    said = answer.json()["error"]["message"]
    assert all(name in said for name in ("It speaks", "chat_completions", "anthropic_messages", "converse"))


FAULTS = [
    ("429:@1", "ThrottlingException"),
    ("500:@1", "InternalServerException"),
    ("503:@1", "ServiceUnavailableException"),
    ("reset:@1", "ConnectionClosedError"),
    *(
        (f"{kind}:@1", "KeyError") for kind in ("truncated", "malformed", "content_type")
    ),  # botocore gives no output
]


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_trouble_is_what_it_is_for_botocore_too(fault: str, said: str) -> None:
    with Simulator(read_settings(trouble=[fault])) as simulator:
        with pytest.raises(Exception) as raised:
            converse(simulator, "t", False)
        error: Any = raised.value
        answered = getattr(error, "response", None)
        assert (answered["Error"]["Code"] if answered else type(error).__name__) == said
        assert converse(simulator, "t", False) == converse(simulator, "t", True)


def test_a_malformed_event_of_a_binary_stream_does_not_match_its_checksum() -> None:
    with Simulator(read_settings(trouble=["malformed:@1"])) as simulator, pytest.raises(ChecksumMismatch):
        converse(simulator, "t", True)


GROUP: Any = {
    "actionGroupName": "garden",
    "actionGroupExecutor": {"customControl": "RETURN_CONTROL"},
    "functionSchema": {
        "functions": [
            {
                "name": NAME,
                "description": DESCRIPTION,
                "parameters": {
                    "plant": {"type": "string", "description": "Number such as P-12", "required": True}
                },
            }
        ]
    },
}


def invoke_inline(simulator: Simulator, trial: str, session: str) -> tuple[list[Any], Talk]:
    """What the agent asks to be done, and what came of it."""
    sdk = bedrock("bedrock-agent-runtime", simulator.of(trial).bedrock_endpoint)
    agent = {"foundationModel": MODEL, "instruction": PROMPT, "actionGroups": [GROUP], "sessionId": session}
    more: Any = {"inputText": ASKED}
    inputs: list[Any] = []
    for _ in range(5):
        events = list(sdk.invoke_inline_agent(**agent, **more)["completion"])
        text = "".join(event["chunk"]["bytes"].decode() for event in events if "chunk" in event)
        controls = [event["returnControl"] for event in events if "returnControl" in event]
        if not controls:
            made = [(i["function"], {p["name"]: p["value"] for p in i["parameters"]}) for i in inputs]
            return inputs, Talk(made, text)
        (control,) = controls
        made_now = [found["functionInvocationInput"] for found in control["invocationInputs"]]
        inputs += made_now
        results = [
            {
                "functionResult": {
                    "actionGroup": found["actionGroup"],
                    "function": found["function"],
                    "responseBody": {"TEXT": {"body": RESULT}},
                }
            }
            for found in made_now
        ]
        state = {"invocationId": control["invocationId"], "returnControlInvocationResults": results}
        more = {"inlineSessionState": state}
    raise AssertionError(inputs)


def test_an_inline_agent_of_bedrock_gives_control_back_for_its_tools_and_answers(
    simulator: Simulator,
) -> None:
    inputs, held = invoke_inline(simulator, "a", "session-1")
    assert [found["actionGroup"] for found in inputs] == ["garden"]
    assert held.calls == [("water_plant", {"plant": "P-77"})]
    assert "watered: yes" in held.text
    assert invoke_inline(simulator, "a", "session-2") == (inputs, held)


def test_a_session_of_an_agent_is_remembered(simulator: Simulator) -> None:
    sdk = bedrock("bedrock-agent-runtime", simulator.bedrock_endpoint)
    received = len(simulator.requests)

    def told(session: str, text: str, **more: Any) -> str:
        agent = {"foundationModel": MODEL, "instruction": PROMPT, "sessionId": session, "inputText": text}
        events = sdk.invoke_inline_agent(**agent, **more)["completion"]
        return "".join(event["chunk"]["bytes"].decode() for event in events if "chunk" in event)

    first = told("one", "My name is Ada")
    assert told("one", "And then?") != told("two", "And then?")
    assert told("three", "My name is Ada") == first
    assert {r.dialect for r in simulator.requests[received:]} == {"bedrock_agents"}


def test_a_stored_agent_of_bedrock_goes_by_another_name_of_a_model() -> None:
    with Simulator(read_settings(aliases={"AGENT1": "sim-large"}, trouble=["429:@2"])) as simulator:
        sdk = bedrock("bedrock-agent-runtime", simulator.bedrock_endpoint)
        asked: Any = {"agentAliasId": "ALIAS1", "sessionId": "session", "inputText": "Hi"}
        events = list(sdk.invoke_agent(agentId="AGENT1", enableTrace=True, **asked)["completion"])
        assert {"trace", "chunk"} == {name for event in events for name in event}
        for name, said in [("AGENT1", "ThrottlingException"), ("AGENT2", "ResourceNotFoundException")]:
            with pytest.raises(sdk.exceptions.ClientError, match=said):
                list(sdk.invoke_agent(agentId=name, **asked)["completion"])
