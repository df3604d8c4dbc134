"""LangGraph graphs in the forms that people have: compiled, or built by a function without agentmut's config."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import ProjectError, UsageError
from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.cli import main
from agentmut.nouns.config import AgentConfig
from agentmut.project.loading import load_project
from agentmut.seams.protocols.adapter import AgentSpec

pytestmark = pytest.mark.framework

GRAPHS = """
import asyncio

from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

PROMPT = "Be kind. Never promise dates. Ask for the order number first."


@tool
def look_up(order: str) -> str:
    "Look up an order by its number."
    return "shipped"


def made():
    model = ChatOpenAI(base_url={url!r}, api_key="k", model="m", max_retries=0).bind_tools([look_up])

    async def ask(state: MessagesState):
        return {{"messages": [await model.ainvoke([SystemMessage(PROMPT), *state["messages"]])]}}

    flow = StateGraph(MessagesState)
    flow.add_node("ask", ask)
    flow.add_node("tools", ToolNode([look_up]))
    flow.add_edge(START, "ask")
    flow.add_conditional_edges("ask", tools_condition)
    flow.add_edge("tools", "ask")
    return flow.compile()


compiled = made()


def plain():
    return made()


async def later():
    await asyncio.sleep(0)
    return made()


def of_platform(config: RunnableConfig):
    assert config["configurable"] == {{}}
    return made()


def uncompiled():
    return StateGraph(MessagesState)


raw = StateGraph(MessagesState)
"""
PROMPT = "Be kind. Never promise dates. Ask for the order number first."
FORMS = ("compiled", "plain", "later", "of_platform")


@pytest.fixture
def graphs(tmp_path: Path, service: Any, calls: Any) -> str:
    name = f"forms_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(GRAPHS.format(url=service.url))

    def answer(request: Any) -> Any:
        if "Never promise" not in request.system_text:
            return "No."
        done = any(message.role == "tool" for message in request.messages)
        return "Hello, it is shipped." if done else calls(("look_up", '{"order": "1"}'))

    service.answer = answer
    return name


def create(folder: Path, factory: str, **more: Any) -> LangGraphAdapter:
    spec = AgentSpec(adapter="langgraph", factory=factory, root=str(folder), **more)
    return LangGraphAdapter.create(spec, AgentConfig())


@pytest.mark.whole
@pytest.mark.parametrize("form", ["compiled", "of_platform"])
def test_mutants_go_by_the_wire_and_live_flow(form: str, graphs: str, tmp_path: Path) -> None:
    case = {"name": "hello", "input": "Hi", "evaluators": [{"contains": "shipped"}]}
    (tmp_path / "scenarios.yaml").write_text(yaml.safe_dump([case]))
    # LangGraph's own limit is 10007 steps: a mutant that goes round in circles would ask until its time is up.
    config = {"prompt": PROMPT, "model": {"name": "m"}, "orchestration": {"max_steps": 12}}
    agent = {"adapter": "langgraph", "factory": f"{graphs}:{form}", "config": config, "safe_tools": "all"}
    project = {
        "version": 1,
        "agent": agent,
        "suite": {"scenarios": "scenarios.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction", "orchestration.*", "tool.result_error"]},
        "statistics": {"rounds": "one", "baseline": 10, "delta": 0.5},
    }
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(project))
    with pytest.raises(SystemExit) as left:
        main(["run", "--project", str(tmp_path), "--yes"])
    assert not left.value.code
    result = json.loads(max(tmp_path.glob(".agentmut/runs/*/result.json")).read_text())
    found = {(m["operator"].split(".")[0], m["status"]) for m in result["mutants"]}
    assert {("prompt", "killed"), ("prompt", "survived")} <= found
    assert {kind for kind, _ in found} == {"prompt", "orchestration", "tool"}
    assert not {status for _, status in found} & {"not_applied", "error", "undecided"}


@pytest.mark.parametrize("form", FORMS)
def test_what_takes_no_config_goes_by_the_wire_and_its_tools_are_known(
    form: str, graphs: str, tmp_path: Path
) -> None:
    adapter = create(tmp_path, f"{graphs}:{form}")
    assert adapter.default_route == "wire"
    assert adapter.get_config().tool_names == ("look_up",) and adapter.doubled_tools() == {"look_up"}
    with pytest.raises(
        UsageError, match="A function that builds the graph from agentmut's config could be built anew"
    ):
        create(tmp_path, f"{graphs}:{form}", route="rebuild")


@pytest.mark.parametrize("place", ["{name}:compiled", "./{name}.py:compiled"])
def test_a_project_names_its_graph_as_langgraph_json_does(place: str, graphs: str, tmp_path: Path) -> None:
    case = {"name": "hello", "input": "Hi", "evaluators": [{"contains": "x"}]}
    (tmp_path / "scenarios.yaml").write_text(yaml.safe_dump([case]))
    agent = {"adapter": "langgraph", "graph": place.format(name=graphs)}
    project = {"version": 1, "agent": agent, "suite": {"scenarios": "scenarios.yaml"}}
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(project))
    spec = load_project(tmp_path).agent
    assert spec.factory == f"{graphs}:compiled"
    assert LangGraphAdapter.create(spec, AgentConfig()).get_config().tool_names == ("look_up",)
    (tmp_path / "agentmut.yaml").write_text(
        yaml.safe_dump({**project, "agent": {**agent, "factory": f"{graphs}:plain"}})
    )
    with pytest.raises(ProjectError, match="give either factory or graph"):
        load_project(tmp_path)


def test_other_adapters_have_no_graph(tmp_path: Path) -> None:
    agent = {"adapter": "python", "run": "a:b", "graph": "a:b"}
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump({"version": 1, "agent": agent}))
    with pytest.raises(ProjectError, match="the python adapter does not use 'graph'"):
        load_project(tmp_path)


def test_a_graph_that_is_not_compiled_is_told_so(graphs: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"not compiled; add `\.compile\(\)`"):
        create(tmp_path, f"{graphs}:raw")
    assert "Did you forget `.compile()`" in create(tmp_path, f"{graphs}:uncompiled").not_built
