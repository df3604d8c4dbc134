"""What moves only by user, host, folder, language or time zone is found as well: a request goes to another machine."""

import datetime as dt
import getpass
import json
import os
import platform
import socket
import sys
import time
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from agentmut._base import can_move_programs, can_shift_programs
from agentmut.cli.entry import app
from agentmut.doctor.other_surroundings import elsewhere

AGENT = """
import getpass, os, time
from pathlib import Path
from socket import gethostname

import httpx

RULES = ["Never promise a delivery date.", "Always ask for the order number first.", "Refund at most 50 euros."]


def run(input):
    assert Path("known.txt").read_text() and (Path.home() / ".").exists()
    said = [
        RULES[0], f"You work for {{getpass.getuser()}} on {{gethostname()}}, whose files are in {{Path.cwd()}}.",
        RULES[1], f"Notes are in {{os.environ['HOME']}}/notes. The language is {{os.environ.get('LANG')}}.",
        f"Times are those of {{time.tzname[0]}}, by the clock of the shop.", RULES[2],
    ]
    messages = [{{"role": "system", "content": "\\n".join(said)}}, {{"role": "user", "content": input}}]
    body = {{"model": "m", "messages": messages}}
    return httpx.post({url!r} + "/chat/completions", json=body).json()["choices"][0]["message"]["content"]
"""


def names() -> list[str]:
    here = (str(Path.cwd()), str(Path.home()), getpass.getuser(), os.environ.get("LANG", ""), *time.tzname)
    return [*here, socket.gethostname(), gethostname(), platform.node()]


def test_every_name_is_another_one_and_the_files_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "known.txt").write_text("here")
    before = names()
    with elsewhere():
        there = names()
        assert all(one != other for one, other in zip(before, there, strict=True))
        for place in (Path("known.txt"), Path.cwd() / "known.txt", Path.home() / "known.txt"):
            assert place.read_text() == "here"
    assert names() == before


def test_a_variable_that_the_project_declares_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/agent")
    monkeypatch.setenv("USER", "agent")
    with elsewhere({"HOME", "USER"}):
        assert (os.environ["HOME"], os.environ["USER"]) == ("/srv/agent", "agent")
        assert os.environ["LOGNAME"] != "agent"


def test_a_request_of_one_machine_is_a_template_for_all(
    tmp_path: Path, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.answer = lambda request: "Hello."
    (tmp_path / "elsewhere_agent.py").write_text(AGENT.format(url=service.url))
    (tmp_path / "known.txt").write_text("here")
    scenario = {"name": "refund", "input": "My refund, please.", "evaluators": [{"contains": "Hello"}]}
    (tmp_path / "scenarios.yaml").write_text(yaml.safe_dump([scenario]))
    agent = {"adapter": "python", "run": "elsewhere_agent:run", "safe_tools": "all"}
    project = {"version": 1, "agent": agent, "suite": {"scenarios": "scenarios.yaml"}}
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(project))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["doctor", "--save-request", "agent.json", "--yes"])
    assert done.exit_code == 0, done.output
    prompt = json.loads((tmp_path / "agent.json").read_text())["body"]["messages"][0]["content"]
    for name in (getpass.getuser(), gethostname(), str(tmp_path), os.environ["HOME"], time.tzname[0]):
        assert name not in prompt, prompt
    for rule in (
        "Never promise a delivery date.",
        "Always ask for the order number",
        "Refund at most 50 euros.",
    ):
        assert rule in prompt


PROGRAM = """
import datetime, json, os, socket, sys, urllib.request

rules = ["Never promise a delivery date.", "Always ask for the order number first.", "Refund at most 50 euros."]
said = [
    rules[0], f"You work on {socket.gethostname()}, and the files are in {os.getcwd()}.",
    rules[1], f"Today is {datetime.date.today()}.", rules[2], open("known.txt").read(),
]
messages = [{"role": "system", "content": "\\n".join(said)}, {"role": "user", "content": sys.argv[1]}]
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({"model": "m", "messages": messages}).encode(),
    {"content-type": "application/json"},
)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""


@pytest.mark.process
def test_a_program_is_on_another_machine_too(
    tmp_path: Path, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.answer = lambda request: "Hello."
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "known.txt").write_text("Be kind to all customers.")
    (tmp_path / "empty").mkdir()
    scenario = {"name": "refund", "input": "My refund, please.", "evaluators": [{"contains": "Hello"}]}
    (tmp_path / "scenarios.yaml").write_text(yaml.safe_dump([scenario]))
    agent = {
        "adapter": "command",
        "command": [sys.executable, "program.py", "{input}"],
        "env": {"OPENAI_BASE_URL": service.url},
    }
    project = {"version": 1, "agent": agent, "suite": {"scenarios": "scenarios.yaml"}}
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(project))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["doctor", "--save-request", "agent.json", "--yes"])
    assert done.exit_code == 0, done.output
    prompt = json.loads((tmp_path / "agent.json").read_text())["body"]["messages"][0]["content"]
    names_stay = "host name and working folder, since" in flat(done.output)
    assert names_stay != can_move_programs(tmp_path / "empty")
    assert (gethostname() in prompt) == (str(tmp_path) in prompt) == names_stay
    clock_stays = "clock, since the package libfaketime is not installed" in flat(done.output)
    assert clock_stays != can_shift_programs()
    # without libfaketime only the time zone moves, which changes the date at some hours of the day
    assert clock_stays or str(dt.date.today()) not in prompt
    assert "Refund at most 50 euros." in prompt and "Be kind to all customers." in prompt


def flat(text: str) -> str:
    return " ".join(text.split())
