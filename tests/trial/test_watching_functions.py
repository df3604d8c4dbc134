"""Traces, profiles and audit hooks of users see the code of users alone, so that what they raise harms no trial."""

import asyncio
import contextvars
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from agentmut.recording import Trial, in_daemon_thread, running
from agentmut.trial.containment import contained
from tests.warm_command import run_agentmut

SETTERS = [(sys, "settrace"), (sys, "setprofile"), (threading, "settrace"), (threading, "setprofile")]
NAMES = [f"{owner.__name__}.{name}" for owner, name in SETTERS]


@pytest.fixture(autouse=True)
def nothing_set() -> Iterator[None]:
    """Put back what a measure of coverage has set."""
    before = sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()
    yield
    for (owner, name), function in zip(SETTERS, before, strict=True):
        getattr(owner, name)(function)


def users(code: str, **given: Any) -> Any:
    """A function of a user's own file."""
    names: dict[str, Any] = {"__name__": "my_agent", **given}
    exec(compile(code, "/home/me/my_agent.py", "exec"), names)
    (function,) = (
        each for each in names.values() if isinstance(each, FunctionType) and each not in given.values()
    )
    return function


def context_of(trial_id: str) -> contextvars.Context:
    """What belongs to a trial."""
    with running(Trial(id=trial_id, seed=0, scenario="s")):
        return contextvars.copy_context()


@pytest.mark.parametrize(("owner", "name"), SETTERS, ids=NAMES)
def test_a_function_that_raises_stops_no_work_of_agentmut(owner: Any, name: str) -> None:
    act = users("async def act():\n    getattr(owner, name)(lambda *_: 1 / 0)\n", owner=owner, name=name)

    async def work() -> list[int]:
        with contained(asyncio.get_running_loop()):
            await asyncio.wait({asyncio.get_running_loop().create_task(act(), context=context_of("a"))})
            found = [await in_daemon_thread(int, str(number)) for number in range(3)]
            await asyncio.sleep(0.01)
            return found

    assert asyncio.run(work()) == [0, 1, 2]


def seen_by(name: str, trial_of_the_call: str) -> list[str]:
    """The functions that a trace sees which was set in the trial `a`, while a trial calls a function of the user."""
    seen: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        seen.append(frame.f_code.co_name)

    setting = users("async def act(): getattr(sys, name)(note)", sys=sys, name=name, note=note)
    calling = users("async def act():\n    return json.dumps({})", json=json)

    async def work() -> None:
        contexts = {trial: context_of(trial) for trial in "ab"}
        loop = asyncio.get_running_loop()
        with contained(loop):
            await loop.create_task(setting(), context=contexts["a"])
            await loop.create_task(calling(), context=contexts[trial_of_the_call])
            await loop.create_task(asyncio.sleep(0), context=contexts["a"])
            getattr(sys, name)(None)

    asyncio.run(work())
    return seen


@pytest.mark.parametrize("name", ["settrace", "setprofile"])
def test_a_trace_sees_what_its_own_trial_calls_and_no_other_code(name: str) -> None:
    assert {"act", "dumps"} <= set(seen_by(name, "a"))
    assert "sleep" not in seen_by(name, "a")  # which no code of the user has called
    assert set(seen_by(name, "b")) <= {"set_function", "act"}  # these return, which a profile is told of


def test_an_audit_hook_hears_of_its_own_trial_alone() -> None:
    """In a process of its own, which no hook leaves."""
    code = (
        "import asyncio, sys\n"
        "from agentmut.recording import Trial, running\n"
        "from agentmut.trial.containment import contained\n"
        "heard = []\n"
        "names = {'__name__': 'my_agent', 'sys': sys, 'heard': heard}\n"
        "code = '''\n"
        "def setting(): sys.addaudithook(lambda event, _: heard.append(event))\n"
        "def calling(): sys.audit('mine')\n"
        "'''\n"
        "exec(compile(code, '/home/me/my_agent.py', 'exec'), names)\n"
        "a, b = (Trial(id=each, seed=0, scenario='s') for each in 'ab')\n"
        "async def work():\n"
        "    with contained(asyncio.get_running_loop()):\n"
        "        with running(a): names['setting'](); sys.audit('agentmuts')\n"
        "        with running(b): names['calling']()\n"
        "        with running(a): names['calling']()\n"
        "        names['calling']()\n"
        "asyncio.run(work())\n"
        "print(heard.count('mine'), heard.count('agentmuts'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1 0\n", "")


