"""Whatever the code of users does, the first Ctrl-C ends a command, and its exit code and JSON say what happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentmut._base import users_places
from agentmut.cli.supervising import wants_supervisor

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
AGENTMUT = [sys.executable, "-IS", str(ROOT / "tests" / "testdata" / "warm_cli.py")]
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


def start(project: Path, *words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*AGENTMUT, *(words or ("run", "--yes")), "--json"]
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
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=THREAD))
    once_stuck(tmp_path, process)
    process.send_signal(number)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    told = json.loads(output)
    assert told["exit_code"] == 130
    assert "judge.py:4 in judge" in told["error"]


def test_the_first_ctrl_c_breaks_an_agent_off_that_blocks_the_event_loop(tmp_path: Path) -> None:
    process = start(write(tmp_path, STUCK_AGENT))
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert json.loads(output)["status"] == "interrupted"


def test_the_first_ctrl_c_writes_the_result_of_a_run_whose_evaluator_never_ends(tmp_path: Path) -> None:
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=PATIENT))
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert json.loads(output)["status"] == "interrupted"


def test_the_second_ctrl_c_ends_a_command_at_once(tmp_path: Path) -> None:
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=THREAD))
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "second Ctrl-C" in json.loads(output)["error"]


def test_an_evaluator_that_lets_no_thread_run_is_ended_without_ctrl_c(tmp_path: Path) -> None:
    extra = "execution: {timeout: 1, evaluator_timeout: 1, isolate_evaluators: thread}\n"
    process = start(write(tmp_path, judge=STUCK_JUDGE, extra=extra))
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 4, said
    assert "judge.py:4 in judge" in json.loads(output)["error"]


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


def test_a_command_with_a_budget_that_it_could_pay_twice_ends_with_the_remedy(tmp_path: Path) -> None:
    agent = f"import re\ndef run(config, input):\n    {CATASTROPHE}\n"
    extra = "execution: {timeout: 0.2, evaluator_timeout: 0.2}\nbudget: {trials: 60}\n"
    process = start(write(tmp_path, agent, extra=extra), "test", "--trials", "10", "--yes")
    output, told = process.communicate(timeout=LIMIT)
    assert process.returncode == 4, told
    assert "isolate: process" in json.loads(output)["error"]


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
    assert "SIGSEGV" in told["error"]
    assert "isolate: process" in told["error"]


def test_what_works_ends_with_its_supervisor(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\nfrom agentmut.cli.supervising import supervised\n"
        "supervised(lambda: (print(os.getpid(), flush=True), time.sleep(600)))\n"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout
    worker = int(supervisor.stdout.readline())
    supervisor.kill()
    supervisor.wait()
    until = time.monotonic() + LIMIT
    while alive(worker):
        assert time.monotonic() < until
        time.sleep(0.01)
    supervisor.stdout.close()


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_places_are_those_of_users_code() -> None:
    library = os.path.dirname(os.__file__)  # noqa: PTH120
    traces = (
        'Thread 0x1 (most recent call first):\n  File "/my/judge.py", line 3 in judge\n'
        f'Current thread 0x2 (most recent call first):\n  File "{library}/selectors.py", line 468 in select\n'
        f'  File "{ROOT}/agentmut/cli/entry.py", line 9 in main\n'
    )
    assert users_places(traces) == "/my/judge.py:3 in judge"


def test_a_library_that_calls_agentmut_blocks_nothing() -> None:
    """The command line's own parser stands below agentmut in the main thread; a library above it may be what blocks."""
    packages = f"{os.path.dirname(os.__file__)}/site-packages"  # noqa: PTH120
    ours = f'  File "{ROOT}/agentmut/cli/entry.py", line 9 in main\n'
    below = f'{ours}  File "{packages}/typer/main.py", line 5 in wrap\n'
    above = f'  File "{packages}/slow/parser.py", line 7 in parse\n'
    assert users_places(f"Thread 0x1 (most recent call first):\n{below}") == ""
    assert (
        users_places(f"Thread 0x1 (most recent call first):\n{above}{below}")
        == f"{packages}/slow/parser.py:7 in parse"
    )


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [(["run", "--yes"], True), ([], False), (["--version"], False), (["run", "--help"], False)]
    + [([verb], False) for verb in ("simulate", "proxy", "init")],
)
def test_verbs_that_run_code_of_users_are_supervised(arguments: list[str], wanted: bool) -> None:
    assert wants_supervisor(arguments) is wanted


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
