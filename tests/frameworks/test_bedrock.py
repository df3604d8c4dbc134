"""Bedrock Converse by boto3, with the simulator behind it."""

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from agentmut._base.environment import environ
from agentmut._base.errors import UsageError
from agentmut.adapters.bedrock import BedrockAdapter
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.messages import ModelReply
from agentmut.nouns.mutant import Status
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.simulator.service.addresses import Addresses
from agentmut.usecases.campaigns import measure
from agentmut.wire.dialects.converse.converse import Converse
from tests.frameworks.kit import Case, check
from tests.frameworks.order_tools import PROMPT, SPECS

pytest.importorskip("boto3", reason="boto3 is not installed")
from tests.frameworks import bedrock_service as service

pytestmark = pytest.mark.framework

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENTS = "tests.frameworks.bedrock_agents"
MODEL = ModelConfig(name="sim-large", temperature=0.3)
POLICY = (Document(name="policy", text="Refunds take five days. Gifts are final."),)
CASES = (
    Case(
        "bedrock",
        "two tools",
        "",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=AgentConfig(prompt=PROMPT, model=MODEL, context=POLICY),
        others={"functions": f"{AGENTS}:FUNCTIONS"},
        limit=3,
    ),
    Case(
        "bedrock",
        "a function of one's own",
        "",
        ["Where is my order A-1042?"],
        ["look_up_order"],
        config=AgentConfig(
            prompt=PROMPT,
            model=ModelConfig(name="sim-large"),
            tools=SPECS,
        ),
        others={"run": f"{AGENTS}:run"},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


CONFIG = AgentConfig(prompt=PROMPT, model=MODEL)


def ran(*, stream: bool = False, trial: Trial | None = None) -> AgentTrace:
    spec = AgentSpec(adapter="bedrock", functions=f"{AGENTS}:FUNCTIONS", stream=stream)
    agent = BedrockAdapter.create(spec, CONFIG)

    async def run() -> AgentTrace:
        with running(trial or Trial("t1")) as found:
            return await agent.run(("Where is my order A-1042?",), found)

    return asyncio.run(run())


def test_a_stream_says_the_same(simulator_url: str) -> None:
    with environ(Addresses.found_at(simulator_url).environment):
        plain, streamed = ran(), ran(stream=True)
    assert plain.output == streamed.output and plain.tools_called == streamed.tools_called == (
        "look_up_order",
    )
    assert plain.usage == streamed.usage and plain.usage.total > 0
    assert {step.model for step in streamed.steps if step.model} == {"sim-large"}


def test_a_stream_that_breaks_off_is_no_answer(loop_thread: Any) -> None:
    """boto3 takes its end for the end of the answer."""
    whole = Converse().encode_reply(ModelReply(model="", text="All is well."), reply_id="r", stream=True)
    cut = whole[: whole.index(b"messageStop") - 40]
    with (
        service.served(loop_thread, service.Script(cut).answer),
        pytest.raises(ConnectionError, match="ended before"),
    ):
        ran(stream=True)


def test_reasoning_that_is_hidden_goes_back_as_it_came(loop_thread: Any) -> None:
    hidden = {"reasoningContent": {"redactedContent": "AP8="}}
    use = {"toolUse": {"toolUseId": "u1", "name": "look_up_order", "input": {"order_id": "A-1"}}}
    script = service.Script(reply_of("tool_use", hidden, use), reply_of("end_turn", {"text": "Lost."}))

    def fail(order_id: str) -> str:
        raise RuntimeError("the shelf is empty")

    with service.served(loop_thread, script.answer):
        trace = ran(trial=Trial("t1", doubles={"look_up_order": fail}))
    assert trace.output == "Lost."
    _, said, answered = script.bodies[1]["messages"]
    assert said == {"role": "assistant", "content": [hidden, use]}
    result = answered["content"][0]["toolResult"]
    assert result["status"] == "error" and "shelf" in result["content"][0]["text"]


def test_what_the_service_refuses_to_be_told_again_is_left_out(loop_thread: Any) -> None:
    """It says texts without a word and, where a stream is cut off, calls of which the input is no object."""
    use = {"toolUse": {"toolUseId": "u1", "name": "look_up_order", "input": '{"order_id": "A-'}}
    image = {"image": {"format": "png", "source": {"bytes": "AP8="}}}
    said = reply_of("max_tokens", {"text": "\n"}, image, use)
    script = service.Script(said, reply_of("malformed_tool_use", {"text": "Lost."}))
    with service.served(loop_thread, script.answer):
        trace = ran()
    _, told, _ = script.bodies[1]["messages"]
    assert told["content"] == [image, {"toolUse": {**use["toolUse"], "input": {}}}]
    assert "could not read the call" in str(trace.steps[-1].error)


def test_a_key_of_bedrock_is_enough(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 has no credentials then."""
    keys: list[str | None] = []

    async def answer(http: web.Request) -> web.Response:
        keys.append(http.headers.get("Authorization"))
        return web.Response(body=reply_of("end_turn", {"text": "Yes."}), content_type="application/json")

    with service.served(loop_thread, answer):
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "planted")
        assert ran().output == "Yes."
    assert keys == ["Bearer planted"]


def reply_of(reason: str, *content: Any) -> bytes:
    return json.dumps(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": reason,
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
            "metrics": {"latencyMs": 1},
        }
    ).encode()


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"api": "responses"}, "agent.api is for adapter openai"),
        ({"run": f"{AGENTS}:run", "options": {"region": "x"}}, "has its own client"),
        ({"run": f"{AGENTS}:run", "functions": f"{AGENTS}:FUNCTIONS"}, "for the ready tool loop"),
        ({"options": {"regoin": "x"}}, "Did you mean 'region'"),
    ],
)
def test_what_a_section_gets_wrong_is_said(section: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        BedrockAdapter.create(AgentSpec(adapter="bedrock", **section), CONFIG)


@pytest.mark.whole
@pytest.mark.parametrize("name", ["bedrock", "bedrock_agents"])
def test_its_example_tells_a_broken_agent_from_a_sound_one(
    name: str, tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / name
    shutil.copytree(EXAMPLES / name, project, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    settings = project / "agentmut.yaml"
    quick = settings.read_text("utf-8").replace("delta: 0.2", "delta: 0.5\n  baseline: 12\n  n_max: 20")
    settings.write_text(quick, "utf-8")
    for variable, value in Addresses.found_at(simulator_url).environment.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.syspath_prepend(project)
    monkeypatch.delitem(sys.modules, "agent_under_test", raising=False)  # of another framework's example
    result = measure(project, selection=Selection(operators_named=("tool.remove",)))
    monkeypatch.delitem(sys.modules, "agent_under_test")
    assert {mutant.operator for mutant in result.mutants} == {"tool.remove"}
    assert {mutant.status for mutant in result.mutants} == {Status.KILLED}
