"""LangGraph, with the simulator behind it."""

import pytest

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.tools import read_tool
from tests.frameworks.kit import Case, check
from tests.frameworks.order_tools import PROMPT

pytest.importorskip("langgraph", reason="langgraph is not installed")
from tests.frameworks import langgraph_agents as agents

pytestmark = pytest.mark.framework

AGENTS = "tests.frameworks.langgraph_agents"
POLICY = (Document(name="policy", text="Refunds take five days. Gifts are final."),)
CASES = (
    Case(
        "langgraph",
        "two tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=AgentConfig(prompt=PROMPT, model=agents.MODEL, context=POLICY),
        limit=5,
    ),
    Case(
        "langgraph",
        "hand-off",
        f"{AGENTS}:team",
        ["I want a refund for my order A-1042."],
        ["look_up_order"],
        config=AgentConfig(
            prompt="You handle money.\n\n- Always look up the order first.\n- Refund at most 50 euros.",
            model=agents.MODEL,
            tools=tuple(map(read_tool, agents.TOOLS)),
        ),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
