"""Whatever the code of users does, the first Ctrl-C ends a command, and its exit code and JSON say what happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process

LIMIT = 600
"""Seconds until a test gives up: no bound on anything that is measured."""

PATIENT = "execution: {evaluator_timeout: 600}\n"
"""A busy machine may stand still for a minute."""
THREAD = "execution: {isolate_evaluators: thread, evaluator_timeout: 600}\n"
"""There an evaluator can keep the whole process from running anything else."""
GOOD = 'def run(config, input):\n    return "hello" if "greet" in config.prompt else "hm"\n'
CATASTROPHE = 're.search(r"^(a+)+$", "a" * 41 + "!")'
STUCK_JUDGE = (
    "import pathlib, re\ndef judge(trace):\n    pathlib.Path('here').touch()\n"
    f"    return bool({CATASTROPHE})\n"
)
STUCK_AGENT = (
    "import pathlib, re\nasync def run(config, input):\n    pathlib.Path('here').touch()\n"
    f"    {CATASTROPHE}\n    return 'hello'\n"
)


def write(folder: Path, agent: str = GOOD, judge: str = "", extra: str = "") -> Path:
    (folder / "my_agent.py").write_text(agent)
    (folder / "judge.py").write_text(judge)
    evaluator = "{python: 'judge:judge'}" if judge else "{contains: hello}"
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "s.yaml").write_text(f"- name: s\n  input: hi\n  evaluators: [{evaluator}]\n")
    (folder / "agentmut.yaml").write_text(
        "version: 1\nagent:\n  adapter: python\n  run: my_agent:run\n"
        '  config: {prompt: "Always greet the user. Be brief."}\n'
        f"mutation: {{operators: [prompt.drop_instruction]}}\nstatistics: {{baseline: 20}}\n{extra}"
    )
    return folder


def start(project: Path, *words: str, **seconds: float) -> "subprocess.Popen[str]":
    """Start a command; `seconds` are given to the supervisor's deadlines, which a busy machine would pass."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    set_to = "".join(f"supervising.{name} = {value!r}; " for name, value in seconds.items())
    program = f"from agentmut.cli import main, supervising; {set_to}main()"
    command = [*AGENTMUT, "-c", program, *(words or ("run", "--yes")), "--json"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=project, env=environment, stdout=pipe, stderr=pipe, text=True)


