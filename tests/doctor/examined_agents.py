"""Agents that `agentmut doctor` examines, as texts of modules, and the folder that they stand in."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.cli import main
from agentmut.store.documents.diagnosis import Diagnosis

PROMPT = "Be kind to {name}.\nNever promise dates.\n"


NOTHING = {"type": "object", "properties": {}}


LOOK = {"name": "look", "description": "Look up an order.", "parameters": NOTHING}


PYTHON = """
import json, urllib.request

import httpx

URL = {url!r}
PROMPT = {prompt!r}
LOOK = {look!r}


def body(prompt, tools=(), **settings):
    settings = {{name: value for name, value in settings.items() if value is not None}}
    messages = [{{"role": "system", "content": prompt.replace("{{name}}", "Bo")}}, {{"role": "user", "content": "Hi"}}]
    tools = [{{"type": "function", "function": tool}} for tool in tools]
    return {{"model": "m", "messages": messages, **settings, **({{"tools": tools}} if tools else {{}})}}


def ask(body):
    return httpx.post(URL + "/chat/completions", json=body).json()["choices"][0]["message"]["content"]


def offered(config):
    return [tool.to_openai()["function"] for tool in config.tools]


def run(config, input):
{code}
"""


GOOD = """
    ask(body(config.prompt, offered(config), temperature=config.model.temperature))
    return ask(body(config.prompt, offered(config), temperature=config.model.temperature))
"""


COPIED = "    return ask(body(PROMPT, offered(config), temperature=config.model.temperature))"


CLOSURE = "    return ask(body(config.prompt, [LOOK], temperature=0.3))"


HALF = """
    ask(body(PROMPT, temperature=config.model.temperature))
    return ask(body(config.prompt, offered(config), temperature=config.model.temperature))
"""


UNSEEN = """
    request = urllib.request.Request(URL + "/chat/completions", json.dumps(body(PROMPT, [LOOK])).encode())
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
"""


DOCUMENT = "    return ask(body(config.prompt + config.context[0].text, temperature=0.3))"


OTHER = "    return ask(body('Be kind to Bo. Ask twice.', [{**LOOK, 'name': 'find'}], temperature=0.3))"


RAISING = "    raise ValueError('no database')"


KEEPING = """

KEPT = []


def alone(input):
    asked = body(PROMPT, [LOOK], temperature=0.3)
    KEPT.append(asked["messages"].pop())
    return ask({**asked, "messages": asked["messages"] + KEPT})
"""


class Ward:
    """Writes a project, and has the command line examine it."""

    def __init__(self, folder: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.url = url
        self.capsys = capsys

    def write(self, code: str, scenario: dict[str, Any] | None = None, **agent: Any) -> None:
        module = f"patient_{abs(hash(str(self.folder)))}"
        text = PYTHON.format(url=self.url, prompt=PROMPT, look=LOOK, code=code)
        (self.folder / f"{module}.py").write_text(text)
        config = {"prompt": PROMPT, "tools": [LOOK], "model": {"name": "m"}}
        section = {"adapter": "python", "run": f"{module}:run", "config": config, **agent}
        self.write_project(section, scenario)

    def write_project(self, agent: dict[str, Any], scenario: dict[str, Any] | None = None) -> None:
        case = {"name": "hello", "input": "Hi", "evaluators": [{"contains": "Hello"}], **(scenario or {})}
        (self.folder / "scenarios.yaml").write_text(yaml.safe_dump([case]))
        project = {"version": 1, "agent": agent, "suite": {"scenarios": "scenarios.yaml"}}
        (self.folder / "agentmut.yaml").write_text(yaml.safe_dump(project | {"execution": {"retries": 0}}))

    def examine(self, *options: str, exit_code: int = 0) -> Diagnosis:
        self.call("--yes", "--json", *options, exit_code=exit_code)
        return Diagnosis.model_validate_json(self.out)

    def call(self, *options: str, exit_code: int = 0) -> None:
        with pytest.raises(SystemExit) as left:
            main(["doctor", "--project", str(self.folder), *options])
        self.out, self.err = self.capsys.readouterr()
        assert left.value.code == exit_code, self.err + self.out
