"""`agentmut init --from langgraph.json` makes a project of a graph, beside the file."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import app
from agentmut.project.loading import load_project
from agentmut.usecases.starting_from import write_from

TWO = {"desk": "./desk/graph.py:make", "far": {"path": "./far.py:graph", "description": "the other one"}}


@pytest.fixture
def named(tmp_path: Path) -> Path:
    (tmp_path / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": TWO}))
    return tmp_path / "langgraph.json"


@pytest.mark.parametrize(("graph", "factory"), [("desk", "desk.graph:make"), ("far", "far:graph")])
def test_a_project_names_the_graph(graph: str, factory: str, named: Path) -> None:
    write_from(named.parent, named.with_name(f"langgraph.json#{graph}"))
    agent = load_project(named.parent).agent
    assert (agent.adapter, agent.factory) == ("langgraph", factory)


def test_one_graph_needs_no_name_and_the_command_says_what_comes_next(tmp_path: Path) -> None:
    (tmp_path / "langgraph.json").write_text(json.dumps({"graphs": {"desk": "./desk.py:graph"}}))
    told = CliRunner().invoke(app, ["init", str(tmp_path), "--from", str(tmp_path / "langgraph.json")])
    assert told.exit_code == 0, told.output
    assert "agentmut mutants" in told.output and "--alias" not in told.output
    assert load_project(tmp_path).agent.factory == "desk:graph"


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("langgraph.json", r"names 2 graphs: desk, far. Name one, as in langgraph.json#desk"),
        ("langgraph.json#dask", r"has no graph 'dask'. Did you mean 'desk'"),
    ],
)
def test_several_graphs_are_told_apart(wanted: str, told: str, named: Path) -> None:
    with pytest.raises(UsageError, match=told):
        write_from(named.parent, named.with_name(wanted))


def test_the_project_stands_beside_the_file(named: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="are found from its folder: `agentmut init"):
        write_from(tmp_path / "elsewhere", named.with_name("langgraph.json#desk"))


def test_a_graph_in_javascript_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "langgraph.json").write_text(json.dumps({"graphs": {"desk": "./src/graph.ts:graph"}}))
    with pytest.raises(UsageError, match=r"is JavaScript, .* `adapter: langgraph_remote`"):
        write_from(tmp_path, tmp_path / "langgraph.json")
    assert [path.name for path in tmp_path.iterdir()] == ["langgraph.json"]
