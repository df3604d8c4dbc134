"""Agents with and without a defect, examined by `agentmut doctor` against a service on loopback."""

from pathlib import Path
from typing import Any

import pytest

from agentmut.adapters.bedrock import BedrockAdapter
from agentmut.adapters.mcp import McpAdapter
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.adapters.vertex_agent_engine import VertexAgentEngineAdapter
from agentmut.doctor.beforehand import key_checks
from agentmut.doctor.sending import differences
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.footprints import RequestShape
from agentmut.nouns.messages import ModelRequest
from agentmut.nouns.tools import ToolSpec
from agentmut.report.terminal.doctor_page import render_diagnosis
from agentmut.store.documents.diagnosis import Arrival, Diagnosis
from tests.doctor.examined_agents import (
    CLOSURE,
    COPIED,
    DOCUMENT,
    GOOD,
    HALF,
    KEEPING,
    LOOK,
    OTHER,
    PROMPT,
    RAISING,
    UNSEEN,
    Ward,
)


@pytest.fixture
def ward(tmp_path: Path, service: Any, capsys: pytest.CaptureFixture[str]) -> Ward:
    return Ward(tmp_path, service.url, capsys)


def arrivals(found: Diagnosis) -> dict[str, tuple[str, str]]:
    return {part.name: (part.rebuild.arrival.value, part.wire.arrival.value) for part in found.parts}


def test_an_agent_built_from_its_config_can_be_mutated_by_both_routes(ward: Ward, service: Any) -> None:
    ward.write(GOOD)
    found = ward.examine()
    assert arrivals(found) == {
        "prompt": ("yes", "yes"),
        "tool description": ("yes", "yes"),
        "model setting": ("yes", "yes"),
    }
    (sent,) = found.requests
    assert (sent.number, sent.dialect, sent.host, sent.model) == (2, "chat_completions", "127.0.0.1", "m")
    assert (sent.prompt_length, sent.tools, sent.streamed) == (
        len(PROMPT) - len("{name}") + len("Bo"),
        ("look",),
        False,
    )
    assert (found.ran, found.said, found.differences) == (True, "answered, and passes", ())
    assert found.trials == 6 and len(service.requests) == 12
    assert not found.remembers
    assert (
        "Mutants reach this agent by rebuild and by wire; `agentmut run` takes rebuild."
        in render_diagnosis(found)
    )


def test_a_function_of_the_input_alone_can_be_mutated_on_the_wire_only(ward: Ward) -> None:
    ward.write(RAISING + KEEPING, run=f"patient_{abs(hash(str(ward.folder)))}:alone")
    found = ward.examine()
    assert set(arrivals(found).values()) == {("no", "yes")}
    assert found.remembers  # what it keeps is none of what is changed
    assert "A run began with what an earlier run was told" in found.advice[0]
    assert "takes the input alone" in found.parts[0].rebuild.said
    assert "leave out" not in found.parts[0].rebuild.said


def test_a_prompt_copied_at_import_arrives_on_the_wire_only(ward: Ward) -> None:
    ward.write(COPIED)
    found = ward.examine()
    assert arrivals(found)["prompt"] == ("no", "yes")
    assert arrivals(found)["tool description"] == ("yes", "yes")
    assert "copies the prompt when its module is imported" in found.parts[0].rebuild.said
    assert found.advice == ("With `agent.route: wire` changes of prompt arrive as a whole.",)


def test_tools_in_a_closure_and_a_fixed_setting_are_told_apart(ward: Ward) -> None:
    ward.write(CLOSURE)
    found = ward.examine()
    assert arrivals(found) == {
        "prompt": ("yes", "yes"),
        "tool description": ("no", "yes"),
        "model setting": ("no", "yes"),
    }
    assert "requests still offer look as before" in found.parts[1].rebuild.said
    assert "requests have temperature 0.3 all the same" in found.parts[2].rebuild.said


def test_one_of_two_agents_is_said_to_be_reached_with_the_share(ward: Ward) -> None:
    ward.write(HALF)
    found = ward.examine()
    prompt = found.parts[0]
    assert (prompt.rebuild.arrival, prompt.wire.arrival) == (Arrival.PARTLY, Arrival.ALL)
    assert (prompt.rebuild.shown, prompt.rebuild.could, prompt.rebuild.first_missed) == (1, 2, True)
    assert [sent.tools for sent in found.requests] == [(), ("look",)]
    said = " ".join(render_diagnosis(found).split())
    assert "reached 1 of 2 requests that could have shown it, not the first of a run" in said


