"""Results of tools go wrong in an agent that takes its functions from `agentmut.toolbox`, without marking them."""

from typing import Any

import agentmut
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.mutation import generate
from agentmut.nouns import AgentConfig, ToolSpec
from agentmut.seams import AgentSpec, OperatorOptions, load

CONFIG = AgentConfig(prompt="Be kind.", tools=(ToolSpec(name="look_up"),))


def look_up() -> dict[str, Any]:
    return {"state": "sent"}


def run(config: AgentConfig, said: str) -> str:
    return str(agentmut.toolbox(config, [look_up])["look_up"]())


def adapter() -> CallableAdapter:
    spec = AgentSpec(adapter="python", run="tests.adapters.test_toolbox_faults:run")
    return CallableAdapter.create(spec, CONFIG)


def test_its_tools_can_go_wrong() -> None:
    assert adapter().doubled_tools() == {"look_up"}
    made = generate(
        CONFIG, [load("operators", "tool.result_empty")()], OperatorOptions(), adapter().cannot_express
    )
    assert [mutant.description for mutant in made.mutants] == ["look_up returns an empty result"]