def run_with_hook(tmp_path: Path, hooks: str, isolate: str) -> subprocess.CompletedProcess[str]:
    """The end of a campaign whose setup is the function `prepare` of a module."""
    (tmp_path / "hooks.py").write_text(hooks)
    (tmp_path / "my_agent.py").write_text(
        "async def run(config, input): return 'hello' if 'greet' in config.prompt else 'hm'\n"
    )
    (tmp_path / "s.yaml").write_text(
        "- {name: s, input: hi, setup: 'hooks:prepare', evaluators: [{contains: hello}]}\n"
    )
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent: {adapter: python, run: 'my_agent:run', config: {prompt: 'Always greet. Be brief.'}}\n"
        "suite: {scenarios: s.yaml}\nmutation: {operators: [prompt.drop_instruction]}\n"
        f"execution: {{isolate: {isolate}}}\nstatistics: {{rounds: one, baseline: 20}}\n"
    )
    return run_agentmut(tmp_path, "run", "--yes", "--json")


def statuses(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [mutant["status"] for mutant in json.loads(done.stdout)["mutants"]]


@pytest.mark.process
@pytest.mark.parametrize(
    ("call", "isolate"), [("sys.settrace", "task"), ("sys.addaudithook", "task"), ("sys.settrace", "process")]
)
def test_a_function_held_by_its_name_from_before_the_run_is_contained(
    tmp_path: Path, call: str, isolate: str
) -> None:
    module, _, name = call.partition(".")
    hooks = f"from {module} import {name} as watch\nasync def prepare(scenario): watch(lambda *_: 1 / 0)\n"
    done = run_with_hook(tmp_path, hooks, isolate)
    assert statuses(done) == ["killed", "survived"]
    assert "Traceback" not in done.stderr


@pytest.mark.process
@pytest.mark.parametrize("isolate", ["task", "process"])
def test_what_a_module_adds_while_it_loads_raises_in_no_code_of_agentmut(
    tmp_path: Path, isolate: str
) -> None:
    hooks = "import sys\nasync def prepare(scenario): ...\nsys.addaudithook(lambda *_: 1 / 0)\n"
    assert statuses(run_with_hook(tmp_path, hooks, isolate)) == ["killed", "survived"]


@pytest.mark.process
@pytest.mark.parametrize("isolate", ["process", "thread"])
def test_who_added_an_audit_hook_that_raises_in_an_evaluator_is_named(tmp_path: Path, isolate: str) -> None:
    (tmp_path / "guard.py").write_text(
        "import sys\n\n\ndef forbid(event, _):\n    if event == 'open': raise PermissionError('no files')\n\n\n"
        "def add():\n    sys.addaudithook(forbid)\n"
    )
    (tmp_path / "judge.py").write_text(
        "import guard\ndef judge(trace):\n    guard.add()\n    return open('x')\n"
    )
    (tmp_path / "my_agent.py").write_text("async def run(config, input): return 'hello'\n")
    (tmp_path / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{python: 'judge:judge'}]}\n")
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent: {adapter: python, run: 'my_agent:run', config: {prompt: 'Always greet. Be brief.'}}\n"
        "suite: {scenarios: s.yaml}\nmutation: {operators: [prompt.drop_instruction]}\n"
        f"execution: {{isolate_evaluators: {isolate}}}\nstatistics: {{rounds: one, baseline: 20}}\n"
    )
    done = run_agentmut(tmp_path, "run", "--yes", "--json")
    assert done.returncode == 4, done.stderr
    error = json.loads(done.stdout)["error"]
    assert "raised PermissionError: no files; raised by the audit hook that was added at" in error
    assert "guard.py:9 in add (guard.py:5)" in error


@pytest.mark.process
@pytest.mark.parametrize("call", [*NAMES, "sys.addaudithook"])
def test_a_hook_that_sets_one_which_raises_stops_no_run(tmp_path: Path, call: str) -> None:
    hooks = f"import sys, threading\nasync def prepare(scenario): {call}(lambda *_: 1 / 0)\n"
    done = run_with_hook(tmp_path, hooks, "task")
    if call == "sys.setprofile":  # is called as the hook returns, and raises there
        assert done.returncode == 4, done.stderr
        assert "setup: ZeroDivisionError" in json.loads(done.stdout)["error"]
        return
    assert statuses(done) == ["killed", "survived"]
