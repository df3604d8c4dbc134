"""Factories of LangGraph agents, and what is said of those that build none."""

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import AdapterError, UsageError
from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.seams.protocols.adapter import AgentSpec
from tests.adapters.langgraph_agents import CONFIG, by_graph, run

pytestmark = pytest.mark.framework


def create(tmp_path: Path, body: str, config: AgentConfig = CONFIG, name: str = "graph_under_test") -> Any:
    (tmp_path / f"{name}.py").write_text(body)
    return LangGraphAdapter.create(
        AgentSpec(adapter="langgraph", factory=f"{name}:build", root=str(tmp_path)), config
    )


UNCOMPILED = """
from langgraph.graph import MessagesState, StateGraph
def build(config): return StateGraph(MessagesState)
"""


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("def build(config): raise KeyError('region')", r"graph_bad_\d:build raised KeyError: 'region'"),
        (UNCOMPILED, r"returned a StateGraph; expected a compiled .* Did you forget `.compile\(\)`"),
        ("def build(config): return None", "returned a NoneType"),
        ("async def build(config): return None", "returned a NoneType"),
    ],
)
def test_a_factory_that_builds_no_graph_is_told_what_is_wrong(
    body: str, complaint: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    number = request.node.callspec.indices["body"]
    with pytest.raises(AdapterError, match=complaint):
        create(tmp_path, body, name=f"graph_bad_{number}").build()


def test_a_factory_that_fails_for_one_mutant_makes_the_trial_unbuildable() -> None:
    def build(config: AgentConfig) -> Any:
        raise ValueError("no such model")

    execution = run(build)
    assert execution.ending is Ending.UNBUILDABLE
    assert execution.reason == "agent.factory here:build raised ValueError: no such model"


def test_references_that_lead_nowhere_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"agent\.factory is missing"):
        LangGraphAdapter.create(AgentSpec(adapter="langgraph"), CONFIG)
    with pytest.raises(UsageError, match=r"is a int; expected a compiled graph"):
        create(tmp_path, "build = 3", name="graph_number")


def test_tools_are_taken_from_the_graph_where_the_config_names_none(tmp_path: Path) -> None:
    body = """
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.tools import tool

@tool
def look_up(order: str) -> str:
    "Look up an order."
    return order

def build(config):
    return create_agent(GenericFakeChatModel(messages=iter(())), [look_up])
"""
    adapter = create(tmp_path, body, AgentConfig(), name="graph_tools")
    (found,) = adapter.get_config().tools
    assert (found.name, found.description) == ("look_up", "Look up an order.")
    assert list(found.parameters["properties"]) == ["order"]
    assert adapter.get_tools() == adapter.get_config().tools


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        (None, r"requires the package langgraph. Install it with: pip install 'agentmut\[langgraph\]'"),
        ("0.6.1", "requires langgraph 1.2 or later, found 0.6.1"),
        ("1.1rc2", "requires langgraph 1.2 or later, found 1.1rc2"),
    ],
)
def test_a_missing_or_old_langgraph_says_what_to_install(
    version: str | None, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(package: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(package)
        return version

    monkeypatch.setattr(metadata, "version", found)
    with pytest.raises(AdapterError, match=complaint):
        LangGraphAdapter.create(AgentSpec(adapter="langgraph", factory="x:y"), CONFIG)


def test_versions_of_the_framework_are_part_of_a_run() -> None:
    versions = LangGraphAdapter(by_graph(""), CONFIG, "x").versions()
    assert set(versions) == {"langgraph", "langchain", "langchain-core", "langchain-openai"}
