"""Projects whose agent is a ready tool loop: what is wrong is said before anything runs."""

import json
from pathlib import Path

import pytest

from agentmut._base.errors import ProjectError, UsageError
from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.session import open_session
from agentmut.project.loading import load_project

TOOL = {
    "name": "send_mail",
    "description": "Send a mail.",
    "parameters": {"type": "object", "properties": {}},
}
FILE = """
version: 1
agent:
  adapter: {adapter}
  {keys}
  config: {{prompt: Be kind., tools: tools.json, model: {{name: m-1}}}}
suite: {{scenarios: [scenarios.yaml]}}
"""
SCENARIO = "- {name: hello, input: Hi, evaluators: [{contains: hello}]%s}\n"


def project(folder: Path, adapter: str = "openai", keys: str = "", doubles: str = "") -> Path:
    (folder / "tools.json").write_text(json.dumps([TOOL]))
    (folder / "scenarios.yaml").write_text(SCENARIO % doubles)
    (folder / "agentmut.yaml").write_text(FILE.format(adapter=adapter, keys=keys))
    return folder / "agentmut.yaml"


@pytest.mark.parametrize("adapter", ["openai", "anthropic"])
def test_a_tool_without_a_function_must_be_doubled_by_every_scenario(tmp_path: Path, adapter: str) -> None:
    with pytest.raises(UsageError, match="the tool 'send_mail' has no function, and scenario hello does not"):
        make_executor(open_session(load_project(project(tmp_path, adapter))))
    session = open_session(
        load_project(project(tmp_path, adapter, doubles=", tools: {send_mail: {returns: sent}}"))
    )
    assert make_executor(session)
    assert session.adapter.get_config().orchestration == {"max_steps": 10}


def test_keys_that_an_adapter_does_not_take_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="the anthropic adapter does not use 'api'"):
        load_project(project(tmp_path, "anthropic", keys="api: responses"))
