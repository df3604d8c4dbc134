"""The OpenAI Agents SDK, with the simulator behind it."""

import pytest

from agentmut.adapters.openai_agents import OpenAIAgentsAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.testing import check_adapter
from tests.frameworks.kit import Case, check, two_tools

pytestmark = pytest.mark.framework

pytest.importorskip("agents", reason="openai-agents is not installed")
AGENTS = "tests.frameworks.openai_agents_agents"
CASES = (
    two_tools("openai_agents", f"{AGENTS}:desk"),
    Case(
        "openai_agents",
        "hand-off",
        f"{AGENTS}:team",
        ["I want a refund for my order A-1042."],
        ["look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


def test_an_agent_that_its_factory_builds_from_the_config_is_left_as_it_is_built() -> None:
    prompt = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."
    spec = AgentSpec(adapter="openai_agents", factory=f"{AGENTS}:configured")
    config = AgentConfig(prompt=prompt, model=ModelConfig(name="sim-large"))
    found = check_adapter(
        lambda: OpenAIAgentsAdapter.create(spec, config),
        turns=["Where is my order A-1042?"],
        expect_tools=["look_up_order"],
        only=["run", "steps", "doubles", "errors", "mutation.prompt", "mutation.tool"],
    )
    assert {"tool.rename", "tool.decoy", "tool.remove"} <= set(found["tool"].delivered)


def test_what_the_responses_api_lacks_is_not_promised_on_the_wire() -> None:
    agent = OpenAIAgentsAdapter.create(
        AgentSpec(adapter="openai_agents", factory=f"{AGENTS}:desk"), AgentConfig()
    )
    assert "uses Chat Completions by agent.route: wire" in agent.way_around("stop")
    assert agent.way_around("response_format") == "mutants of it can reach the agent by agent.route: wire"
