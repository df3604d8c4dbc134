"""Agents of smolagents that test one thing each."""

from typing import Any

from smolagents import CodeAgent, Model, OpenAIModel, PythonExecutor, ToolCallingAgent

from agentmut.nouns.config import AgentConfig
from tests.frameworks.smolagents_agents import TOOLS, team

SEEN: list[Any] = []
"""The agents that a user's callback was called with."""


def model(**settings: Any) -> OpenAIModel:
    return OpenAIModel("sim-large", api_key="none", **settings)


LATER: list[Any] = []
"""Tools that agents have once a test puts them there."""


def growing() -> ToolCallingAgent:
    """It has one tool at first."""
    return ToolCallingAgent(tools=[TOOLS[0], *LATER], model=model(), instructions="Be kind.")


def note(step: Any, agent: Any) -> None:
    SEEN.append(agent)


def noted() -> ToolCallingAgent:
    return ToolCallingAgent(
        tools=TOOLS, model=model(), instructions="Be kind.", max_steps=3, step_callbacks=[note]
    )


def streaming() -> ToolCallingAgent:
    return ToolCallingAgent(tools=TOOLS, model=model(), instructions="Be kind.", stream_outputs=True)


def limited() -> CodeAgent:
    return CodeAgent(
        tools=TOOLS, model=model(max_completion_tokens=500, temperature=1), instructions="Be kind."
    )


def in_markdown() -> CodeAgent:
    return CodeAgent(tools=TOOLS, model=model(), code_block_tags="markdown")


def in_json() -> CodeAgent:
    return CodeAgent(tools=TOOLS, model=model(), use_structured_outputs_internally=True)


def from_config(config: AgentConfig) -> ToolCallingAgent:
    return ToolCallingAgent(tools=TOOLS, model=model(), instructions=config.system_text())


def hurried() -> ToolCallingAgent:
    """A team whose member has one step."""
    manager = team()
    manager.managed_agents["billing"].max_steps = 1
    return manager


def three() -> ToolCallingAgent:
    members = [
        ToolCallingAgent(tools=[], model=model(), name=name, description=f"Does {name}.")
        for name in ("sales", "billing")
    ]
    return ToolCallingAgent(tools=[], model=model(), instructions="Decide.", managed_agents=members)


class _Elsewhere(PythonExecutor):  # type: ignore[misc]
    def send_tools(self, tools: Any) -> None: ...

    def send_variables(self, variables: Any) -> None: ...

    def __call__(self, code_action: str) -> Any: ...


def elsewhere() -> CodeAgent:
    return CodeAgent(tools=TOOLS, model=model(), executor=_Elsewhere())


class _Local(Model):  # type: ignore[misc]
    """A model that is asked in some other way."""


def local() -> ToolCallingAgent:
    return ToolCallingAgent(
        tools=TOOLS, model=_Local(model_id="mine", temperature=1), instructions="Be kind."
    )


def twins() -> ToolCallingAgent:
    inner = ToolCallingAgent(tools=[], model=model(), name="a", description="One.")
    outer = ToolCallingAgent(tools=[], model=model(), name="b", description="Two.", managed_agents=[inner])
    other = ToolCallingAgent(tools=[], model=model(), name="a", description="Three.")
    return ToolCallingAgent(tools=[], model=model(), managed_agents=[outer, other])


def of_another_kind() -> str:
    return "an agent"


def failing() -> ToolCallingAgent:
    raise RuntimeError("no database")
