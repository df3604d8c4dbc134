"""Agents of Bedrock as the tests run them, against a scripted service."""

import asyncio
from typing import Any

from agentmut.adapters.bedrock_agents import BedrockAgentsAdapter
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from tests.frameworks import bedrock_service as service
from tests.frameworks.kit import Case
from tests.frameworks.order_tools import PROMPT

KEYS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
AGENTS = "tests.frameworks.bedrock_agents"


DESK = {"functions": f"{AGENTS}:FUNCTIONS"}


MODEL = ModelConfig(name="sim-large")


POLICY = (Document(name="policy", text="Refunds take five days. Gifts are final."),)


CONFIG = AgentConfig(prompt=PROMPT, model=MODEL, context=POLICY)


STEPWISE = (
    "You help customers.\n\n- Always look up the order before you answer.\n"
    "- If the customer asks for a refund, you must issue the refund."
)


TEMPLATE: dict[str, Any] = {"inline": True, "prompt_template": "tests/frameworks/bedrock_template.txt"}


DEPLOYED: dict[str, Any] = {"agent_id": service.AGENT, "alias_id": service.ALIAS}


ORDERS = ["Where is my order A-1042?", "And where is my order A-1043?"]


CASES = (
    Case(
        "bedrock_agents",
        "inline, two tools",
        "",
        ORDERS,
        ["look_up_order"],
        options=TEMPLATE,
        config=CONFIG.model_copy(update={"model": ModelConfig(name="sim-large", temperature=0.3)}),
        others=DESK,
        limit=3,
    ),
    Case(
        "bedrock_agents",
        "inline, several steps, streamed",
        "",
        ["I want a refund for my order A-1042."],
        ["look_up_order", "refund_order"],
        options={"inline": True},
        config=CONFIG.model_copy(update={"prompt": STEPWISE}),
        others={"functions": f"{AGENTS}:STEPS", "stream": True},
        limit=3,
    ),
    Case(
        "bedrock_agents",
        "deployed",
        "",
        ORDERS,
        ["look_up_order"],
        options=DEPLOYED,
        config=AgentConfig(prompt="You help customers.", context=POLICY),
        others=DESK,
        limit=3,
    ),
)


def deployed(**options: Any) -> Adapter:
    spec = AgentSpec(adapter="bedrock_agents", options={**DEPLOYED, **options}, **DESK)
    return BedrockAgentsAdapter.create(spec, AgentConfig(context=POLICY))


def ran(adapter: Adapter, *turns: str, trial: Trial | None = None) -> AgentTrace:
    async def run() -> AgentTrace:
        with running(trial or Trial("t1")) as found:
            return await adapter.run(turns, found)

    return asyncio.run(run())


def call_of(name: str, **more: Any) -> dict[str, Any]:
    given = [{"name": "order_id", "type": "string", "value": "A-1"}]
    return {"functionInvocationInput": {"actionGroup": "desk", "function": name, "parameters": given, **more}}
