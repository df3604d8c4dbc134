"""promptfoo's exec, Python and HTTP providers are the agent itself; the config's prompt need not be written twice.

The forms of providers are those of promptfoo's documentation.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import UsageError
from agentmut.nouns.config import AgentConfig
from agentmut.recording import Trial, running
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.suites.promptfoo.adapter import PromptfooAdapter, _of_provider, _program_input
from agentmut.suites.promptfoo.bench import Suite
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings
from agentmut.suites.promptfoo.providers import led_through
from agentmut.suites.promptfoo.suite import PromptfooSuite

CONFIG = AgentConfig(prompt="Help.")
SPEC = AgentSpec(adapter="promptfoo")


def adapter(folder: Path, provider: Any, config: AgentConfig = CONFIG, **spec: Any) -> Any:
    suite = PromptfooSuite(PromptfooSettings(path="promptfooconfig.yaml"), ("promptfoo",), str(folder))
    suite._bench.__dict__["suite"] = Suite({}, 1, "0.121.20", [provider], "")
    return suite.adapter(SPEC.model_copy(update={"root": str(folder), **spec}), config)


def answer(made: PromptfooAdapter, asked: str) -> tuple[dict[str, Any], Any]:
    """What promptfoo is told of a run, and what the trace has as its output."""

    async def once() -> Any:
        assert made.agent is not None
        told = _program_input(
            {"prompt": f"Ada: {asked}", "vars": {}, "context": {"vars": {"question": asked}}}
        )
        with running(Trial(id="t")) as trial:
            return await made.agent.run((told,), trial)

    response, trace = _of_provider(asyncio.run(once()))
    return response, trace.output


def test_a_program_gets_the_prompt_the_options_and_the_context_as_its_last_arguments(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "import json, sys\nflag, asked, options, context = sys.argv[1:]\n"
        "print(flag, asked.upper(), json.loads(options)['config']['tone'], json.loads(context)['vars'])\n"
    )
    made = adapter(tmp_path, {"id": f"exec:{sys.executable} agent.py {{}}", "config": {"tone": "kind {now}"}})
    response, output = answer(made, "hi")
    assert output == response["output"] == "{} ADA: HI kind {now} {'question': 'hi'}"


@pytest.mark.parametrize("named", ["file://agent.py", "python:agent.py", "file://agent.py:call_api"])
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_python_provider_answers_by_its_function_and_its_whole_response_is_promptfoos(
    tmp_path: Path, named: str, kind: str
) -> None:
    (tmp_path / "beside.py").write_text("def said(text):\n    return text[::-1]\n")
    (tmp_path / "agent.py").write_text(
        f"from beside import said\n{kind} call_api(prompt, options, context):\n"
        "    text = said(context['vars']['question']) + options['config']['end']\n"
        "    return {'output': text, 'cost': 0.5, 'metadata': {'asked': prompt}}\n"
    )
    made = adapter(tmp_path, {"id": named, "config": {"end": "!"}})
    response, output = answer(made, "olleh")
    assert output == "hello!"
    metadata = {"toolCalls": [], "asked": "Ada: olleh"}
    assert response == {"output": "hello!", "cost": 0.5, "metadata": metadata}


def test_an_error_of_a_python_provider_is_one_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "def call_api(prompt, options, context):\n    return {'error': 'no quota'}\n"
    )
    with pytest.raises(RuntimeError, match="no quota"):
        answer(adapter(tmp_path, "file://agent.py"), "hi")


def test_promptfoo_itself_asks_an_http_provider_which_is_told_the_trial(tmp_path: Path) -> None:
    asked = {"id": "https", "config": {"url": "http://127.0.0.1:9/ask", "headers": {"x-key": "k"}}}
    made = adapter(tmp_path, asked, proxy_port=8900)
    assert made.agent is None and made.get_config() == CONFIG
    led = led_through([asked], None, "t-1", {"OPENAI_BASE_URL": "http://here"})
    assert led["options"]["config"]["headers"] == {"x-key": "k", "x-agentmut-trial": "t-1"}
    assert led["options"]["env"] == {"OPENAI_BASE_URL": "http://here"}
    raw = led_through(
        [{"id": "https", "config": {"request": "POST /ask HTTP/1.1\nHost: desk\n\n{}"}}], None, "t", {}
    )
    lines = raw["options"]["config"]["request"].splitlines()
    assert lines[:3] == ["POST /ask HTTP/1.1", "x-agentmut-trial: t", "Host: desk"]


def test_a_port_is_of_use_to_an_http_provider_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="proxy_port is given without"):
        adapter(tmp_path, "openai:gpt-5.2", proxy_port=8900)
    with pytest.raises(UsageError, match="Write the request into the config"):
        adapter(tmp_path, {"id": "https", "config": {"request": "file://ask.txt"}})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"names agent\.py, which is not in"):
        adapter(tmp_path, "file://agent.py")


def test_the_prompt_model_and_tools_of_the_config_are_the_agents_where_the_project_names_none(
    tmp_path: Path,
) -> None:
    system = [
        {"role": "system", "content": "Never promise a date."},
        {"role": "user", "content": "{{question}}"},
    ]
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    provider = {"id": "openai:gpt-4.1-mini", "config": {"temperature": 0.2, "tools": [tool]}}
    written = {"prompts": [json.dumps(system)], "providers": [provider], "tests": []}
    (tmp_path / "promptfooconfig.yaml").write_text(yaml.safe_dump(written))
    found = adapter(tmp_path, provider, AgentConfig()).get_config()
    assert (found.prompt, found.model.name, found.model.temperature) == (
        "Never promise a date.",
        "gpt-4.1-mini",
        0.2,
    )
    assert found.tool_names == ("look_up",)
    own = adapter(tmp_path, provider, AgentConfig(prompt="Mine.")).get_config()
    assert own.prompt == "Mine."


def test_yaml_that_promptfoo_reads_and_agentmut_cannot_read_is_named_with_its_place(tmp_path: Path) -> None:
    """A new user wrote `vars: {question: Is it open?}`, and was told that the prompt is empty."""
    written = (
        "prompts: [Be kind.]\nproviders: [openai:gpt-4.1-mini]\ntests:\n- vars: {question: Is it open?}\n"
    )
    (tmp_path / "promptfooconfig.yaml").write_text(written)
    with pytest.raises(
        UsageError, match=r"promptfooconfig\.yaml:4:.*put the value there into quotes, or write"
    ):
        adapter(tmp_path, "openai:gpt-4.1-mini", AgentConfig())
    assert (
        adapter(tmp_path, "openai:gpt-4.1-mini", AgentConfig(prompt="Mine.")).get_config().prompt == "Mine."
    )
