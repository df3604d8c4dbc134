"""InvokeModel: bodies as AWS's pages show them, sent by boto3 and by Anthropic's own client for Bedrock."""

import importlib
import json
from typing import Any

import pytest

from agentmut.nouns.cassette import Player
from agentmut.nouns.codec import HttpCall
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.messages import ModelReply, ModelRequest, Role, ToolCall
from agentmut.recording.current import running
from agentmut.recording.recorder import Recorder
from agentmut.recording.trial import Trial
from agentmut.testing import check_codec
from agentmut.wire.carriers.botocore_hooks import BotocoreHooks
from agentmut.wire.carriers.proxy.roster import Everyone
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Upstream
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects import aws_event_stream
from agentmut.wire.dialects.invoke import chunks
from agentmut.wire.dialects.invoke.invoke_model import InvokeModel
from agentmut.wire.recorded import recorded_call
from agentmut.wire.rewriting.rewriter import ConfigRewriter

CODEC = InvokeModel()
LOOK: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}}}
FUNCTION = {"name": "look", "description": "Look.", "parameters": LOOK}
CLAUDE = {
    "anthropic_version": "bedrock-2023-05-31",
    "max_tokens": 50,
    "system": "Help.",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"name": "look", "description": "Look.", "input_schema": LOOK}],
}
NOVA = {
    "schemaVersion": "messages-v1",
    "system": [{"text": "Help."}],
    "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
    "inferenceConfig": {"maxTokens": 50},
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "look", "description": "Look.", "inputSchema": {"json": LOOK}}}]
    },
}
MISTRAL = {
    "max_tokens": 50,
    "messages": [{"role": "system", "content": "Help."}, {"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": FUNCTION}],
}
BODIES = {
    "eu.anthropic.claude-x:0": CLAUDE,
    "amazon.nova-lite-v1:0": NOVA,
    "mistral.mistral-large-2407-v1:0": MISTRAL,
}


@pytest.fixture(params=BODIES)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def path(model: str, verb: str = "invoke") -> str:
    return f"/model/{model.replace(':', '%3A')}/{verb}"


def test_the_codec_is_sound_with_bodies_of_every_family(model: str) -> None:
    call = HttpCall(path(model), json.dumps(BODIES[model]).encode())
    check_codec(CODEC, call)
    request = CODEC.decode_request(call)
    assert (request.model, request.system_text, request.max_tokens) == (model, "Help.", 50)
    assert [(m.role, m.text) for m in request.messages][-1] == (Role.USER, "Hi")
    assert (request.tools[0].name, request.stream) == ("look", False)


def test_what_the_models_answer_is_read_as_aws_shows_it() -> None:
    claude = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {"id": 1}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }
    nova = {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
    }
    mistral = {
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": "t1", "function": {"name": "look", "arguments": '{"id": 1}'}}],
                },
                "stop_reason": "tool_calls",
            }
        ]
    }
    read = [CODEC.decode_reply(json.dumps(body).encode()) for body in (claude, nova, mistral)]
    called = ToolCall(id="t1", name="look", arguments='{"id":1}')
    assert (read[0].tool_calls, read[0].finish_reason, read[0].usage.total) == ((called,), "tool_calls", 10)
    assert (read[1].text, read[1].finish_reason, read[1].usage.total) == ("Hello.", "stop", 10)
    assert (read[2].tool_calls[0].name, read[2].finish_reason) == ("look", "tool_calls")
    with pytest.raises(ValueError, match="Too many tokens"):
        CODEC.decode_reply(b'{"message": "Too many tokens"}')
    with pytest.raises(ValueError, match="ThrottlingException"):
        CODEC.decode_reply(aws_event_stream.exception("ThrottlingException", "slow down"))


LLAMA = {
    "prompt": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nHelp.\nNever guess.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "max_gen_len": 50,
}
LLAMA_2 = {
    "prompt": "<s>[INST] <<SYS>>\nHelp.\nNever guess.\n<</SYS>>\n\nHi [/INST]",
    "max_gen_len": 50,
}
TITAN: dict[str, Any] = {
    "inputText": "Help.\nNever guess.\nUser: Hi\nBot:",
    "textGenerationConfig": {"maxTokenCount": 50, "stopSequences": ["User:"]},
}
NOT_SAID_IN_ONE_TEXT = {
    "texts": "instructions and questions stand in one text",
    "with_texts": "a changed part changes that one text, and an empty text is refused",
    "with_tools": "these models are offered no tools",
    "continued": "a reply that calls no tools has no results",
}
ONE_TEXT: dict[str, dict[str, Any]] = {
    "us.meta.llama3-3-70b-instruct-v1:0": LLAMA,
    "meta.llama2-70b-chat-v1": LLAMA_2,
    "amazon.titan-text-premier-v1:0": TITAN,
}


