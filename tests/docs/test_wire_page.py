"""What docs/wire.md and docs/your-agent.md show of agents on the wire is read as they say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.cli import VERBS
from agentmut.project.loading import load_project
from agentmut.wire.codecs import all_codecs

ROOT = Path(__file__).parents[2]
WIRE = (ROOT / "docs" / "wire.md").read_text()
AGENTS = [
    block
    for page in (WIRE, (ROOT / "docs" / "your-agent.md").read_text())
    for block in re.findall(r"```yaml\n(agent:.*?)```", page, re.DOTALL)
]
REQUEST = {"model": "m", "messages": [{"role": "system", "content": "Never guess."}]}


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_that_is_shown_is_a_valid_one(agent: str, tmp_path: Path) -> None:
    (tmp_path / "agent.json").write_text(json.dumps(REQUEST))
    for name in ("prompt.md", "prompts/desk.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Never guess.")
    (tmp_path / "tools.json").write_text("[]")
    (tmp_path / "scenarios").mkdir()
    scenario = [{"name": "one", "input": "hi", "evaluators": [{"contains": "a"}]}]
    (tmp_path / "scenarios" / "all.yaml").write_text(json.dumps(scenario))
    (tmp_path / "agentmut.yaml").write_text(f"version: 1\n{agent}")
    project = load_project(tmp_path)
    written: dict[str, Any] = yaml.safe_load(agent)["agent"]
    assert project.agent.adapter == written["adapter"]
    assert project.config.prompt == "Never guess."


def test_the_page_names_every_dialect_and_verbs_that_exist() -> None:
    names = {"chat_completions": "Chat Completions", "responses": "Responses",
             "anthropic_messages": "Anthropic Messages", "gemini": "Gemini",
             "converse": "Bedrock Converse", "invoke_model": "Bedrock InvokeModel",
             "ollama_chat": "Ollama"}  # fmt: skip
    assert {codec.name for codec in all_codecs()} == set(names)
    table = WIRE[WIRE.index("## Dialects") : WIRE.index("## What is changed")]
    assert all(name in table for name in names.values())
    assert set(re.findall(r"`agentmut (\w+)", WIRE)) <= set(VERBS)
