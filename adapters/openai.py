"""Adapter for OpenAI's SDK: a ready tool loop, or a function of the user's own that calls the SDK."""

from typing import ClassVar

from agentmut.adapters._shared.sdk_version import require_sdk
from agentmut.adapters._shared.tool_loop.adapter import LoopAdapter
from agentmut.adapters._shared.tool_loop.dialect import Dialect
from agentmut.adapters._shared.tool_loop.dialect_openai import ChatDialect, ResponsesDialect
from agentmut.adapters.wrapped_functions import wrapped_function
from agentmut.nouns import AgentConfig
from agentmut.seams import Adapter, AgentKeys, AgentSpec, TakesKeys


class OpenAIAdapter(LoopAdapter, TakesKeys):
    """Prompt, tools and model in a tool loop on Chat Completions or Responses.

    With `agent.run` it is the user's function that runs; mutants reach it through its model requests.
    """

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        None, others=frozenset({"run", "functions", "api", "stream", "route"})
    )

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Adapter:
        """Check the section, import the functions or the function to wrap."""
        if spec.run:  # it calls whatever version it was written for: its requests are what is changed
            return wrapped_function(spec, config, "openai")
        require_sdk("openai")
        return cls.checked(_dialect(spec), spec, config)


def _dialect(spec: AgentSpec) -> Dialect:
    if spec.api == "responses":
        return ResponsesDialect(stream=spec.stream)
    return ChatDialect(stream=spec.stream)
