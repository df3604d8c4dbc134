"""pydantic-ai, with the simulator behind it."""

import pytest

from agentmut.config import AgentConfig, Document
from tests.frameworks.kit import Case, check

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
AGENTS = "tests.frameworks.pydantic_ai_agents"
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take five days. Gifts are final."),))
CASES = (
    Case(
        "pydantic_ai",
        "two tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=POLICY,
    ),
    Case(
        "pydantic_ai",
        "agent in a tool",
        f"{AGENTS}:office",
        ["Ask the clerk: where is my order A-1042?"],
        ["ask_clerk"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
