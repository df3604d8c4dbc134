"""Offers the tools as the configuration says: which, in what order, and how they are described."""

from collections.abc import Sequence

from langchain_core.tools import BaseTool

from agentmut.config import AgentConfig
from agentmut.tools import ToolSpec, read_tool


def bind_tools(config: AgentConfig, tools: Sequence[BaseTool]) -> list[BaseTool]:
    """Those of `tools` that the config has, in its order, with its descriptions and schemas."""
    by_name = {tool.name: tool for tool in tools}
    return [_described(by_name[spec.name], spec) for spec in config.tools if spec.name in by_name]


def _described(tool: BaseTool, spec: ToolSpec) -> BaseTool:
    known = read_tool(tool)
    if known == spec:
        return tool
    schema = tool.args_schema if known.parameters == spec.parameters else spec.parameters
    return tool.model_copy(update={"description": spec.description, "args_schema": schema})
