"""A campaign recorded on one machine and run on another has the same mutants, statuses and denominator.

The other machine has another user, home, working folder, host name, language, time zone and date, and scenarios come in
another order.
"""

import datetime as dt
import json
import os
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base import OTHER_CLOCK, OTHER_MACHINE, can_move_programs, can_shift_programs, moved
from agentmut.cli import main
from agentmut.doctor.other_surroundings import SHIFT_SECONDS, elsewhere

PROMPT = """
import datetime as dt, getpass, os, socket, time


def said():
    return "\\n".join([
        f"You are the assistant of {getpass.getuser()} on {socket.gethostname()}. Never promise a delivery date.",
        f"Today is {dt.datetime.now():%A, %d %B %Y}; times are in {time.tzname[0]}. Ask for the order number first.",
        "", "# Rules", "Refund at most 50 euros.",
        f"Files are in {os.getcwd()} and notes in {os.environ['HOME']}/notes.",
        "Answer in two sentences.",
    ])
"""
IN_PROCESS = """
import httpx

from machine_prompt import said


def run(input):
    messages = [{{"role": "system", "content": said()}}, {{"role": "user", "content": input}}]
    body = {{"model": "m", "messages": messages}}
    return httpx.post({url!r} + "/chat/completions", json=body).json()["choices"][0]["message"]["content"]
"""
PROGRAM = """
import json, os, sys, urllib.request

from machine_prompt import said

messages = [{"role": "system", "content": said()}, {"role": "user", "content": sys.argv[1]}]
body = json.dumps({"model": "m", "messages": messages}).encode()
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
request = urllib.request.Request(url, body, {"content-type": "application/json"})
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""
SCENARIOS = [
    {"name": name, "input": f"My {name}, please.", "evaluators": [{"contains": "Hello"}]}
    for name in ("refund", "order")
]
LATER = dt.timedelta(seconds=SHIFT_SECONDS)


class Project:
    """A project whose agent's prompt says what machine it is on."""

    def __init__(self, folder: Path, url: str, agent: dict[str, Any]) -> None:
        self.folder = folder
        self._agent = agent
        (folder / "machine_prompt.py").write_text(PROMPT)
        (folder / "machine_agent.py").write_text(IN_PROCESS.format(url=url))
        (folder / "program.py").write_text(PROGRAM)

    def write(self, config: dict[str, Any], *, reverse: bool = False) -> None:
        (self.folder / "scenarios.yaml").write_text(yaml.safe_dump(SCENARIOS[:: -1 if reverse else 1]))
        project = {
            "version": 1,
            "agent": {**self._agent, "config": config},
            "suite": {"scenarios": "scenarios.yaml"},
            "mutation": {"operators": ["prompt.drop_instruction"]},
            "statistics": {"rounds": "one", "baseline": 10, "delta": 0.5},
        }
        (self.folder / "agentmut.yaml").write_text(yaml.safe_dump(project))

    def result(self) -> dict[str, str]:
        """Return the statuses of the latest run's mutants by id."""
        runs = (json.loads(path.read_text()) for path in self.folder.glob(".agentmut/runs/*/result.json"))
        latest = max(runs, key=lambda found: str(found["run_id"]))
        return {mutant["id"]: mutant["status"] for mutant in latest["mutants"]}


def answer(request: Any) -> str:
    return "Hello." if "Refund at most 50" in request.system_text else "No."


def here(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main([*words, "--yes"])
    return int(str(left.value.code or 0))


def alike(one: dict[str, str], other: dict[str, str]) -> None:
    assert one == other
    assert {"killed", "survived"} <= set(one.values()) and "not_applied" not in one.values()


@pytest.mark.whole
def test_code_that_was_recorded_on_one_machine_and_run_on_another(
    tmp_path: Path, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    time_machine = pytest.importorskip("time_machine")
    service.answer = answer
    monkeypatch.chdir(tmp_path)
    project = Project(
        tmp_path, service.url, {"adapter": "python", "run": "machine_agent:run", "safe_tools": "all"}
    )
    project.write({})
    assert here("doctor", "--save-request", "agent.json") == 0

    def on(machine: AbstractContextManager[None], *, reverse: bool) -> dict[str, str]:
        project.write({"request": "agent.json"}, reverse=reverse)
        with machine:
            assert here("run", "--fresh") == 0
        return project.result()

    recorded = on(nullcontext(), reverse=False)
    with time_machine.travel(dt.datetime.now(dt.UTC) + LATER, tick=True):
        alike(recorded, on(elsewhere(), reverse=True))


@pytest.mark.whole
@pytest.mark.process
def test_a_program_that_was_recorded_on_one_machine_and_run_on_another(
    tmp_path: Path, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    if not (can_move_programs(place) and can_shift_programs()):
        pytest.skip("needs namespaces of its own and the package libfaketime")
    service.answer = answer
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    command = [sys.executable, "program.py", "{input}"]
    project = Project(
        folder,
        service.url,
        {"adapter": "command", "command": command, "env": {"OPENAI_BASE_URL": service.url}},
    )
    project.write({})
    assert here("doctor", "--save-request", "agent.json") == 0
    project.write({"request": "agent.json"})
    assert here("run", "--fresh") == 0
    recorded = project.result()
    project.write({"request": "agent.json"}, reverse=True)
    (tmp_path / "home").mkdir()
    other = {
        "HOME": str(tmp_path / "home"),
        "USER": "ann",
        "LOGNAME": "ann",
        "TZ": "Asia/Kathmandu",
        "LANG": "C.UTF-8",
    }
    there = {**os.environ, **other, OTHER_MACHINE: str(place), OTHER_CLOCK: str(SHIFT_SECONDS)}
    program = moved((sys.executable, "-m", "agentmut", "run", "--fresh", "--yes"), there)
    done = subprocess.run(
        program.arguments, env=program.variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    alike(recorded, project.result())
