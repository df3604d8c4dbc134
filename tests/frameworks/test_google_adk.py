"""Google's Agent Development Kit, with the simulator behind it."""

import pytest

from agentmut.config import AgentConfig, Document
from tests.frameworks.kit import Case, check

pytest.importorskip("google.adk", reason="google-adk is not installed")
AGENTS = "tests.frameworks.google_adk_agents"
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take {five} days. Gifts are final."),))
CASES = (
    Case(
        "google_adk",
        "two tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=POLICY,
    ),
    Case(
        "google_adk",
        "hand-off",
        f"{AGENTS}:team",
        ["Please give me a refund for my order A-1042."],
        ["look_up_order"],
    ),
    Case("google_adk", "pipeline", f"{AGENTS}:pipeline", ["Where is my order A-1042?"], ["look_up_order"]),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
