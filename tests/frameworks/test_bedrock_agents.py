"""Agents of Bedrock, inline and deployed: boto3 reads their event streams."""

import pytest

from agentmut.config import AgentConfig, Document, ModelConfig
from tests.frameworks.kit import Case, check

pytest.importorskip("boto3", reason="boto3 is not installed")
AGENTS = "tests.frameworks.bedrock_agents"
PROMPT = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."
POLICY = (Document(name="policy", text="Refunds take five days. Gifts are final."),)
INLINE = (
    Case(
        "bedrock_agents",
        "inline, two tools",
        "",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        options={"inline": True},
        config=AgentConfig(prompt=PROMPT, model=ModelConfig(name="sim-large"), context=POLICY),
        others={"functions": f"{AGENTS}:FUNCTIONS"},
    ),
)


@pytest.mark.parametrize("case", INLINE, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
