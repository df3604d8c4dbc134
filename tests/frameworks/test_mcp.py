"""Tool servers: one by itself, and between an agent and its servers."""

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from dataclasses import dataclass

from agentmut.adapters.python_callable import CallableAdapter
from agentmut.config import AgentConfig, Document, ModelConfig
from agentmut.protocols import Adapter, AgentSpec
from agentmut.tools import read_tool
from tests.frameworks.kit import Case, check

AGENTS = "tests.frameworks.mcp_agents"
LOOK = read_tool(
    {
        "name": "look_up_order",
        "description": "Look up an order by its number.",
        "inputSchema": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "question": {"type": "string"}},
            "required": ["order_id"],
        },
    }
)
REFUND = read_tool(
    {
        "name": "issue_refund",
        "description": "Pay money back to the customer.",
        "inputSchema": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["order_id", "amount"],
        },
    }
)
POLICY = Document(name="policy", text="Refunds take five days. Gifts are final.")
CONFIG = AgentConfig(
    prompt="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
    tools=(LOOK, REFUND),
    model=ModelConfig(name="sim-large", temperature=0.3),
    context=(POLICY,),
)


@dataclass(frozen=True)
class AgentCase(Case):
    """An agent with a server's tools: the function of the factory, under adapter python."""

    def adapter(self) -> Adapter:
        return CallableAdapter.create(AgentSpec(adapter="python", run=self.factory), self.config)


CASES = (
    Case(
        "mcp",
        "a server by itself",
        f"{AGENTS}:orders",
        [
            {
                "tool": "look_up_order",
                "arguments": {"order_id": "A-1042", "question": "Where is this order of mine?"},
            },
            {"list_tools": True},
        ],
        ["look_up_order"],
        config=CONFIG.model_copy(update={"tools": ()}),
    ),
    AgentCase(
        "mcp",
        "an agent with a server's tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=CONFIG,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