def test_an_agent_whose_client_is_not_seen_and_that_reads_nothing_cannot_be_mutated(ward: Ward) -> None:
    ward.write(UNSEEN)
    found = ward.examine(exit_code=4)
    assert (found.ran, found.requests, found.reachable) == (True, (), False)
    assert {arrival for pair in arrivals(found).values() for arrival in pair} == {"no"}
    assert "`agentmut proxy`" in found.parts[0].rebuild.said
    assert found.trials == 4  # no run for the wire, as no request was seen
    assert "Mutants do not reach this agent." in render_diagnosis(found)


def test_what_is_declared_and_not_sent_is_listed(ward: Ward) -> None:
    prompt = f"## Desk\n{PROMPT}"  # a heading may be the adapter's
    ward.write(
        OTHER, config={"prompt": prompt, "tools": [LOOK], "model": {"name": "big", "temperature": 0.2}}
    )
    found = ward.examine(exit_code=4)
    assert found.differences == (
        '1 of 2 lines of the declared prompt are in no request; the first: "Never promise dates."',
        "no request offers the declared tool look",
        "requests offer the tool find, not declared and so not mutated",
        "the declared model is big, requests name m",
        "the declared temperature is 0.2, requests have 0.3",
    )
    assert arrivals(found)["prompt"] == ("no", "no")
    assert "no request has the text" in found.parts[0].wire.said
    assert "requests go to the model m, and agent.config.model.name says big" in found.parts[2].wire.said
    ward.write(OTHER, config={"prompt": PROMPT, "tools": [LOOK], "model": {"name": "m", "temperature": 0.2}})
    said = ward.examine(exit_code=4).parts[2].wire.said
    assert "requests have temperature 0.3, and agent.config.model.temperature says 0.2" in said


def test_a_change_of_a_document_is_tried_where_there_are_documents(ward: Ward) -> None:
    (ward.folder / "policy.md").write_text("Refunds take five days.\n")
    ward.write(DOCUMENT, config={"prompt": PROMPT, "model": {"name": "m"}, "context": ["policy.md"]})
    found = ward.examine()
    assert arrivals(found) == {
        "prompt": ("yes", "yes"),
        "document": ("yes", "yes"),
        "model setting": ("no", "yes"),
    }


@pytest.mark.parametrize(
    ("adapter", "provider", "variables", "said"),
    [
        (BedrockAdapter, "", {"OPENAI_API_KEY": "k"}, ["none of AWS_ACCESS_KEY_ID"]),
        (VertexAgentEngineAdapter, "", {}, []),
        (McpAdapter, "", {}, []),
        (CallableAdapter, "", {"OPENAI_API_KEY": "k"}, ["has OPENAI_API_KEY"]),
    ],
)
def test_keys_are_asked_for_of_the_service_that_an_agent_asks(
    adapter: Any, provider: str, variables: dict[str, str], said: list[str]
) -> None:
    found = list(key_checks(adapter.__new__(adapter), provider, variables))
    assert len(found) == len(said) and all(map(str.__contains__, (check.said for check in found), said))


def test_hand_offs_are_mutated_though_no_declared_tools() -> None:
    offered = tuple(ToolSpec(name=name) for name in ("transfer_to_billing", "find"))
    shape = RequestShape(model="m", text="", tools=offered)
    config = AgentConfig(orchestration={"handoffs": {"triage": {"transfer_to_billing": "billing"}}})
    assert differences(config, [shape]) == ("requests offer the tool find, not declared and so not mutated",)


def test_files_of_a_workspace_in_the_system_prompt_are_no_undeclared_prompt() -> None:
    rules = "Always run the tests before you raise the version.\nKeep every answer under 60 words."
    config = AgentConfig(context=[{"name": "AGENTS.md", "text": rules}], workspace=("AGENTS.md",))
    assert differences(config, [RequestShape(model="m", text=rules, system=len(rules))]) == ()
    more = f"{rules}\n" + "You are the coding agent of a small shop, and you know its files. " * 2
    (said,) = differences(config, [RequestShape(model="m", text=more, system=len(more))])
    assert f"has {len(more)} characters, the files of the workspace in it have {len(rules)}" in said


def test_an_agent_that_raises_is_run_once_and_nothing_is_said_of_mutants(ward: Ward) -> None:
    ward.write(RAISING)
    found = ward.examine(exit_code=4)
    assert (found.ran, found.trials, found.parts) == (False, 1, ())
    assert "ValueError" in found.said and "no database" in found.said
    assert "cannot be run as it is" in render_diagnosis(found)


def test_a_service_that_refuses_every_request_ends_it_after_one_run(ward: Ward, service: Any) -> None:
    service.answer = lambda request: 401
    ward.write(GOOD)
    found = ward.examine(exit_code=4)
    assert found.trials == 1 and not found.ran


