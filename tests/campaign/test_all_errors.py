"""A campaign whose mutants by one route all end as `error` has failed: exit 4 and the cause."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.cli import main

AGENT = """
import httpx

import agentmut

PROMPT = "Be kind. Never promise dates. Ask for the order number first."


@agentmut.tool
def look(order):
    return "shipped"


def run(input):
    look("1")
    messages = [{{"role": "system", "content": PROMPT}}, {{"role": "user", "content": input}}]
    reply = httpx.post({url!r} + "/chat/completions", json={{"model": "m", "messages": messages}})
    reply.raise_for_status()
    return reply.json()["choices"][0]["message"]["content"]
"""
PROMPT = "Be kind. Never promise dates. Ask for the order number first."
LOOK = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}


def run(folder: Path, url: str, operators: list[str]) -> tuple[int, Any]:
    (folder / "refused_agent.py").write_text(AGENT.format(url=url))
    case = {"name": "hello", "input": "Hi", "evaluators": [{"contains": "Hello"}]}
    (folder / "scenarios.yaml").write_text(yaml.safe_dump([case]))
    config = {"prompt": PROMPT, "tools": [LOOK], "model": {"name": "m"}}
    agent = {"adapter": "python", "run": "refused_agent:run", "config": config, "safe_tools": "all"}
    project = {
        "version": 1,
        "agent": agent,
        "suite": {"scenarios": "scenarios.yaml"},
        "mutation": {"operators": operators},
        "statistics": {"rounds": "one", "baseline": 10, "delta": 0.5},
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
    with pytest.raises(SystemExit) as left:
        main(["run", "--project", str(folder), "--yes"])
    result = max(folder.glob(".agentmut/runs/*/result.json"))
    return int(str(left.value.code or 0)), json.loads(result.read_text())


@pytest.mark.whole
@pytest.mark.parametrize(
    "operators", [["prompt.drop_instruction"], ["prompt.drop_instruction", "tool.result_error"]]
)
def test_mutants_that_the_service_all_refuses_are_a_failed_campaign(
    operators: list[str], tmp_path: Path, service: Any
) -> None:
    service.answer = lambda request: "Hello." if request.system_text == PROMPT else 400
    code, result = run(tmp_path, service.url, operators)
    by_prompt = [m["status"] for m in result["mutants"] if m["operator"].startswith("prompt.")]
    assert set(by_prompt) == {"error"} and len(by_prompt) == 3
    assert code == 4 and result["status"] == "failed"
    said = result["problem"]
    assert "all 3 mutants that changed prompt, tools, model or documents ended as error" in said
    assert "400" in said


@pytest.mark.whole
def test_one_mutant_that_is_an_error_among_others_fails_no_campaign(tmp_path: Path, service: Any) -> None:
    def answer(request: Any) -> Any:
        if "Be kind." not in request.system_text:
            return 400 if request.system_text else "No."
        return "Hello."

    service.answer = answer
    code, result = run(tmp_path, service.url, ["prompt.drop_instruction"])
    statuses = sorted(mutant["status"] for mutant in result["mutants"])
    assert code == 0 and statuses.count("error") == 1 and len(statuses) == 3