@pytest.mark.parametrize("model", ONE_TEXT)
def test_bodies_of_one_text_are_read_by_their_marks_and_changed_in_place(model: str) -> None:
    call = HttpCall(path(model), json.dumps(ONE_TEXT[model]).encode())
    check_codec(CODEC, call, except_for=NOT_SAID_IN_ONE_TEXT)
    request = CODEC.decode_request(call)
    assert (request.model, request.system_text, request.max_tokens) == (model, "Help.\nNever guess.", 50)
    assert [(m.role, m.text) for m in request.messages][-1] == (Role.USER, "Hi")
    base = AgentConfig(prompt="Help.\nNever guess.", model=ModelConfig(name=model, temperature=0.2))
    mutated = AgentConfig(prompt="Help.", model=ModelConfig(name=model, temperature=1.0))
    sent = ConfigRewriter(base, mutated).request(CODEC, call).call
    changed = {**ONE_TEXT[model]}
    key = "inputText" if "inputText" in changed else "prompt"
    changed[key] = str(changed[key]).replace("\nNever guess.", "")
    warmer: dict[str, Any] = {"temperature": 1.0}
    if "textGenerationConfig" in changed:
        warmer = {"textGenerationConfig": {**TITAN["textGenerationConfig"], **warmer}}
    assert json.loads(sent.body) == {**changed, **warmer}


@pytest.mark.parametrize(
    ("plain", "streamed"),
    [
        (
            {
                "generation": "Hello.",
                "prompt_token_count": 7,
                "generation_token_count": 3,
                "stop_reason": "stop",
            },
            [
                {
                    "generation": "Hel",
                    "prompt_token_count": 7,
                    "generation_token_count": 1,
                    "stop_reason": None,
                },
                {
                    "generation": "lo.",
                    "prompt_token_count": None,
                    "generation_token_count": 3,
                    "stop_reason": "stop",
                },
            ],
        ),
        (
            {
                "inputTextTokenCount": 7,
                "results": [{"tokenCount": 3, "outputText": "Hello.", "completionReason": "FINISHED"}],
            },
            [
                {
                    "index": 0,
                    "inputTextTokenCount": 7,
                    "totalOutputTextTokenCount": None,
                    "outputText": "Hel",
                },
                {"totalOutputTextTokenCount": 3, "outputText": "lo.", "completionReason": "FINISH"},
            ],
        ),
    ],
    ids=["llama", "titan"],
)
def test_replies_of_one_text_are_read_plain_and_streamed(plain: Any, streamed: Any) -> None:
    for body in (json.dumps(plain).encode(), chunks.write(streamed)):
        reply = CODEC.decode_reply(body)
        assert (reply.text, reply.finish_reason, reply.usage.total) == ("Hello.", "stop", 10)


def test_a_text_without_marks_counts_as_instructions_and_its_turns_as_turns() -> None:
    assert (
        CODEC.decode_request(HttpCall(path("meta.llama3"), b'{"prompt": " Help. "}')).system_text == "Help."
    )
    spoken = path("amazon.titan-text"), b'{"inputText": "User: Hi\\nBot: Hello.\\nUser: Bye\\nBot:"}'
    messages = CODEC.decode_request(HttpCall(*spoken)).messages
    assert [(m.role, m.text) for m in messages] == [
        (Role.USER, "Hi"),
        (Role.ASSISTANT, "Hello."),
        (Role.USER, "Bye"),
    ]


def test_a_text_of_which_nothing_would_be_left_is_sent_as_it_is() -> None:
    call = HttpCall(path("meta.llama3"), b'{"prompt": "Help."}')
    rewriter = ConfigRewriter(AgentConfig(prompt="Help."), AgentConfig(prompt=""))
    assert rewriter.request(CODEC, call).call == call


def test_other_bodies_and_replies_without_a_model_are_refused() -> None:
    with pytest.raises(ValueError, match="or one text"):
        CODEC.decode_request(HttpCall(path("stability.x"), b'{"text_prompts": []}'))
    with pytest.raises(ValueError, match="names no model"):
        CODEC.encode_reply(ModelReply(model="", text="Hi"), reply_id="r", stream=False)


def client(polyglot: Any) -> Any:
    return importlib.import_module("boto3").client(
        "bedrock-runtime",
        region_name="eu-west-1",
        endpoint_url=polyglot.origin,
        aws_access_key_id="AKIDPLANTED",
        aws_secret_access_key="s",
    )


