"""The command line, driven as a user would: real processes, real projects."""

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process


SLOW_AGENT = """
import asyncio, hashlib
from agentmut.recording.current import current_trial

async def run(config, input):
    await asyncio.sleep({pause})
    lucky = int(hashlib.sha256(current_trial().id.encode()).hexdigest(), 16) % 100 < 95
    return "hello" if "greet" in config.prompt and lucky else "hm"
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Always greet the user. Be brief."}
statistics: {baseline: 40}
"""
SCENARIOS = """
- name: greets
  input: "hi"
  evaluators: [{contains: hello}]
"""


def agentmut(*arguments: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*AGENTMUT, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        stdin=subprocess.DEVNULL,
        **options,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "my_agent.py").write_text(SLOW_AGENT.format(pause=0))
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "scenarios" / "first.yaml").write_text(SCENARIOS)
    return tmp_path


def test_init_writes_a_project_that_runs_as_it_is(tmp_path: Path) -> None:
    assert agentmut("init", cwd=tmp_path).returncode == 0
    listed = agentmut("mutants", cwd=tmp_path)
    assert listed.returncode == 0
    assert "prompt.drop_instruction" in listed.stdout
    ran = agentmut("run", "--yes", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Mutation score" in ran.stdout
    assert "Instructions whose loss no scenario notices" in ran.stdout


def test_init_refuses_to_overwrite(project: Path) -> None:
    done = agentmut("init", cwd=project)
    assert done.returncode == 2
    assert "agentmut.yaml" in done.stderr
    assert (project / "agentmut.yaml").read_text() == PROJECT


def test_json_output_is_one_document_alone(project: Path) -> None:
    ran = agentmut("run", "--yes", "--json", cwd=project)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["schema_version"] == 1
    assert {m["status"] for m in result["mutants"]} <= {"killed", "survived"}
    reported = json.loads(agentmut("report", "--json", cwd=project).stdout)
    assert reported == result
    killed = next(m for m in result["mutants"] if m["status"] == "killed")
    shown = json.loads(agentmut("show", killed["id"], "--json", cwd=project).stdout)
    pairs = shown.pop("runs")
    assert shown == {"schema_version": 1, **killed}
    assert [pair["chosen"] for pair in pairs] == ["typical"]
    assert pairs[0]["original"]["outcome"] == "pass" and pairs[0]["mutant"]["outcome"] == "fail"


def test_show_explains_a_killed_mutant(project: Path) -> None:
    result = json.loads(agentmut("run", "--yes", "--json", cwd=project).stdout)
    killed = next(m for m in result["mutants"] if m["status"] == "killed")
    shown = agentmut("show", killed["id"][:6], cwd=project)
    assert shown.returncode == 0
    assert "- Always greet the user." in shown.stdout
    assert "The suite notices this change" in shown.stdout
    assert re.search(r"^answers: hello +\| answers: hm$", shown.stdout, re.MULTILINE)
    number = re.search(r"mutant, trial (\d+): fail", shown.stdout)
    assert number
    again = agentmut("show", killed["id"][:6], "--trial", number[1], cwd=project)
    assert "the run that was asked for" in again.stdout
    wrong = agentmut("show", killed["id"][:6], "--trial", "1", cwd=project)  # a run of the original
    assert wrong.returncode == 2 and "has no such trial of mutant" in wrong.stderr


def test_a_second_run_executes_nothing(project: Path) -> None:
    first = json.loads(agentmut("run", "--yes", "--json", cwd=project).stdout)
    second = json.loads(agentmut("run", "--yes", "--json", cwd=project).stdout)
    assert first["cost"]["trials"] > 0
    assert second["cost"]["trials"] == 0
    assert second["cost"]["reused"] == first["cost"]["trials"]
    assert second["mutants"] == first["mutants"]


def test_without_a_budget_run_asks_and_scripts_must_say_yes(project: Path) -> None:
    done = agentmut("run", cwd=project)
    assert done.returncode == 2
    assert "worst case" in done.stderr
    assert "--yes" in done.stderr


def test_filters_narrow_the_mutants(project: Path) -> None:
    listed = json.loads(
        agentmut("mutants", "--json", "--operator", "prompt.drop_instruction", cwd=project).stdout
    )
    assert {m["operator"] for m in listed["mutants"]} == {"prompt.drop_instruction"}
    one = listed["mutants"][0]["id"]
    result = json.loads(agentmut("run", "--yes", "--json", "--mutant", one, cwd=project).stdout)
    assert [m["id"] for m in result["mutants"]] == [one]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--operator", "prompt.drop_instructoin"], "prompt.drop_instruction"),
        (["--class", "promt"], "prompt"),
        (["--mutant", "zzzz"], "agentmut mutants"),
        (["--scenario", "greet"], "greets"),
    ],
)
def test_unknown_filters_name_the_nearest(project: Path, arguments: list[str], said: str) -> None:
    done = agentmut("run", "--yes", *arguments, cwd=project)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_missing_project_points_to_init(tmp_path: Path) -> None:
    done = agentmut("run", "--yes", cwd=tmp_path)
    assert done.returncode == 2
    assert "agentmut init" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_budget_stops_the_run_with_exit_code_3_and_resume_finishes_it(project: Path) -> None:
    (project / "agentmut.yaml").write_text(PROJECT + "budget: {trials: 100}\n")
    stopped = agentmut("run", "--json", cwd=project)
    assert stopped.returncode == 3, stopped.stderr
    partial = json.loads(stopped.stdout)
    assert partial["status"] == "budget"
    assert partial["cost"]["trials"] <= 100
    assert any(mutant["ruled_out"] != 0.2 for mutant in partial["mutants"] if mutant["status"] != "killed")
    (project / "agentmut.yaml").write_text(PROJECT)
    resumed = agentmut("resume", "--json", cwd=project)
    assert resumed.returncode == 0, resumed.stderr
    whole = json.loads(resumed.stdout)
    assert whole["run_id"] == partial["run_id"]
    assert whole["score"]["undecided"] == 0
    assert {mutant["ruled_out"] for mutant in whole["mutants"] if mutant["status"] == "survived"} == {0.2}


