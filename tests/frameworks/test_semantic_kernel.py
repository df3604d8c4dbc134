"""Semantic Kernel, with the simulator behind it."""

import pytest

from agentmut.config import AgentConfig, Document
from tests.frameworks.kit import Case, check

pytest.importorskip("semantic_kernel", reason="semantic-kernel is not installed")
AGENTS = "tests.frameworks.semantic_kernel_agents"
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take five days. Gifts are final."),))
CASES = (
    Case(
        "semantic_kernel",
        "two tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["Orders-look_up_order"],
        config=POLICY,
    ),
    Case(
        "semantic_kernel",
        "agent as plugin",
        f"{AGENTS}:team",
        ["I want a refund for my order A-1042."],
        ["Orders-look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
