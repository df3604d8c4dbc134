"""SIGKILL, SIGINT and resumption: nothing finished is repeated or lost, and decisions are the same."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.session import open_session
from agentmut.nouns.result import Result
from agentmut.nouns.result_file import read_result
from agentmut.usecases.campaigns import carry_out_campaign, measure, stored_plan
from agentmut.usecases.runtime import open_store

SLOW = """
LOG = open(os.path.join(os.path.dirname(__file__), "calls.log"), "a")
inner = run
async def run(config, input):
    await asyncio.sleep(0.003 + 0.01 * uniform("latency"))
    answer = await inner(config, input)
    LOG.write(current_trial().id + "\\n")
    LOG.flush()
    return answer
"""
RUN = """
import os, sys
from pathlib import Path
from agentmut.usecases.campaigns import measure
Path(sys.argv[1], "pid").write_text(str(os.getpid()))
print(measure(sys.argv[1]).status)
"""
RESUME = """
import os, sys
from pathlib import Path
from agentmut.campaign.preparation.session import open_session
from agentmut.usecases.campaigns import carry_out_campaign, stored_plan
from agentmut.usecases.runtime import open_store
from agentmut.project.loading import load_project
Path(sys.argv[1], "pid").write_text(str(os.getpid()))
project = load_project(Path(sys.argv[1]))
with open_store(project) as store:
    session = open_session(project)
    print(carry_out_campaign(session, stored_plan(session, store.runs()[0]), store).status)
"""
WARM = Path(__file__).parents[1] / "testdata" / "warm_cli.py"
pytestmark = [pytest.mark.whole, pytest.mark.process, pytest.mark.usefixtures("warm")]


@pytest.fixture(scope="module")
def whole(make_projects: Any, told: Any) -> Any:
    """What an uninterrupted run of the same campaign says."""
    return told(measure(write(make_projects("whole"), slow="")))


def write(projects: Any, slow: str = SLOW) -> Any:
    return projects.write(("alpha", "beta"), idle=1, extra=slow)


def start(projects: Any, program: str = RUN) -> "subprocess.Popen[str]":
    """A run in a process that is forked from a warm one; its id is in the file `pid`."""
    (projects.folder / "pid").unlink(missing_ok=True)
    command = [sys.executable, "-IS", str(WARM), "-c", program, str(projects.folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def process_id(projects: Any) -> int:
    while not (told := read(projects.folder / "pid")):
        time.sleep(0.001)
    return int(told)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def kill_after(projects: Any, trials: int, program: str = RUN) -> list[tuple[str, int, str]]:
    """Kill a run once so many trials more are stored; what is stored then."""
    wanted = len(finished(projects.folder)) + trials
    process = start(projects, program)
    running = process_id(projects)
    while len(finished(projects.folder)) < wanted and process.poll() is None:
        time.sleep(0.001)
    if process.poll() is None:
        os.kill(running, signal.SIGKILL)
    process.wait()
    return finished(projects.folder)


def resume(projects: Any) -> Result:
    project = projects.load()
    with open_store(project) as store:
        session = open_session(project)
        return carry_out_campaign(session, stored_plan(session, store.runs()[0]), store)


def finished(folder: Path) -> list[tuple[str, int, str]]:
    if not (folder / ".agentmut" / "store.db").exists():
        return []
    try:
        with sqlite3.connect(folder / ".agentmut" / "store.db") as connection:
            found = connection.execute("select mutant, repeat, scenario from trials order by id").fetchall()
    except sqlite3.OperationalError:  # the tables are not there yet
        return []
    return [tuple(row) for row in found]


def test_after_five_sigkills_no_finished_trial_is_repeated_or_lost(
    projects: Any, told: Any, whole: Any
) -> None:
    """Each kill comes once a random number of further trials is stored."""
    write(projects)
    rng = random.Random(7)
    before = kill_after(projects, 1 + rng.randrange(20))
    for _ in range(4):
        after = kill_after(projects, rng.randrange(45), RESUME)
        assert after[: len(before)] == before
        before = after
    result = resume(projects)
    after = finished(projects.folder)
    assert after[: len(before)] == before
    assert len(set(after)) == len(after) == result.cost.trials
    calls = (projects.folder / "calls.log").read_text().split()
    assert len(calls) - len(set(calls)) <= 5 * 16  # a kill loses at most what was under way
    assert told(result) == whole


def test_starting_again_after_sigkill_takes_every_finished_trial_over(
    projects: Any, told: Any, whole: Any
) -> None:
    write(projects)
    before = kill_after(projects, 100)
    again = measure(projects.load())
    assert again.cost.reused == len(before)
    assert told(again) == whole


@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_run_as_interrupted_and_keeps_what_is_finished(
    projects: Any, told: Any, whole: Any, signal_sent: signal.Signals
) -> None:
    write(projects)
    process = start(projects)
    while len(finished(projects.folder)) < 90:
        time.sleep(0.002)
    process.send_signal(signal_sent)
    output, _ = process.communicate(timeout=600)
    assert output.strip() == "interrupted"
    (path,) = (projects.folder / ".agentmut" / "runs").glob("*/result.json")
    partial = read_result(path)
    assert partial.cost.trials == len(finished(projects.folder)) >= 90
    result = resume(projects)
    assert (result.run_id, result.status) == (partial.run_id, "finished")
    assert result.cost.seconds > partial.cost.seconds
    assert told(result) == whole


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda p: (p.folder / "prompt.md").write_text("- Always say alpha.\n"), "the agent's config"),
        (lambda p: p.write_agent("async def run(config, input): return ''\n"), "the agent's code"),
        (lambda p: p.write(("alpha",), idle=0, scenario=lambda word: {"threshold": 0.5}), "the suite"),
    ],
)
def test_a_run_whose_project_has_changed_is_not_resumed(projects: Any, change: Any, named: str) -> None:
    measure(projects.write(("alpha",), idle=0, budget={"trials": 50}))
    change(projects)
    with pytest.raises(UsageError, match=f"cannot be resumed: .*{named}.*`agentmut run`"):
        resume(projects)


def test_a_plan_of_another_version_is_not_resumed(projects: Any) -> None:
    project = projects.write(("alpha",), idle=0, budget={"trials": 50})
    measure(project)
    with open_store(project) as store:
        stored = store.runs()[0]._replace(plan='{"unknown": 1}')
        with pytest.raises(UsageError, match="written by another version"):
            stored_plan(open_session(project), stored)


def test_a_fresh_run_that_is_resumed_still_takes_nothing_over(projects: Any) -> None:
    measure(projects.write(("alpha",), idle=0))
    stopped = measure(projects.write(("alpha",), idle=0, budget={"trials": 50}), fresh=True)
    projects.write(("alpha",), idle=0)
    result = resume(projects)
    assert (stopped.cost.trials, result.status, result.cost.reused) == (50, "finished", 0)
