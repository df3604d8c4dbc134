"""A LangGraph agent on Anthropic's models becomes a mutant on the way, plain and streamed."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.conformance.adapters.adapter_checks import CHECKS
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.tools import read_tool
from agentmut.testing import check_adapter

pytestmark = pytest.mark.framework


@tool
def look_up(order: str) -> str:
    """Look up an order by its number."""
    return f"{order} is on its way"


CONFIG = AgentConfig(
    prompt="You help customers.\n\n- Look up the order before you answer.",
    tools=(read_tool(look_up),),
    model=ModelConfig(name="sim-large", max_tokens=500),
    context=(Document(name="policy", text="Refunds take five days. Returns are free."),),
)


@pytest.mark.parametrize("stream", [False, True])
def test_an_agent_on_claude_is_sound_on_the_wire(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_anthropic import ChatAnthropic  # slow to import

    for variable in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"):
        monkeypatch.delenv(variable, raising=False)

    def build(config: AgentConfig) -> Any:
        chat = ChatAnthropic(
            model=config.model.name, max_tokens=500, api_key="k", max_retries=0, streaming=stream
        )
        return create_agent(chat, [look_up], system_prompt=config.system_text())

    only = [
        check for check in CHECKS if check.startswith("mutation.") or check in ("steps", "outputs", "usage")
    ]
    check_adapter(
        lambda: LangGraphAdapter(build, CONFIG, "here:build").as_built(),
        turns=["Where is order A-1042?"],
        expect_tools=["look_up"],
        only=only,
        route="wire",
    )
