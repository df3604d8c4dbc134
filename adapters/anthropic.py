"""Adapter for Anthropic's SDK: a ready tool loop, or a function of the user's own that calls the SDK."""

from typing import ClassVar

from agentmut._base import UsageError
from agentmut.adapters._shared.sdk_version import require_sdk
from agentmut.adapters._shared.tool_loop.adapter import LoopAdapter
from agentmut.adapters._shared.tool_loop.dialect_messages import MessagesDialect
from agentmut.adapters.wrapped_functions import wrapped_function
from agentmut.nouns import AgentConfig
from agentmut.seams import Adapter, AgentKeys, AgentSpec, TakesKeys


class AnthropicAdapter(LoopAdapter, TakesKeys):
    """Prompt, tools and model in a tool loop on Messages.

    With `agent.run` it is the user's function that runs; mutants reach it through its model requests.
    """

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        None, others=frozenset({"run", "functions", "stream", "route"})
    )

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Adapter:
        """Check the section, import the functions or the function to wrap."""
        if spec.api:
            raise UsageError(
                "agent.api is for adapter openai; Anthropic's SDK has one API only. Leave agent.api out"
            )
        if spec.run:
            return wrapped_function(spec, config, "anthropic")
        require_sdk("anthropic")
        return cls.checked(MessagesDialect(stream=spec.stream), spec, config)