def once_stuck(project: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until the code of the user is where it will stay."""
    until = time.monotonic() + LIMIT
    while not (project / "here").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_ctrl_c_ends_a_command_whose_evaluator_lets_no_thread_run(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=THREAD), PLACED=LIMIT)
    once_stuck(tmp_path, process)
    process.send_signal(number)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    told = json.loads(output)
    assert told["exit_code"] == 130
    assert "judge.py:4 in judge" in told["error"]


def test_the_first_ctrl_c_breaks_an_agent_off_that_blocks_the_event_loop(tmp_path: Path) -> None:
    process = start(write(tmp_path, STUCK_AGENT), UNHEARD=LIMIT, HEARD=LIMIT)
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert json.loads(output)["status"] == "interrupted"


def test_the_first_ctrl_c_writes_the_result_of_a_run_whose_evaluator_never_ends(tmp_path: Path) -> None:
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=PATIENT), UNHEARD=LIMIT, HEARD=LIMIT)
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert json.loads(output)["status"] == "interrupted"


def test_the_second_ctrl_c_ends_a_command_at_once(tmp_path: Path) -> None:
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=THREAD), UNHEARD=LIMIT)
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "second Ctrl-C" in json.loads(output)["error"]


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        (signal.SIGTERM, signal.SIGTERM, "the second SIGTERM."),
        (signal.SIGINT, signal.SIGTERM, "SIGTERM after Ctrl-C."),
    ],
)
def test_the_signal_that_ends_a_command_at_once_is_named(
    tmp_path: Path, first: signal.Signals, second: signal.Signals, named: str
) -> None:
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=THREAD), UNHEARD=LIMIT)
    once_stuck(tmp_path, process)
    process.send_signal(first)
    time.sleep(0.4)
    process.send_signal(second)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert f"ended at once by {named}" in json.loads(output)["error"]


def test_two_sigterm_of_one_timeout_ask_once(tmp_path: Path) -> None:
    """`timeout` sends SIGTERM to its child, and then to the group that the child is in."""
    process = start(write(tmp_path, STUCK_AGENT), UNHEARD=LIMIT, HEARD=LIMIT)
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert json.loads(output)["status"] == "interrupted"


@pytest.mark.parametrize("isolate", ["task", "process"])
def test_an_evaluator_that_lets_no_thread_run_is_ended_without_ctrl_c(tmp_path: Path, isolate: str) -> None:
    """The command goes on by itself with the evaluator in a process of its own, where it is an error of its own."""
    execution = f"isolate: {isolate}, timeout: 1, evaluator_timeout: 1, isolate_evaluators: thread"
    process = start(
        write(tmp_path, judge=STUCK_JUDGE, extra=f"execution: {{{execution}}}\n"), PLACED_STUCK=LIMIT
    )
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 4, said
    assert "let Python run nothing else for 16 s" in said
    told = json.loads(output)["error"]
    assert "took more than 1 s" in told
    assert "judge.py:4 in judge" in told


def test_doctor_ends_at_an_agent_in_a_thread_that_keeps_pythons_lock_and_says_the_remedy(
    tmp_path: Path,
) -> None:
    agent = f"import re\ndef run(config, input):\n    {CATASTROPHE}\n    return 'hello'\n"
    extra = "execution: {timeout: 0.2, evaluator_timeout: 0.2}\n"
    process = start(write(tmp_path, agent, extra=extra), "doctor", "--yes")
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 4, said
    told = json.loads(output)["error"]
    assert "my_agent.py:3 in run" in told
    assert "isolate: process" in told


ONE_MUTANT_STUCK = (
    "import ctypes, os, re, signal\ndef run(config, input):\n    if config.prompt and 'greet' not in config.prompt:\n"
    "        STUCK\n    return 'hello' if config.prompt else 'hm'\n"
)
SHORT = "execution: {timeout: 1, evaluator_timeout: 1}\n"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (CATASTROPHE, "my_agent.py:4 in run"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "ended by SIGSEGV"),
        ("ctypes.CDLL(None)._exit(3)", "ended with exit code 3"),
    ],
    ids=["stuck", "crash", "exit"],
)
def test_code_in_a_thread_that_stops_or_crashes_the_process_ends_its_own_trial(
    tmp_path: Path, how: str, said: str
) -> None:
    """The command goes on by itself with processes: it comes to a result, and no trial is paid for twice."""
    agent = ONE_MUTANT_STUCK.replace("STUCK", how)
    extra = SHORT + "budget: {trials: 60}\n"
    process = start(write(tmp_path, agent, extra=extra))
    output, told = process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 3), told
    result = json.loads(output)
    found = {mutant["before"].strip(): mutant["status"] for mutant in result["mutants"]}
    assert found["Always greet the user."] == "killed"
    assert said in told
    assert any("processes of their own" in note for note in result["notes"])
    (stored,) = (tmp_path / ".agentmut" / "runs").iterdir()
    assert result["run_id"] == stored.name


def test_a_verdict_is_found_where_an_agent_keeps_pythons_lock(tmp_path: Path) -> None:
    agent = f"import re\ndef run(config, input):\n    {CATASTROPHE}\n"
    extra = "execution: {timeout: 0.2, evaluator_timeout: 0.2}\n"
    process = start(write(tmp_path, agent, extra=extra), "test", "--trials", "10", "--yes")
    output, told = process.communicate(timeout=LIMIT)
    assert process.returncode == 1, told
    assert json.loads(output)["verdict"] == "FAIL"


STUCK_ONCE = (
    "import os, pathlib, re\ndef run(config, input):\n    calls = pathlib.Path('calls')\n"
    "    with calls.open('a') as log:\n        log.write('.')\n"
    "    if calls.stat().st_size == 7:\n        STUCK\n    return 'hello'\n"
)


@pytest.mark.parametrize("how", [CATASTROPHE, "os.kill(os.getpid(), 11)"], ids=["stuck", "crash"])
def test_a_budget_counts_what_the_first_process_of_a_command_has_spent(tmp_path: Path, how: str) -> None:
    agent = STUCK_ONCE.replace("STUCK", how)
    extra = "execution: {timeout: 1, evaluator_timeout: 1, concurrency: 1}\nbudget: {trials: 12}\n"
    process = start(write(tmp_path, agent, extra=extra), "test", "--trials", "20", "--yes")
    output, told = process.communicate(timeout=LIMIT)
    assert process.returncode == 3, told
    report = json.loads(output)
    assert (report["status"], report["cost"]["trials"]) == ("budget", 12)
    assert len((tmp_path / "calls").read_text()) == 13  # the trial that was lost with the process is no trial
    (stored,) = (tmp_path / ".agentmut" / "runs").iterdir()
    assert report["run_id"] == stored.name


def test_the_run_of_a_cheap_model_is_continued_and_its_trials_are_paid_once(tmp_path: Path) -> None:
    """`mutation.proxy`: the second process takes the first run of two up, and then plans the other."""
    rules = " ".join(f"Always say word {number}." for number in range(14))
    agent = STUCK_ONCE.replace("STUCK", "os.kill(os.getpid(), 11)")
    agent = agent.replace("'hello'", "'hello' if 'word 3' in config.prompt else 'hm'")
    extra = "  n_max: 10\nexecution: {concurrency: 1}\nbudget: {trials: 4000}\n"
    project = write(tmp_path, agent)
    settings = (project / "agentmut.yaml").read_text().replace("Always greet the user. Be brief.", rules)
    settings = settings.replace("prompt: ", "model: {name: dear}, prompt: ", 1)
    settings = settings.replace("mutation: {", "mutation: {proxy: {model: cheap, part: 0.5}, ")
    (project / "agentmut.yaml").write_text(settings.replace("{baseline: 20}", "\n  baseline: 20") + extra)
    process = start(project)
    output, told = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, told
    assert "ended by SIGSEGV" in told
    folders = sorted((tmp_path / ".agentmut" / "runs").iterdir())
    cheap, own = (json.loads((folder / "result.json").read_text()) for folder in folders)
    assert (own["run_id"], own["cheap_model"]["run_id"]) == (json.loads(output)["run_id"], cheap["run_id"])
    paid = sum(one["cost"]["trials"] - one["cost"]["reused"] for one in (cheap, own))
    assert len((tmp_path / "calls").read_text()) == paid + 1  # one trial was lost with the process


def test_the_two_runs_of_a_cheap_model_come_to_the_same_after_sigkill_in_either(tmp_path: Path) -> None:
    """Each kill costs the one trial that was under way."""
    rules = " ".join(f"Always say word {number}." for number in range(14))
    agent = (
        "import os, pathlib, signal\ndef run(config, input):\n    calls = pathlib.Path('calls')\n"
        "    with calls.open('a') as log:\n        log.write(config.model.name[0])\n"
        "    if str(calls.stat().st_size) == os.environ.get('AT'):\n        signal.raise_signal(signal.SIGKILL)\n"
        "    return 'hello' if 'word 3' in config.prompt else 'hm'\n"
    )
    settings = "  n_max: 10\nexecution: {concurrency: 1, isolate: task}\nbudget: {trials: 4000}\n"

    def given(folder: Path, *words: str, at: int = 0) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "AT": str(at)}
        command = [*AGENTMUT, *words, "--json"]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    def ended(folder: Path, *words: str) -> tuple[int, str, Any]:
        done = given(folder, *words)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        calls = (folder / "calls").read_text()
        return (
            len(calls),
            calls,
            ([(m["id"], m["status"], m["trials"]) for m in result["mutants"]], result["score"]),
        )

    for name in ("whole", "cheap", "own"):
        folder = tmp_path / name
        folder.mkdir()
        text = (write(folder, agent) / "agentmut.yaml").read_text()
        text = text.replace("Always greet the user. Be brief.", rules).replace(
            "prompt: ", "model: {name: dear}, prompt: ", 1
        )
        text = text.replace("mutation: {", "mutation: {proxy: {model: cheap, part: 0.5}, ")
        (folder / "agentmut.yaml").write_text(text.replace("{baseline: 20}", "\n  baseline: 20") + settings)
    calls, said, whole = ended(tmp_path / "whole", "run", "--yes")
    cheap, own = said.count("c"), said.count("d")
    assert cheap > 100 and own > 100
    assert given(tmp_path / "cheap", "run", "--yes", at=cheap // 2).returncode == 4
    refused = given(tmp_path / "cheap", "resume")
    assert (refused.returncode, "`agentmut run` goes on with its trials" in refused.stderr) == (2, True)
    assert ended(tmp_path / "cheap", "run", "--yes")[::2] == (calls + 1, whole)
    assert given(tmp_path / "own", "run", "--yes", at=cheap + own // 2).returncode == 4
    assert ended(tmp_path / "own", "resume")[::2] == (calls + 1, whole)


def test_a_stored_run_is_judged_with_a_deadline_though_its_evaluators_have_threads(tmp_path: Path) -> None:
    extra = (
        "execution: {timeout: 1, evaluator_timeout: 1, isolate_evaluators: thread}\nbudget: {trials: 60}\n"
    )
    project = write(tmp_path, judge="def judge(trace):\n    return 'hello' in trace.text\n", extra=extra)
    process = start(project)
    _, told = process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 3), told
    (project / "judge.py").write_text(STUCK_JUDGE)
    process = start(project, "rescore", PLACED_STUCK=LIMIT)
    output, told = process.communicate(timeout=LIMIT)
    assert process.returncode == 4, told
    assert "let Python run nothing else for 16 s" in told
    assert "judge.py:4 in judge" in json.loads(output)["error"]


def test_with_auto_such_a_call_is_its_agents_failure(tmp_path: Path) -> None:
    agent = (
        "import re\ndef run(config, input):\n"
        f"    if config.prompt and 'greet' not in config.prompt:\n        {CATASTROPHE}\n"
        "    return 'hello' if config.prompt else 'hm'\n"
    )
    extra = "execution: {timeout: 1, isolate: auto, concurrency: 2}\nbudget: {trials: 60}\n"
    process = start(write(tmp_path, agent, extra=extra))
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 3), said
    found = {m["before"].strip(): m["status"] for m in json.loads(output)["mutants"]}
    assert found["Always greet the user."] == "killed"


def test_a_crash_of_the_whole_process_is_no_evidence_against_the_agent(tmp_path: Path) -> None:
    crash = "import os, signal\ndef judge(trace):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
    extra = "execution: {isolate_evaluators: thread}\n"
    process = start(write(tmp_path, judge=crash, extra=extra))
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 4, said
    told = json.loads(output)
    assert told["exit_code"] == 4
    assert "ended the process that it ran in (SIGSEGV)" in told["error"]


def test_an_import_that_has_to_be_killed_names_no_verb_of_campaigns(tmp_path: Path) -> None:
    program = (
        "import signal, sys, time\nfrom pathlib import Path\nfrom agentmut.cli import main, supervising\n"
        "from agentmut.usecases import importing\nsupervising.UNHEARD = supervising.PLACED = 0.1\n"
        "def deaf(*given):\n    signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n    Path('here').touch()\n"
        "    time.sleep(600)\n"
        "importing.found_files = deaf\nsys.argv = ['agentmut', 'import', 'runs.json']\nmain()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "so it was killed" in said
    assert said.endswith("Imported runs are kept: the same command imports the rest.\n")


def test_an_agent_that_blocks_the_event_loop_fails_and_costs_no_other_its_time(tmp_path: Path) -> None:
    """Only mutants without the greeting block; the original's trials, and the other mutants', go on."""
    blocking = (
        f"import asyncio, re\nasync def run(config, input):\n    if config.prompt and 'greet' not in config.prompt:\n"
        f"        {CATASTROPHE}\n    await asyncio.sleep(0.01)\n"
        "    return 'hello' if config.prompt else 'hm'\n"
    )
    extra = "execution: {timeout: 2, concurrency: 4}\nbudget: {trials: 100}\n"
    process = start(write(tmp_path, blocking, extra=extra))
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 3), said
    assert "my_agent.py:4 in run" in said
    found = {mutant["before"].strip(): mutant["status"] for mutant in json.loads(output)["mutants"]}
    assert found["Always greet the user."] == "killed"
    assert found["Be brief."] != "killed"


def test_an_agent_ends_the_processes_that_it_forks_by_sigterm(tmp_path: Path) -> None:
    agent = (
        "import multiprocessing, signal, time\n"
        "def run(config, input):\n"
        "    each = multiprocessing.get_context('fork').Process(target=time.sleep, args=(600,))\n"
        "    each.start()\n    each.terminate()\n    each.join(60)\n"
        "    ended, _ = each.exitcode, each.kill()\n"
        "    return 'hello' if ended == -signal.SIGTERM and 'greet' in config.prompt else 'it goes on'\n"
    )
    process = start(write(tmp_path, agent))
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, output
