"""`agentmut init` in a folder that has an agent: the project names the agent, and there is no stub."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from agentmut.cli.entry import app
from agentmut.project.loading import load_project
from agentmut.usecases.nearby_agents import nearby_agents

SDK = """
import anthropic

def look_up(order: str) -> str:
    return order

def _reply(messages):
    return anthropic.Anthropic().messages.create(model="m", messages=messages)

def answer(question: str) -> str:
    return _reply([question])

def main():
    print(answer("Hi"))
"""
OTHER = SDK.replace("def answer(question", "def summarise(text")
TEAM = """
from agents import Agent
refunds = Agent(name="refunds")
parcels = Agent(name="parcels")
triage = Agent(name="triage", handoffs=[refunds, parcels])
"""
MADE = """
import re
from langchain.agents import create_agent
DATE = re.compile("[0-9]+")
def build():
    graph = create_agent("m", [])
    return graph
agent = build()
"""
SPLIT = "from desk.client import ask\n\ndef handle(message: str) -> str:\n    return ask([message])\n"
CLIENT = "import openai\n\ndef ask(messages):\n    return openai.OpenAI().responses.create(input=messages)\n"

BOT = """
from openai import OpenAI

class Memory:
    def add(self, text):
        self.text = text

class Bot:
    def __init__(self, model="m"):
        self.client = OpenAI()
        self.said = []

    def answer(self, question: str) -> str:
        self.said.append(question)
        return self._reply(self.said)

    def _reply(self, messages):
        return str(self.client.chat.completions.create(model="m", messages=messages))
