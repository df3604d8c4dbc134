"""Evaluators that speak of tools: those of the config, and those of the agent as it is built."""

from pathlib import Path

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.session import Session, open_session
from agentmut.project.loading import load_project

pytestmark = pytest.mark.framework

AGENT = '''
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


@tool
def look_up(order: str) -> str:
    """Look up an order."""
    return order


@tool
def refund(order: str) -> str:
    """Refund an order."""
    return order


def build(config):
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([look_up, refund]))
    graph.add_edge(START, "tools")
    return graph.compile()
'''
PROJECT = """
version: 1
agent:
  adapter: langgraph
  factory: {module}:build
  config:
    prompt: Help.
    tools: [{{name: look_up, description: Look up an order.}}]
suite:
  scenarios: one.yaml
"""
SCENARIO = "- name: refund\n  input: Refund A-1.\n  evaluators: [{{tool_called: {tool}}}]\n"


def opened(folder: Path, module: str, tool: str) -> Session:
    (folder / f"{module}.py").write_text(AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT.format(module=module))
    (folder / "one.yaml").write_text(SCENARIO.format(tool=tool))
    return open_session(load_project(folder))


def test_a_tool_that_the_agent_has_and_its_config_does_not_list_may_be_judged(tmp_path: Path) -> None:
    session = opened(tmp_path, "agent_with_two_tools", "refund")
    assert session.adapter.get_config().tool_names == ("look_up",)
    assert [tool.name for tool in session.adapter.get_tools()] == ["look_up", "refund"]


def test_a_tool_that_neither_has_is_refused_with_the_nearest_of_both(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"speaks of the tool 'refnd'.*refund"):
        opened(tmp_path, "agent_with_two_of_them", "refnd")