def asked(polyglot: Any, model: str, *, stream: bool) -> str:
    """The whole answer to a request of boto3, as JSON text."""
    bedrock, body = client(polyglot), json.dumps(BODIES[model])
    if not stream:
        return str(bedrock.invoke_model(modelId=model, body=body)["body"].read().decode())
    answer = bedrock.invoke_model_with_response_stream(modelId=model, body=body)
    return "\n".join(event["chunk"]["bytes"].decode() for event in answer["body"])


def hooks() -> Any:
    return BotocoreHooks(all_codecs()).installed()


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_boto3_sends_the_mutant_and_is_answered_in_its_own_names(
    stream: bool, model: str, polyglot: Any, mutant: Any
) -> None:
    polyglot.calls = ("peek",)
    with hooks(), running(Trial("t1", rewriter=mutant())) as trial:
        said = asked(polyglot, model, stream=stream)
    assert '"name":"look"' in said.replace(" ", "") and "peek" not in said
    (seen,) = polyglot.requests
    assert (seen.model, seen.system_text, seen.tools[0].name) == (model, "Help. Be brief.", "peek")
    (exchange,) = trial.recorder.exchanges
    assert exchange.reply is not None and exchange.dialect == "invoke_model"
    assert (exchange.reply.tool_calls[0].name, exchange.reply.usage.total) == ("look", 10)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_a_decoys_call_is_answered_and_a_trial_is_replayed(
    stream: bool, model: str, polyglot: Any, mutant: Any
) -> None:
    polyglot.calls = ("decoy", "peek")
    with hooks(), running(Trial("t1", rewriter=mutant(decoy=True), recorder=Recorder(takes=[]))) as trial:
        said = asked(polyglot, model, stream=stream)
    assert [e.reply.tool_calls[0].name for e in trial.recorder.exchanges if e.reply] == ["decoy", "look"]
    assert trial.recorder.takes and len(polyglot.requests) == 2
    with hooks(), running(Trial("t1", player=Player(trial.recorder.takes))):
        assert asked(polyglot, model, stream=stream) == said
    assert len(polyglot.requests) == 2


def test_an_unchanged_trial_leaves_the_bytes_alone(model: str, polyglot: Any) -> None:
    with hooks(), running(Trial("t1")) as trial:
        said = asked(polyglot, model, stream=False)
    assert "You said: Hi" in said and polyglot.bodies == [json.dumps(BODIES[model]).encode()]
    (exchange,) = trial.recorder.exchanges
    assert exchange.reply is not None and exchange.reply.text == "You said: Hi"


def test_the_model_of_a_mutant_goes_into_the_path(model: str, polyglot: Any) -> None:
    base = AgentConfig(model=ModelConfig(name=model))
    swapped = AgentConfig(model=ModelConfig(name="eu.anthropic.claude-y:0"))
    with hooks(), running(Trial("t1", rewriter=ConfigRewriter(base, swapped))):
        asked(polyglot, model, stream=False)
    assert polyglot.paths == [path("eu.anthropic.claude-y:0")]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_anthropics_client_for_bedrock_passes_the_proxy(
    stream: bool, polyglot: Any, mutant: Any, loop_thread: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    anthropic = pytest.importorskip("anthropic")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDPLANTED")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    polyglot.calls = ("peek",)
    roster = Everyone(lambda name: Trial(name, rewriter=mutant()))
    body = {key: value for key, value in CLAUDE.items() if key != "anthropic_version"}

    def ask(url: str) -> Any:
        bedrock = anthropic.AnthropicBedrock(aws_region="eu-west-1", base_url=url, max_retries=0)
        if not stream:
            return bedrock.messages.create(model="eu.anthropic.claude-x:0", **body)
        with bedrock.messages.stream(model="eu.anthropic.claude-x:0", **body) as events:
            return events.get_final_message()

    async def serve() -> Any:
        import asyncio

        proxy = Proxy([Upstream(polyglot.origin)], roster)
        async with proxy.serving() as url:
            return await asyncio.to_thread(ask, url)

    message = loop_thread.run(serve())
    assert [block.name for block in message.content if block.type == "tool_use"] == ["look"]
    (seen,) = polyglot.requests
    assert (seen.system_text, seen.tools[0].name, seen.stream) == ("Help. Be brief.", "peek", stream)


def test_a_kept_body_of_claude_on_bedrock_is_told_from_others() -> None:
    codec, call = recorded_call(json.dumps(CLAUDE).encode())
    assert codec.name == "invoke_model" and codec.decode_request(call).system_text == "Help."
    assert isinstance(CODEC.encode_request(ModelRequest(model="m", messages=())), HttpCall)