def test_resume_keeps_the_limits_of_the_command_line(project: Path) -> None:
    def trials(*arguments: str) -> int:
        ended = agentmut(*arguments, "--json", cwd=project)
        assert ended.returncode == 3, ended.stderr
        return int(json.loads(ended.stdout)["cost"]["trials"])

    assert trials("run", "--yes", "--trials", "100") == trials("resume") == 100
    assert trials("resume", "--trials", "110") == trials("resume") == 110


def test_resume_of_a_spent_budget_is_one_sentence(project: Path) -> None:
    run = json.loads(agentmut("run", "--yes", "--trials", "100", "--json", cwd=project).stdout)["run_id"]
    spent = agentmut("resume", cwd=project)
    assert spent.returncode == 3
    more = "`agentmut resume --trials N` with N above 100 goes on."
    assert spent.stdout == f"Run {run} has spent its budget: {more}\n"


def wait_for_trials(project: Path, number: int) -> None:
    deadline = time.monotonic() + 60
    store = f"file:{project}/.agentmut/store.db?mode=ro"
    while time.monotonic() < deadline:
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(store, uri=True)) as connection:
            if connection.execute("select count(*) from trials").fetchone()[0] >= number:
                return
        time.sleep(0.05)
    raise AssertionError(f"the run has not finished {number} trials within a minute")


def test_ctrl_c_loses_nothing_and_resume_goes_on(project: Path) -> None:
    (project / "my_agent.py").write_text(SLOW_AGENT.format(pause=0.1))
    started = subprocess.Popen(
        [*AGENTMUT, "run", "--yes", "--json"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_trials(project, 20)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=600)
    assert started.returncode == 130, err
    before = json.loads(out)
    assert before["status"] == "interrupted"
    assert before["cost"]["trials"] > 0
    resumed = agentmut("resume", "--json", cwd=project)
    assert resumed.returncode == 0, resumed.stderr
    after = json.loads(resumed.stdout)
    assert after["run_id"] == before["run_id"]
    assert after["cost"]["trials"] > before["cost"]["trials"]
    assert after["cost"]["reused"] == 0


def test_clean_forgets_old_runs_and_keeps_the_latest_of_each_kind(project: Path) -> None:
    agentmut("run", "--yes", cwd=project)
    latest = json.loads(agentmut("run", "--yes", "--seed", "2", "--json", cwd=project).stdout)["run_id"]
    test = json.loads(agentmut("test", "--yes", "--json", cwd=project).stdout)["run_id"]
    refused = agentmut("clean", cwd=project)
    assert refused.returncode == 2 and "give --yes to remove it without a question" in refused.stderr
    preview = agentmut("clean", "--dry-run", cwd=project)
    assert "to be removed: 1 run and" in preview.stdout and "run        $0.00" in preview.stdout
    done = json.loads(agentmut("clean", "--yes", "--json", cwd=project).stdout)
    assert len(done["runs_removed"]) == 1
    assert done["runs_kept"] == [test, latest]  # a test does not push a campaign out
    assert done["trials_removed"] > 0
    assert f"{done['trials_removed']} trials" in preview.stdout
    assert agentmut("report", latest, cwd=project).returncode == 0
    assert "there is nothing to remove: 2 runs are kept" in agentmut("clean", "--yes", cwd=project).stdout


def test_the_report_fits_80_columns_without_colour(project: Path) -> None:
    ran = agentmut("run", "--yes", cwd=project)
    assert max(len(line) for line in ran.stdout.splitlines()) <= 80
    assert "\x1b" not in ran.stdout


def test_an_agent_that_fails_every_baseline_trial_ends_the_run_with_exit_code_4(project: Path) -> None:
    (project / "my_agent.py").write_text("def run(config, input):\n    raise ValueError('boom')\n")
    done = agentmut("run", "--yes", cwd=project)
    assert done.returncode == 4
    assert "the agent cannot run: ValueError: boom (my_agent.py:2 in run)." in done.stderr
    assert "boom" in done.stderr


def test_simulate_exports_the_endpoint_and_returns_the_commands_code(tmp_path: Path) -> None:
    code = "import os, sys; print(os.environ['OPENAI_BASE_URL'], os.environ['OPENAI_API_KEY']); sys.exit(7)"
    with socket.socket() as taken:  # the port for other terminals may be in use
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", 8899))
        done = agentmut("simulate", "--", sys.executable, "-c", code, cwd=tmp_path)
    assert done.returncode == 7
    assert re.match(r"http://127\.0\.0\.1:\d+/v1 simulated", done.stdout)


def test_an_occupied_port_is_said_with_a_remedy(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = agentmut("simulate", "--port", port, "--", "true", cwd=tmp_path)
    assert done.returncode == 4
    assert port in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize(
    "verb",
    [
        "init",
        "doctor",
        "mutants",
        "run",
        "resume",
        "merge",
        "show",
        "report",
        "replay",
        "trials",
        "clean",
        "simulate",
        "proxy",
    ],
)
def test_help_of_every_verb_has_a_sentence_and_an_example(verb: str, tmp_path: Path) -> None:
    done = agentmut(verb, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "Example: agentmut" in done.stdout
