"""SIGKILL, SIGINT and resumption: nothing finished is repeated or lost, and decisions are the same."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentmut.engine.session import open_session
from agentmut.errors import UsageError
from agentmut.measure import carry_out, measure, open_store, stored_plan
from agentmut.result import Result, read_result

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
RUN = "import sys; from agentmut.measure import measure; print(measure(sys.argv[1]).status)"


def start(projects: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", RUN, str(projects.folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def resume(projects: Any) -> Result:
    project = projects.load()
    with open_store(project) as store:
        session = open_session(project)
        return carry_out(session, stored_plan(session, store.runs()[0]), store)


def finished(folder: Path) -> list[tuple[str, int, str]]:
    with sqlite3.connect(folder / ".agentmut" / "store.db") as connection:
        found = connection.execute("select mutant, repeat, scenario from trials order by id").fetchall()
    return [tuple(row) for row in found]


def stored_trials(folder: Path) -> int:
    try:
        return len(finished(folder))
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize("point", range(8))
def test_after_sigkill_at_any_moment_no_finished_trial_is_repeated_or_lost(
    projects: Any, told: Any, point: int
) -> None:
    """Each round kills the process once a random number of trials is stored, up to nearly all of them."""
    project = projects.write(("alpha", "beta"), idle=1, extra=SLOW)
    when = random.Random(point).randrange(25 * point, 25 * point + 20)
    process = start(projects)
    while stored_trials(projects.folder) < when and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = finished(projects.folder) if when else []
    result = resume(projects) if before else measure(project)
    after = finished(projects.folder)
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)
    assert result.cost.trials == len(after)
    calls = (projects.folder / "calls.log").read_text().split()
    assert len(calls) - len(set(calls)) <= 16  # only what was under way, at most `concurrency`, ran twice
    (projects.folder / ".agentmut" / "store.db").unlink()
    assert told(measure(project)) == told(result)


def test_starting_again_after_sigkill_takes_every_finished_trial_over(projects: Any, told: Any) -> None:
    project = projects.write(("alpha", "beta"), idle=1, extra=SLOW)
    process = start(projects)
    while stored_trials(projects.folder) < 100:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = stored_trials(projects.folder)
    again = measure(project)
    assert again.cost.reused == before
    (projects.folder / ".agentmut" / "store.db").unlink()
    assert told(measure(project)) == told(again)


@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_run_as_interrupted_and_keeps_what_is_finished(
    projects: Any, told: Any, signal_sent: signal.Signals
) -> None:
    project = projects.write(("alpha", "beta"), idle=1, extra=SLOW)
    process = start(projects)
    while stored_trials(projects.folder) < 90:
        time.sleep(0.002)
    process.send_signal(signal_sent)
    output, _ = process.communicate(timeout=20)
    assert output.strip() == "interrupted"
    (path,) = (projects.folder / ".agentmut" / "runs").glob("*/result.json")
    partial = read_result(path)
    assert partial.cost.trials == stored_trials(projects.folder) >= 90
    result = resume(projects)
    assert (result.run_id, result.status) == (partial.run_id, "finished")
    assert result.cost.seconds > partial.cost.seconds
    (projects.folder / ".agentmut" / "store.db").unlink()
    assert told(measure(project)) == told(result)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda p: (p.folder / "prompt.md").write_text("- Always say alpha.\n"), "the agent's config"),
        (lambda p: p.write_agent("async def run(config, input): return ''\n"), "the agent's code"),
        (lambda p: p.write(("alpha",), idle=1), "the suite"),
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
