"""`agentmut proxy` as a user runs it, in front of the simulator."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.cli import main
from agentmut.cli.verbs.proxy_verb import _Tally
from agentmut.project.loading import load_project
from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process

AGENT = """
import os, sys, urllib.request, json
prompt = open("prompt.md").read()
body = {"model": "sim-large", "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": "Hi"}]}
headers = {"content-type": "application/json", "authorization": "Bearer sk-planted-key-0123456789"}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
with opener.open(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
    print(json.load(reply)["object"])
sys.exit(7)
"""
PROJECT = """
version: 1
agent: {adapter: python, run: "own_agent:run", config: {prompt: prompt.md}}
"""


def through(*options: str, cwd: Path, service: str) -> subprocess.CompletedProcess[str]:
    """The agent behind the proxy, in front of a model service."""
    (cwd / "agent.py").write_text(AGENT)
    (cwd / "prompt.md").write_text("- Always greet.\n- Never swear.\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OPENAI_BASE_URL": service}
    return subprocess.run(
        [*AGENTMUT, "proxy", *options, "--", sys.executable, "agent.py"],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_what_passes_is_said_in_a_line_and_the_commands_code_returned(
    tmp_path: Path, simulator_url: str
) -> None:
    done = through(cwd=tmp_path, service=simulator_url)
    assert (done.returncode, done.stdout) == (7, "chat.completion\n")
    (line,) = done.stderr.splitlines()
    dialect, model, status, seconds, tokens, changed = line.split("  ")
    assert (dialect, model, status, changed) == ("chat_completions", "sim-large", "200", "unchanged")
    assert seconds.endswith(" s")
    assert tokens.endswith(" tokens")
    assert "planted" not in done.stdout + done.stderr


def test_with_a_mutant_every_request_is_its(tmp_path: Path, simulator_url: str) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "own_agent.py").write_text("def run(config, input):\n    return config.prompt\n")
    (tmp_path / "prompt.md").write_text("- Always greet.\n- Never swear.\n")
    (tmp_path / "scenarios").mkdir()
    scenario = "- {name: a, input: hi, evaluators: [{contains: x}]}\n"
    (tmp_path / "scenarios" / "a.yaml").write_text(scenario)
    session = open_session(load_project(tmp_path))
    mutant = make_mutants(session, Selection(operators_named=("prompt.drop_instruction",))).mutants[0].id
    done = through("--mutant", mutant, cwd=tmp_path, service=simulator_url)
    assert done.returncode == 7, done.stderr
    assert done.stderr.splitlines()[0] == f"mutant {mutant}: prompt.drop_instruction"
    assert done.stderr.splitlines()[1].endswith("  changed")


@pytest.mark.parametrize(
    ("changes", "mutant", "code", "ended", "said"),
    [
        ((), True, 0, 4, "0 model requests passed; the mutant did not arrive"),
        ((), True, 7, 7, "the mutant did not arrive"),
        ((), False, 0, 0, "0 model requests passed. Do something."),
        ((False, False), True, 0, 4, "2 model requests passed, none was changed; the mutant did not arrive"),
        ((False, True), True, 0, 0, ""),
        ((False,), False, 0, 0, ""),
    ],
)
def test_a_suite_that_never_met_the_mutant_does_not_end_as_if_it_had_passed(
    changes: tuple[bool, ...],
    mutant: bool,
    code: int,
    ended: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = _Tally("Do something.")
    tally.requests, tally.changed = len(changes), sum(changes)
    assert tally.exit_code(code, mutant=mutant) == ended
    found = capsys.readouterr().err
    assert said in found and bool(found) == bool(said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--project", "."), "without --mutant"),
        (("--upstream", "api.example/v1"), "http://"),
        (("--host", "0.0.0.0"), "--allow-remote"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["proxy", *options, "--", "true"])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


HARD_CODED = """
import json, urllib.request
body = {"model": "sim-large", "messages": [{"role": "user", "content": "Hi"}]}
headers = {"content-type": "application/json", "authorization": "Bearer k"}
url = "https://api.openai.com/v1/chat/completions"
with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
    print(json.load(reply)["object"])
"""


def test_a_hard_coded_address_is_reached_by_interception_and_behind_another_proxy_refused(
    tmp_path: Path, simulator_url: str
) -> None:
    pytest.importorskip("trustme")
    (tmp_path / "fixed.py").write_text(HARD_CODED)
    environment = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    environment |= {"PYTHONPATH": str(ROOT), "OPENAI_BASE_URL": simulator_url}
    command = [*AGENTMUT, "proxy", "--intercept", "--", sys.executable, "fixed.py"]

    def ran(**more: str) -> subprocess.CompletedProcess[str]:
        told = {**environment, **more}
        return subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=600)

    done = ran()
    assert (done.returncode, done.stdout) == (0, "chat.completion\n"), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("chat_completions  sim-large  200") and line.endswith("unchanged")
    refused = ran(HTTPS_PROXY="http://127.0.0.1:9")
    assert refused.returncode == 2 and "HTTPS_PROXY" in refused.stderr and not refused.stdout
