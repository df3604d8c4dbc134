"""smolagents, with the simulator behind it."""

import pytest

from agentmut.config import AgentConfig, Document
from tests.frameworks.kit import Case, check

pytest.importorskip("smolagents", reason="smolagents is not installed")
AGENTS = "tests.frameworks.smolagents_agents"
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take five days. Gifts are final."),))
TURNS = ["Where is my order A-1042?", "And where is my order A-1043?"]
CASES = (
    Case("smolagents", "two tools", f"{AGENTS}:desk", TURNS, ["look_up_order"], config=POLICY),
    Case("smolagents", "CodeAgent", f"{AGENTS}:coder", TURNS, ["look_up_order"], config=POLICY),
    Case(
        "smolagents",
        "managed agent",
        f"{AGENTS}:team",
        ["I want a refund of 20 euros for my order A-1042."],
        ["look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
