"""LlamaIndex, with the simulator behind it."""

import pytest

from agentmut.config import AgentConfig, Document
from tests.frameworks.kit import Case, check

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
AGENTS = "tests.frameworks.llama_index_agents"
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take five days. Gifts are final."),))
TURNS = ["Where is my order A-1042?", "And where is my order A-1043?"]
CASES = (
    Case("llama_index", "two tools", f"{AGENTS}:desk", TURNS, ["look_up_order"], config=POLICY),
    Case("llama_index", "ReAct", f"{AGENTS}:thinker", TURNS, ["look_up_order"], config=POLICY),
    Case(
        "llama_index",
        "hand-off",
        f"{AGENTS}:team",
        ['Hand me over to "billing": I want a refund for my order A-1042.'],
        ["look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