def test_a_setting_that_the_service_refuses_has_still_arrived(ward: Ward, service: Any) -> None:
    def answer(request: ModelRequest) -> Any:
        return "Hello." if request.temperature is None else 400

    service.answer = answer
    ward.write(GOOD)
    found = ward.examine()
    setting = found.parts[2]
    assert (setting.rebuild.arrival, setting.wire.arrival) == (Arrival.ALL, Arrival.ALL)
    assert "the run ended with" in setting.wire.said


def test_without_yes_and_a_terminal_nothing_is_run(ward: Ward, service: Any) -> None:
    ward.write(GOOD)
    ward.call(exit_code=2)
    assert "at most 6 times on scenario hello" in ward.err and "pass --yes" in ward.err
    assert service.requests == []


def test_an_unknown_scenario_is_a_usage_error(ward: Ward) -> None:
    ward.write(GOOD)
    ward.call("--yes", "--scenario", "helo", exit_code=2)
    assert "Did you mean 'hello'?" in ward.err


def test_an_agent_that_cannot_be_imported_is_a_usage_error_before_anything_is_run(ward: Ward) -> None:
    ward.write_project({"adapter": "python", "run": "nowhere_at_all:run", "config": {"prompt": "Be kind."}})
    ward.call("--yes", exit_code=2)
    assert "nowhere_at_all" in ward.err


@pytest.mark.parametrize(
    ("scenario", "safe", "said"),
    [
        ({}, None, "neither doubled nor declared safe: look (in 1 of 1 scenarios)"),
        ({}, ["look"], "every tool is doubled in every scenario or declared safe"),
        ({}, "all", "every tool is doubled in every scenario or declared safe"),
        ({}, ["look", "lok"], "agent.safe_tools names lok: the agent has no such tool"),
    ],
)
def test_tools_that_would_really_be_called_are_warned_of(
    ward: Ward, scenario: dict[str, Any], safe: Any, said: str
) -> None:
    ward.write(GOOD, scenario, **({"safe_tools": safe} if safe else {}))
    found = ward.examine()
    check = next(check for check in found.checks if said in check.said)
    assert check.ok == said.startswith("every")


def test_a_missing_key_of_the_declared_provider_is_named(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    ward.write(RAISING, config={"prompt": PROMPT, "model": {"name": "m", "provider": "anthropic"}})
    found = ward.examine(exit_code=4)
    assert any("none of ANTHROPIC_API_KEY" in check.said and not check.ok for check in found.checks)
    ward.write(RAISING, config={"prompt": PROMPT, "model": {"name": "m", "provider": "anthropic"}},
               env={"ANTHROPIC_API_KEY": "sk-abcdefghijklmnopqrstuv"})  # fmt: skip
    found = ward.examine(exit_code=4)
    assert any("the environment has ANTHROPIC_API_KEY" in check.said for check in found.checks)
    assert "sk-abc" not in ward.out + ward.err


GRAPH = '''
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def look() -> str:
    """Look up an order."""
    return "nothing"


PROMPT = {prompt!r}
TOOLS = [look]


def build(config):
    model = ChatOpenAI(model="m", base_url={url!r}, api_key="test", temperature=0)
    return create_agent(model, TOOLS, system_prompt=PROMPT)
'''


def test_a_langgraph_agent_that_ignores_its_config_is_reached_on_the_wire(ward: Ward) -> None:
    prompt = PROMPT.replace("{name}", "Bo")
    (ward.folder / "graph_in_a_closure.py").write_text(GRAPH.format(prompt=prompt, url=ward.url))
    config = {"prompt": prompt, "model": {"name": "m"}}
    ward.write_project({"adapter": "langgraph", "factory": "graph_in_a_closure:build", "config": config})
    found = ward.examine()
    assert set(arrivals(found).values()) == {("no", "yes")}
    assert "`bind_tools` for LangChain" in found.parts[1].rebuild.said


PROGRAM = """
import json, os, sys, urllib.request

messages = [{{"role": "system", "content": {prompt!r}}}, {{"role": "user", "content": sys.stdin.read()}}]
told = {{"model": "m", "messages": messages}}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
request = urllib.request.Request(url, json.dumps(told).encode(), {{"content-type": "application/json"}})
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""


@pytest.mark.process
def test_a_program_is_reached_on_the_wire_and_told_how_else(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    (ward.folder / "program.py").write_text(PROGRAM.format(prompt=PROMPT))
    command = [sys.executable, "program.py"]
    config = {"prompt": PROMPT, "model": {"name": "m"}}
    env = {"OPENAI_BASE_URL": ward.url}
    ward.write_project({"adapter": "command", "command": command, "config": config, "env": env})
    found = ward.examine()
    assert arrivals(found) == {"prompt": ("no", "yes"), "model setting": ("no", "yes")}
    assert "`{config_file}` in agent.command" in found.parts[0].rebuild.said
    assert (found.route, found.trials) == ("wire", 3)
