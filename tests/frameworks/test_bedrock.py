"""Bedrock Converse by boto3, with the simulator behind it."""

import pytest

from agentmut.config import AgentConfig, Document, ModelConfig
from agentmut.tools import read_tool
from tests.frameworks.kit import Case, check

pytest.importorskip("boto3", reason="boto3 is not installed")
from tests.frameworks import bedrock_agents as agents

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
        config=AgentConfig(prompt=agents.PROMPT, model=MODEL, context=POLICY),
        others={"functions": f"{AGENTS}:FUNCTIONS"},
    ),
    Case(
        "bedrock",
        "two tools, streamed",
        "",
        ["Where is my order A-1042?"],
        ["look_up_order"],
        config=AgentConfig(prompt=agents.PROMPT, model=MODEL),
        others={"functions": f"{AGENTS}:FUNCTIONS", "stream": True},
    ),
    Case(
        "bedrock",
        "a function of one's own",
        "",
        ["Where is my order A-1042?"],
        ["look_up_order"],
        config=AgentConfig(
            prompt=agents.PROMPT,
            model=ModelConfig(name="sim-large"),
            tools=(read_tool(agents.look_up_order), read_tool(agents.check_stock)),
        ),
        others={"run": f"{AGENTS}:run"},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