"""


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def init(root: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["init", str(root), *options])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def written(root: Path) -> dict[str, Any]:
    agent: dict[str, Any] = yaml.safe_load((root / "agentmut.yaml").read_text())["agent"]
    return agent


@pytest.mark.parametrize(
    ("files", "agent"),
    [
        ({"desk.py": SDK}, {"adapter": "anthropic", "run": "desk:answer"}),
        (
            {"desk.py": SDK.replace("question: str", "turns: list[str]")},
            {"adapter": "anthropic", "run": "desk:answer"},
        ),
        ({"desk/main.py": SPLIT, "desk/client.py": CLIENT}, {"adapter": "openai", "run": "desk.main:handle"}),
        (
            {
                "bin/ask.sh": "curl -s $OPENAI_BASE_URL/chat/completions -d @- | jq -r .choices",
                "build.sh": "make",
            },
            {"adapter": "command", "command": ["sh", "bin/ask.sh", "{input}"]},
        ),
        ({"team.py": TEAM}, {"adapter": "openai_agents", "factory": "team:triage"}),
        ({"graph.py": MADE}, {"adapter": "langgraph", "graph": "graph:build"}),
        (
            {
                "package.json": '{"dependencies": {"openai": "6"}, "scripts": {"start": "node src/desk.js -q"}}'
            },
            {"adapter": "command", "command": ["node", "src/desk.js", "-q", "{input}"]},
        ),
        (
            {"langgraph.json": '{"graphs": {"desk": "./desk.py:graph"}}', "desk.py": SDK},
            {"adapter": "langgraph", "graph": "./desk.py:graph"},
        ),
    ],
)
def test_the_project_names_the_agent_that_is_there(
    files: dict[str, str], agent: dict[str, Any], tmp_path: Path
) -> None:
    said = init(put(tmp_path, files))
    assert agent.items() <= written(tmp_path).items()
    assert not (tmp_path / "agent_under_test.py").exists()
    assert "agentmut.yaml names" in said or "agentmut.yaml runs" in said


def test_the_next_command_saves_a_request_where_agentmut_cannot_read_the_agent(tmp_path: Path) -> None:
    said = init(put(tmp_path / "sdk", {"desk.py": SDK}))
    assert f"Next: agentmut doctor --save-request {tmp_path}/sdk/agent.json" in said
    assert written(tmp_path / "sdk")["config"] == {"request": "agent.json"}
    assert (
        load_project(tmp_path / "sdk", awaited_request=tmp_path / "sdk/agent.json").agent.run == "desk:answer"
    )
    assert "save-request" not in init(put(tmp_path / "team", {"team.py": TEAM}))
    assert load_project(tmp_path / "team").agent.factory == "team:triage"


def test_the_command_without_a_key_names_the_model_of_the_source(tmp_path: Path) -> None:
    said = init(put(tmp_path / "sdk", {"desk.py": SDK.replace('"m"', '"claude-x"')}))
    assert "`agentmut simulate --alias claude-x=sim-large --`" in said and "MODEL" not in said
    known = init(put(tmp_path / "known", {"desk.py": SDK.replace('"m"', '"sim-small"')}))
    assert "`agentmut simulate --`" in known and "--alias" not in known
    for source in (SDK.replace('"m"', "chosen()"), SDK + 'MODEL = "n"\n', SDK.replace('"m"', '"a:b"')):
        (tmp_path / "other").mkdir(exist_ok=True)
        assert "--alias MODEL=sim-large" in init(put(tmp_path / "other", {"desk.py": source}), "--force")


def test_of_several_functions_the_file_names_one_and_lists_the_others(tmp_path: Path) -> None:
    said = init(put(tmp_path, {"notes.py": OTHER, "desk.py": SDK}))
    assert written(tmp_path)["run"] == "desk:answer"  # a usual name comes first
    assert "# run: notes:summarise # notes.py:10" in " ".join(
        (tmp_path / "agentmut.yaml").read_text().split()
    )
    assert "notes:summarise does so too: choose in agentmut.yaml which one is measured." in said


@pytest.mark.parametrize(
    "text",
    [
        "def answer(question):\n    return question\n",  # asks no model
        SDK.replace("question: str", "messages: list"),
        SDK.replace("(question: str)", "(question: str, user: str)"),
        "def broken(:\n",
        "import re\nfrom langchain.agents import create_agent\nDATE = re.compile('[0-9]')\n",
    ],
)
def test_what_is_no_agent_gets_a_stub_and_the_line_to_write(text: str, tmp_path: Path) -> None:
    said = init(put(tmp_path, {"desk.py": text}))
    assert (tmp_path / "agent_under_test.py").exists()
    assert "recognised no agent in the code here. To measure yours, name it in agentmut.yaml." in said


def test_an_empty_folder_and_a_named_framework_get_the_stub_without_a_word_about_agents(
    tmp_path: Path,
) -> None:
    assert "recognised" not in init(tmp_path / "new")
    assert "agentmut.yaml names" not in init(put(tmp_path / "sdk", {"desk.py": SDK}), "--framework", "openai")
    assert (tmp_path / "sdk" / "agent_under_test.py").exists()


def test_tests_installed_packages_and_hidden_folders_hold_no_agents(tmp_path: Path) -> None:
    places = ("test_desk.py", "tests/helper.py", "venv/desk.py", ".hidden/desk.py", "node_modules/desk.py")
    assert nearby_agents(put(tmp_path, dict.fromkeys(places, SDK))) == ()


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"tests/test_desk.py": "from desk import answer"}, "`suite: {pytest: tests}`"),
        ({"evals/test_desk.py": "import deepeval, desk"}, "`suite: {deepeval: evals}`"),
        ({"promptfooconfig.yaml": "prompts: []"}, "`suite: {promptfoo: promptfooconfig.yaml}`"),
    ],
)
def test_a_suite_that_is_there_is_named_with_the_line_that_measures_it(
    files: dict[str, str], line: str, tmp_path: Path
) -> None:
    assert f"{line} measures it in place of the scenarios." in init(put(tmp_path, {"desk.py": SDK, **files}))


def test_no_code_runs_and_the_json_lists_the_files(tmp_path: Path) -> None:
    put(tmp_path, {"desk.py": f"{SDK}\nopen('ran', 'w')\nraise SystemExit\n"})
    done = CliRunner().invoke(app, ["init", str(tmp_path), "--json"])
    names = [Path(path).name for path in json.loads(done.output)["written"]]
    assert names == ["agentmut.yaml", "first.yaml", ".gitignore"]
    assert not Path("ran").exists()


def test_imported_runs_are_the_trials_of_a_project_without_an_agent(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    runs = [{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": said}]
    put(tmp_path, {"runs.json": json.dumps(runs)})
    assert "`agentmut init` writes a project." in call(
        "import", str(tmp_path / "runs.json"), "--project", str(tmp_path)
    )
    page = init(tmp_path)
    assert "The store holds 1 imported run, and agentmut.yaml takes them as its trials." in page
    assert f"Next: agentmut test --project {tmp_path}" in page
    assert "Without a key" not in page and not (tmp_path / "agent_under_test.py").exists()
    where = ("--project", str(tmp_path))
    assert "1/1" in call("test", *where)
    assert "1 stored run of 1 scenario" in call("coverage", *where)


def call(*words: str) -> str:
    return " ".join(CliRunner().invoke(app, list(words)).output.split())


def test_a_client_inside_a_class_is_found_and_each_trial_gets_a_new_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = init(put(tmp_path, {"desk/bot.py": BOT}))
    assert "desk.bot:Bot.answer (desk/bot.py:13) asks a model; agent_under_test.py calls it" in said
    assert written(tmp_path) == {
        "adapter": "openai", "run": "agent_under_test:answer", "config": {"request": "agent.json"}
    }  # fmt: skip
    function = (tmp_path / "agent_under_test.py").read_text()
    assert "agent_under_test.py:6" in (tmp_path / "agentmut.yaml").read_text()
    assert function.splitlines()[5] == "def answer(input):"
    replaced = BOT.replace("from openai import OpenAI", "OpenAI = object").replace(
        'str(self.client.chat.completions.create(model="m", messages=messages))', '"|".join(messages)'
    )
    names: dict[str, Any] = {}
    exec(replaced, names)
    exec(function.replace("from desk.bot import Bot", ""), names)
    assert [names["answer"]("a"), names["answer"](["b", "c"])] == ["a", "b|c"]


def test_a_class_that_waits_gets_a_function_that_waits(tmp_path: Path) -> None:
    init(put(tmp_path, {"bot.py": BOT.replace("def answer", "async def answer")}))
    function = (tmp_path / "agent_under_test.py").read_text()
    assert "async def answer(input):" in function and "await bot.answer(turn)" in function


def test_a_function_that_uses_the_class_comes_before_its_method(tmp_path: Path) -> None:
    direct = BOT + "\ndef ask(question):\n    return Bot().answer(question)\n"
    kept = BOT + "\nbot = Bot()\ndef ask(question):\n    return bot.answer(question)\n"
    other = BOT + "\ndef ask(question):\n    return question.answer(question)\n"
    found = [
        [one.place for one in nearby_agents(put(tmp_path / name, {"bot.py": text}))]
        for name, text in {"direct": direct, "kept": kept, "other": other}.items()
    ]
    assert found == [["bot:ask"], ["bot:ask"], ["bot:Bot.answer"]]


@pytest.mark.parametrize("needs", ["def __init__(self, client):", "def __init__(self, *, key):"])
def test_a_class_that_needs_arguments_is_no_agent_that_init_can_make(needs: str, tmp_path: Path) -> None:
    text = BOT.replace('def __init__(self, model="m"):', needs)
    assert nearby_agents(put(tmp_path, {"bot.py": text})) == ()
    assert "but Bot needs arguments" in init(tmp_path)


def test_a_script_that_may_be_executed_is_started_by_its_name(tmp_path: Path) -> None:
    script = put(tmp_path, {"ask.sh": "#!/bin/sh\ncurl https://api.anthropic.com/v1/messages\n"}) / "ask.sh"
    script.chmod(0o755)
    assert "A script asks a model: `./ask.sh`" in init(tmp_path)
    assert written(tmp_path)["command"] == ["./ask.sh", "{input}"]


def test_a_folder_with_a_config_of_promptfoo_alone_gets_a_project_that_measures_it(tmp_path: Path) -> None:
    config = "prompts: [Be kind. {{question}}]\nproviders: [openai:chat:gpt-5.2]\ntests: []\n"
    said = init(put(tmp_path, {"promptfooconfig.yaml": config}))
    assert "promptfooconfig.yaml is a suite of promptfoo, and agentmut.yaml measures it" in said
    project = yaml.safe_load((tmp_path / "agentmut.yaml").read_text())
    assert project["agent"] == {"config": {}}
    assert project["suite"] == {"promptfoo": "promptfooconfig.yaml", "threshold": 0.9}
    assert not (tmp_path / "scenarios").exists() and not (tmp_path / "agent_under_test.py").exists()


def test_a_class_that_needs_arguments_is_named_with_what_to_write(tmp_path: Path) -> None:
    said = init(put(tmp_path, {"bot.py": BOT.replace('model="m"', "model")}))
    assert "bot.py:13: Bot.answer asks a model, but Bot needs arguments that only you know." in said
    assert "Write a function that makes one and calls `answer`" in said
    assert "recognised no agent" not in said
