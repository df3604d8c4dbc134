"""`agentmut init`: the starter is a valid project, runs as it is, and notices what it should."""

import asyncio
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from genai_prices import Usage, calc_price
from jsonschema import Draft202012Validator

from agentmut._base.errors import ExitCode, UsageError
from agentmut.campaign.preparation.agents_own import with_agents_own
from agentmut.judging.building import build_all, judge
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.scenario import Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.trial.pricing import provider_of
from agentmut.usecases.starting import _ALSO, frameworks, starter_name, write_starter

OTHER_SPELLINGS = {
    "openai-agents": "openai_agents", "OpenAI_Agents": "openai_agents", "crew_ai": "crewai", "CrewAI": "crewai",
    "pydantic-ai": "pydantic_ai", "PydanticAI": "pydantic_ai", "llamaindex": "llama_index", "adk": "google_adk",
    "Semantic Kernel": "semantic_kernel", "bedrock-agents": "bedrock_agents",
    "Amazon Bedrock Agents": "bedrock_agents", "OpenAI": "openai", "openai-python": "openai",
    "Anthropic SDK": "anthropic", "Claude": "anthropic",
}  # fmt: skip


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    write_starter(tmp_path)
    return tmp_path


def agent_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"stub_{abs(hash(str(path)))}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def passes(root: Path, config: AgentConfig, scenario: Scenario) -> bool:
    answer = asyncio.run(agent_module(root / "agent_under_test.py").run(config, scenario.turns[0]))
    trace = AgentTrace(steps=(Step(action=Action.RESPOND, output=answer),), outputs=(answer,))
    return all(check.passed for check in judge(build_all(scenario.evaluators), scenario, trace))


def killed_by(root: Path, project: Project, rule: str) -> list[str]:
    lines = project.config.prompt.splitlines()
    (dropped,) = [line for line in lines if rule in line]
    mutated = project.config.model_copy(update={"prompt": project.config.prompt.replace(dropped, "")})
    return [s.name for s in project.scenarios if not passes(root, mutated, s)]


def test_the_starter_has_a_project_file_two_scenarios_a_prompt_and_an_agent(starter: Path) -> None:
    written = {path.relative_to(starter).as_posix() for path in starter.rglob("*") if path.is_file()}
    files = {"agentmut.yaml", "agent_under_test.py", "prompts/system.md", "scenarios/first.yaml"}
    assert {path for path in written if not path.startswith(".agentmut/")} == {*files, ".gitignore"}
    assert (starter / ".gitignore").read_text() == ".agentmut/\n"
    project = load_project(starter)
    assert len(project.scenarios) == 2
    assert project.sources.prompt == "prompts/system.md"


