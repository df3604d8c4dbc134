"""Builds the agent from its configuration."""

from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from agentmut import AgentConfig
from agentmut.adapters.langgraph import bind_tools, model_settings
from support_desk.tools import TOOLS


def build(config: AgentConfig) -> Any:
    """Return the compiled LangGraph agent. Endpoint and key come from OPENAI_BASE_URL and OPENAI_API_KEY."""
    model = ChatOpenAI(**model_settings(config))
    return create_agent(model, bind_tools(config, TOOLS), system_prompt=config.system_text())
