"""promptfoo's exec, Python and HTTP providers are the agent itself; the config's prompt need not be written twice.

The forms of providers are those of promptfoo's documentation.
"""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import UsageError
from agentmut.nouns.config import AgentConfig
from agentmut.recording import Trial, running
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.suites.promptfoo.bench import Suite
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings
from agentmut.suites.promptfoo.provider_agents import agent_of
from agentmut.suites.promptfoo.providers import Provider
from agentmut.suites.promptfoo.suite import PromptfooSuite

CONFIG = AgentConfig(prompt="Help.")
SPEC = AgentSpec(adapter="promptfoo")


def adapter(folder: Path, provider: Any, config: AgentConfig = CONFIG) -> Any:
    suite = PromptfooSuite(PromptfooSettings(path="promptfooconfig.yaml"), ("promptfoo",), str(folder))
    suite._bench.__dict__["suite"] = Suite({}, 1, "0.121.20", [provider], "")
    return suite.adapter(SPEC.model_copy(update={"root": str(folder)}), config)


def answer(agent: Adapter, asked: str) -> Any:
    async def once() -> Any:
        with running(Trial(id="t")) as trial:
            return (await agent.run((asked,), trial)).output

    return asyncio.run(once())


def test_a_program_gets_the_prompt_the_options_and_the_context_as_arguments(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "import json, sys\nasked, options, context = sys.argv[1:]\n"
        "print(asked.upper(), json.loads(options)['config']['tone'], json.loads(context)['vars'])\n"
    )
    made = adapter(tmp_path, {"id": f"exec:{sys.executable} agent.py", "config": {"tone": "kind {now}"}})
    assert answer(made.agent, "hi") == "HI kind {now} {}"


@pytest.mark.parametrize("named", ["file://agent.py", "python:agent.py", "file://agent.py:call_api"])
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_python_provider_answers_by_its_function(tmp_path: Path, named: str, kind: str) -> None:
    (tmp_path / "beside.py").write_text("def said(text):\n    return text[::-1]\n")
    (tmp_path / "agent.py").write_text(
        f"from beside import said\n{kind} call_api(prompt, options, context):\n"
        "    return {'output': said(prompt) + options['config']['end']}\n"
    )
    made = adapter(tmp_path, {"id": named, "config": {"end": "!"}})
    assert answer(made.agent, "olleh") == "hello!"


def test_an_error_of_a_python_provider_is_one_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "def call_api(prompt, options, context):\n    return {'error': 'no quota'}\n"
    )
    with pytest.raises(RuntimeError, match="no quota"):
        answer(adapter(tmp_path, "file://agent.py").agent, "hi")


@contextmanager
def service() -> Iterator[str]:
    class Echo(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            told = json.dumps(
                {"choices": [{"text": f"{body['ask']['text']} {self.headers['x-key']}"}]}
            ).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ask"
    finally:
        server.shutdown()
        server.server_close()


def test_an_http_provider_is_asked_as_its_config_says(tmp_path: Path) -> None:
    with service() as url:
        config = {
            "url": url, "method": "POST", "headers": {"x-key": "k-1"}, "body": {"ask": {"text": "{{prompt}}"}},
            "transformResponse": "json.choices[0].text",
        }  # fmt: skip
        made = adapter(tmp_path, {"id": "https", "config": config})
        assert answer(made.agent, 'say "hi"') == 'say "hi" k-1'


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"transformResponse": "(json) => json.a"}, r"the transformation '\(json\) => json\.a'"),
        ({"body": {"a": "{{question}}"}}, "the template '{{question}}'"),
        ({"sessionParser": "x"}, "its setting 'sessionParser'"),
    ],
)
def test_what_an_http_provider_says_in_code_is_refused_with_a_way_out(config: Any, said: str) -> None:
    provider = Provider("https", {"config": {"url": "http://127.0.0.1/ask", **config}})
    with pytest.raises(UsageError, match=said) as refused:
        agent_of(provider, SPEC, Path())
    assert "agent: {adapter: http" in str(refused.value)


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
