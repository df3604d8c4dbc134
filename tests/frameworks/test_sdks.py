"""Agents without a framework, with the simulator behind them: on an SDK, and functions that know of nothing."""

from importlib.util import find_spec

import pytest

from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.tools import read_tool
from tests.frameworks.kit import Case, check
from tests.frameworks.order_tools import FUNCTIONS, PROMPT, SPECS

absent = [sdk for sdk in ("openai", "anthropic") if not find_spec(sdk)]
pytestmark = [pytest.mark.framework, pytest.mark.skipif(bool(absent), reason=f"not installed: {absent}")]
QUESTION = "Where is my order A-1042?"
TURNS = [QUESTION, "And where is my order A-1043?"]
TOOLS = ["look_up_order"]
LOOP = {"functions": "tests.frameworks.order_tools:FUNCTIONS"}
ON_OPENAI, ON_ANTHROPIC = (
    {"run": f"tests.frameworks.{sdk}_sdk_agents:run"} for sdk in ("openai", "anthropic")
)
CONFIGURED = {"run": "tests.frameworks.openai_sdk_agents:configured"}
DESK = AgentConfig(
    prompt=PROMPT,
    model=ModelConfig(name="sim-large", temperature=0.3, max_tokens=500),
    context=(Document(name="policy", text="Refunds take five days. Gifts are final."),),
)
READ = DESK.model_copy(update={"tools": tuple(map(read_tool, FUNCTIONS))})
OWN = AgentConfig(prompt=PROMPT, model=ModelConfig(name="sim-large"), tools=SPECS)
TWO_AGENTS = "two agents in a function"
CASES = (
    Case("openai", "two tools", "", TURNS, TOOLS, config=DESK, others=LOOP, limit=3),
    Case(
        "openai",
        "two tools, Responses",
        "",
        TURNS,
        TOOLS,
        config=DESK,
        others={**LOOP, "api": "responses"},
        limit=3,
    ),
    Case("openai", TWO_AGENTS, "", [QUESTION], TOOLS, config=OWN, others=ON_OPENAI),
    Case("anthropic", "two tools", "", TURNS, TOOLS, config=DESK, others=LOOP, limit=3),
    Case("anthropic", TWO_AGENTS, "", [QUESTION], TOOLS, config=OWN, others=ON_ANTHROPIC),
    Case("python", "two tools", "", TURNS, TOOLS, config=READ, others=CONFIGURED),
    Case("python", TWO_AGENTS, "", [QUESTION], TOOLS, config=OWN, others=ON_OPENAI),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.framework}, {case.name}")
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)