def test_a_gitignore_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("build/\n")
    assert tmp_path / ".gitignore" not in write_starter(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "build/\n"


def test_the_stub_agent_passes_every_scenario_as_it_is(starter: Path) -> None:
    project = load_project(starter)
    assert all(passes(starter, project.config, scenario) for scenario in project.scenarios)


@pytest.mark.parametrize(
    ("rule", "noticed_by"),
    [
        ("Hello", ["refund_time"]),
        ("refund", ["refund_time"]),
        ("delivery", ["delivery_time"]),
        ("complaint", []),
        ("anything else", []),
    ],
)
def test_dropping_a_rule_is_noticed_exactly_where_a_scenario_looks(
    starter: Path, rule: str, noticed_by: list[str]
) -> None:
    assert killed_by(starter, load_project(starter), rule) == noticed_by


def test_a_destroyed_stub_still_answers_and_fails(starter: Path) -> None:
    project = load_project(starter)
    assert not any(passes(starter, AgentConfig(), scenario) for scenario in project.scenarios)


def test_existing_files_are_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text("mine")
    with pytest.raises(UsageError) as error:
        write_starter(tmp_path)
    assert "agentmut.yaml" in str(error.value)
    assert "--force" in str(error.value)
    assert error.value.exit_code is ExitCode.USAGE
    assert [path.name for path in tmp_path.iterdir()] == ["agentmut.yaml"]
    assert (tmp_path / "agentmut.yaml").read_text() == "mine"


def test_force_overwrites(tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text("mine")
    written = write_starter(tmp_path, force=True)
    assert tmp_path / "agentmut.yaml" in written
    assert "version: 1" in (tmp_path / "agentmut.yaml").read_text()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write .*file"):
        write_starter(tmp_path / "file" / "below")


def test_force_writes_all_files_or_none(tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text("mine")
    (tmp_path / "agent_under_test.py").mkdir()  # a folder stands where a file is to be written
    with pytest.raises(UsageError, match=r"cannot write .*agent_under_test"):
        write_starter(tmp_path, force=True)
    assert (tmp_path / "agentmut.yaml").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["agentmut.yaml"]


def test_an_unknown_framework_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'langgraph'"):
        write_starter(tmp_path, framework="langgrph")


@pytest.mark.parametrize("framework", frameworks())
def test_every_starter_is_a_valid_project(
    tmp_path: Path, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    write_starter(tmp_path, framework=framework)
    project = load_project(tmp_path)
    assert len(project.scenarios) >= 2
    (proposed,) = re.findall(r"downgrade_models: \[(.*)\]", project.path.read_text()) or [""]
    service = {"google_adk": "google", "anthropic": "anthropic"}.get(
        framework, provider_of(project) or "openai"
    )
    # calc_price knows no model of another service
    assert not proposed or calc_price(Usage(input_tokens=1), model_ref=proposed, provider_id=service)
    assert service == "aws" or not framework.startswith("bedrock")


def test_the_langgraph_stub_builds_a_graph_with_the_tools_of_the_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    write_starter(tmp_path, framework="langgraph")
    config = load_project(tmp_path).config
    stub = agent_module(tmp_path / "agent_under_test.py")
    assert "tools" in stub.build(config).nodes
    assert [tool.name for tool in stub.offered(config)] == ["track_parcel", "issue_refund"]
    renamed = ToolSpec(name="track_parcel", description="misleading")
    (only,) = stub.offered(config.model_copy(update={"tools": (renamed,)}))
    assert (only.name, only.description) == ("track_parcel", "misleading")


def test_what_is_read_off_an_agent_stands_in_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    read = AgentConfig(prompt="p", tools=(ToolSpec(name="t"),), orchestration={"max_steps": 5})
    places = {}
    for framework in ("openai_agents", "bedrock", "langgraph"):
        write_starter(tmp_path / framework, framework=framework)
        places[framework] = with_agents_own(load_project(tmp_path / framework), read).recorded
    of_agent = dict.fromkeys(("prompt", "tools", "orchestration/max_steps"), "agent_under_test.py")
    assert places["openai_agents"] == of_agent
    # its prompt has a file, its loop is agentmut's
    assert places["bedrock"] == {"tools": "agent_under_test.py"}
    assert places["langgraph"] == {name: of_agent[name] for name in ("tools", "orchestration/max_steps")}


def test_a_starter_is_found_by_other_spellings_of_its_framework() -> None:
    assert {said: starter_name(said) for said in OTHER_SPELLINGS} == OTHER_SPELLINGS
    assert {starter_name(said) for said in _ALSO} <= set(frameworks())
    with pytest.raises(UsageError, match="no starter for 'HTTP', but an adapter: begin with"):
        starter_name("HTTP")
    with pytest.raises(UsageError, match=r"take google_adk for .* or vertex_agent_engine for"):
        starter_name("Vertex AI")


@pytest.mark.parametrize("name", frameworks())
def test_every_starter_has_a_budget_so_that_no_verb_has_to_ask(name: str, tmp_path: Path) -> None:
    write_starter(tmp_path, framework=name)
    assert yaml.safe_load((tmp_path / "agentmut.yaml").read_text())["budget"]


def test_the_stand_in_answers_a_conversation_with_all_that_it_is_about(starter: Path) -> None:
    config = load_project(starter).config
    run = agent_module(starter / "agent_under_test.py").run
    asked = "When do I get my refund?"
    assert asyncio.run(run(config, [asked, "Are you sure?"])) == asyncio.run(run(config, asked))


def test_its_files_name_the_schemas_that_editors_check_them_with(starter: Path) -> None:
    for path in (starter / "agentmut.yaml", starter / "scenarios" / "first.yaml"):
        line, _, text = path.read_text().partition("\n")
        schema = path.parent / line.removeprefix("# yaml-language-server: $schema=")
        Draft202012Validator(json.loads(schema.read_text())).validate(yaml.safe_load(text))
