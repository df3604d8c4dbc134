"""Adapter for Amazon Bedrock by boto3: a ready tool loop on Converse, or a function of the user's own."""

from typing import ClassVar

from agentmut._base import BEDROCK, UsageError
from agentmut.adapters._shared.boto3 import boto3_requirement, region_of
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.adapters._shared.tool_loop.adapter import LoopAdapter
from agentmut.adapters._shared.tool_loop.dialect_converse import ConverseDialect
from agentmut.adapters.wrapped_functions import wrapped_function
from agentmut.nouns import AgentConfig
from agentmut.seams import Adapter, AgentKeys, AgentSpec, AsksService, TakesKeys


class BedrockAdapter(LoopAdapter, AsksService, TakesKeys):
    """Prompt, tools and model in a tool loop on Converse.

    With `agent.run` it is the user's function that runs; mutants reach it through its model requests.
    """

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        None, others=frozenset({"run", "functions", "stream", "route", "options"})
    )

    requirement: ClassVar[Requirement] = boto3_requirement("bedrock")
    service: ClassVar[str] = BEDROCK.name

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Adapter:
        """Check the section, import the functions or the function to wrap."""
        cls.requirement.check()
        if spec.api:
            raise UsageError("agent.api is for adapter openai; leave it out")
        if spec.run and spec.options:
            raise UsageError(
                "agent.options is for the ready tool loop; with agent.run the function has its own client. "
                "Leave one of the two out"
            )
        if spec.run:
            return wrapped_function(spec, config, "boto3")
        return cls.checked(
            ConverseDialect(stream=spec.stream, region=region_of(spec, ("region",))), spec, config
        )
