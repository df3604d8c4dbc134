"""CrewAI, with the simulator behind it."""

import pytest

from agentmut.config import AgentConfig, Document
from tests.frameworks.kit import Case, check

pytest.importorskip("crewai", reason="crewai is not installed")
AGENTS = "tests.frameworks.crewai_agents"
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take five days. Gifts are final."),))
CASES = (
    Case(
        "crewai",
        "two tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=POLICY,
    ),
    Case("crewai", "two tasks", f"{AGENTS}:two_steps", ["Where is my order A-1042?"], ["look_up_order"]),
    Case(
        "crewai",
        "manager",
        f"{AGENTS}:managed",
        ["Where is my order A-1042?"],
        ["delegate_work_to_coworker"],
        options={"agent": "Manager"},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
