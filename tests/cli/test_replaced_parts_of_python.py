"""Agents that replace parts of Python: told as their doing, and the command goes on with processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.late_agents import PROJECT, write_late_agent
from tests.warm_command import run_agentmut

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("warm")]

WARM = Path(__file__).parents[1] / "testdata" / "warm_cli.py"


def run(folder: Path, body: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    write_late_agent(folder, "replace()", f"def replace():\n    {body}")
    command = [sys.executable, "-IS", str(WARM), "run", "--yes", "--json"]
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("import json; json.dumps = json.loads = None", ["json.loads", "json.dumps"]),
        ("import builtins; builtins.open = None", ["builtins.open"]),
        ("import re; re.compile = re.sub = None", ["re.sub", "re.compile"]),
        ("import time; time.monotonic = time.perf_counter = None", ["time.monotonic", "time.perf_counter"]),
        ("import random; random.Random = lambda *seed: 1 / 0", ["random.Random"]),
        ("import pathlib; pathlib.Path.open = None", ["pathlib.Path.open"]),
        ("import sys; sys.modules.clear()", ["sys.modules"]),
        ("import builtins; builtins.isinstance = None", ["builtins.isinstance"]),
        ("import builtins; builtins.list = builtins.dict = None", ["builtins.list", "builtins.dict"]),
        ("import builtins; builtins.len = lambda _: 0", ["builtins.len"]),
    ],
)
def test_what_an_agent_replaces_is_named_and_the_command_goes_on(
    tmp_path: Path, body: str, named: list[str]
) -> None:
    done = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    said = done.stderr.partition("has replaced ")[2].partition(" in the process of agentmut")[0]
    assert set(said.split(", ")) == set(named)
    assert "goes on with trials and evaluators in processes of their own" in done.stderr
    assert "bug in agentmut" not in done.stderr
    result = json.loads(done.stdout)
    assert [mutant["status"] for mutant in result["mutants"]] == ["killed", "survived"]


def test_without_a_supervisor_the_command_says_what_to_do(tmp_path: Path) -> None:
    done = run(tmp_path, "import random; random.Random = None", AGENTMUT_UNSUPERVISED="1")
    assert done.returncode == 4, done.stderr
    error = json.loads(done.stdout)["error"]
    assert "has replaced random.Random in the process of agentmut" in error
    assert "Set `execution: {isolate: process}`" in error
    assert "bug in agentmut" not in done.stderr


def printed_with(replacing: str, expression: str) -> str:
    """What the expression is where a line has replaced something; the line before it has imported the functions."""
    code = (
        "import builtins, sys\n"
        "from agentmut._base.builtin_functions import broken_builtins, put_back_builtins\n"
        "from agentmut._base.replaced import replaced_parts\n"
        f"{replacing}\nfound = {expression}\nput_back_builtins()\nprint(*found)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("replacing", "broken"),
    [
        ("builtins.len = lambda _: 0", "builtins.len"),
        ("builtins.isinstance = lambda *_: True", "builtins.isinstance"),
        ("del builtins.getattr", "builtins.getattr"),
        ("builtins.dict = type('dict', (dict,), {})", "builtins.dict"),
        ("builtins.BaseException = None", "builtins.BaseException"),
        ("builtins.any = lambda _: 1 / 0", "builtins.any"),
        # what libraries do that watch calls, or that print more beautifully
        ("own = len; builtins.len = lambda each: own(each)", ""),
        ("builtins.print = lambda *_: None", ""),
    ],
)
def test_a_function_is_broken_that_does_something_else_than_pythons(replacing: str, broken: str) -> None:
    assert printed_with(replacing, "broken_builtins()") == broken


def test_what_was_replaced_is_found_without_any_function_of_python() -> None:
    names = "[name for name in vars(builtins) if name.islower() and not name.startswith('_')]"
    everything = f"vars(builtins).update(dict.fromkeys({names}))"
    found = printed_with(everything, "replaced_parts()").split()
    assert len(found) >= 4
    assert all(name.startswith("builtins.") for name in found)


@pytest.mark.parametrize(
    ("replacing", "named"),
    [
        ("import threading; threading.excepthook = None", "threading.excepthook"),
        ("import threading; threading.Thread.start = None", "threading.Thread.start"),
    ],
)
def test_what_no_thread_begins_without_is_named(replacing: str, named: str) -> None:
    assert printed_with(replacing, "replaced_parts()") == named


def test_files_that_an_agent_closes_one_by_one_are_its_doing(tmp_path: Path) -> None:
    done = run(
        tmp_path, "import os; [os.close(n) for n in map(int, os.listdir('/proc/self/fd')[:-1]) if n > 2]"
    )
    assert done.returncode == 0, done.stderr
    assert "has closed files of the process of agentmut, which cannot work without them" in done.stderr
    assert "bug in agentmut" not in done.stderr
    assert [mutant["status"] for mutant in json.loads(done.stdout)["mutants"]] == ["killed", "survived"]


def test_a_worker_that_an_agent_has_spoiled_ends_with_its_trial(tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text(
        "import builtins\n\nasync def run(config, input):\n"
        "    if config.prompt and 'greet' not in config.prompt: builtins.isinstance = None\n"
        "    return 'hello' if config.prompt else 'hm'\n"
    )
    isolated = PROJECT.replace("isolate: task", "isolate: process, retries: 0, timeout: 5")
    (tmp_path / "agentmut.yaml").write_text(f"{isolated}statistics: {{baseline: 20, rounds: one}}\n")
    (tmp_path / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    done = run_agentmut(tmp_path, "run", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert [mutant["status"] for mutant in json.loads(done.stdout)["mutants"]] == ["killed", "survived"]


def test_nothing_is_replaced_where_nobody_has_replaced_anything() -> None:
    code = (
        "import agentmut.cli.verbs.run_verb, agentmut.campaign.running.loop, agentmut.wire.carriers.transport\n"
        "import agentmut.trial.containment, httpx, aiohttp, sqlite3, asyncio\n"
        "from agentmut._base.replaced import replaced_parts\n"
        "print(replaced_parts())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "()\n"


def test_what_agentmut_itself_wraps_is_no_doing_of_users() -> None:
    """A wrapper of `functools.wraps` has the module of what it wraps."""
    entered = (
        "from contextlib import ExitStack; from agentmut.wire.carriers import threads\n"
        "stack = ExitStack(); threads.enter(stack)"
    )
    assert printed_with(entered, "replaced_parts()") == ""
