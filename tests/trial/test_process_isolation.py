"""Worker processes: what will not stop is killed, and nothing is left over."""

import asyncio
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.nouns.execution import Ending, Execution
from agentmut.trial import isolated_worker, isolation
from agentmut.trial.executor import Executor, RetryingExecutor, TrialRequest
from agentmut.trial.isolation import ProcessExecutor

DATA = str(Path(__file__).parents[1] / "testdata")


@pytest.fixture(autouse=True)
def short_margin(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(isolation, "MARGIN", 1.2)
    monkeypatch.syspath_prepend(DATA)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([DATA, os.environ.get("PYTHONPATH", "")]))
    yield
    assert multiprocessing.active_children() == []


@pytest.fixture
def long_margin(short_margin: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for a blocked worker to answer for its trial, on a machine with much else to do."""
    monkeypatch.setattr(isolation, "MARGIN", 4.0)


def pool(
    name: str, turns: tuple[str, ...], workers: int = 1, timeout: float | None = None
) -> ProcessExecutor:
    from isolated_agents import PATIENT, making  # type: ignore[import-not-found]  # on the path of this test

    return ProcessExecutor(making(name, turns, timeout or PATIENT), workers, timeout or PATIENT)


def execute(executor: Executor, *turns: str, one_by_one: bool = False) -> list[Execution]:
    async def everything() -> list[Execution]:
        async with executor.session():
            trials = [executor.execute(TrialRequest(None, turn, f"t{n}")) for n, turn in enumerate(turns)]
            if one_by_one:
                return [await trial for trial in trials]
            return await asyncio.gather(*trials)

    return asyncio.run(everything())


def worker_of(execution: Execution) -> str:
    return execution.trace.text.split()[-1]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


SOON = 1.0
"""Seconds of a trial that does not end by itself."""


def test_agents_that_will_not_stop_are_killed_and_their_worker_is_replaced() -> None:
    turns = ("hello", "spin", "again", "exit", "more", "killed", "last")
    found = execute(pool("run", turns, timeout=SOON), *turns, one_by_one=True)
    hello, spin, again, exited, more, killed, last = found
    assert [execution.ending for execution in (hello, again, more, last)] == [Ending.ANSWERED] * 4
    assert hello.trace.text.startswith("p hello ")
    assert (spin.ending, spin.abandoned) == (Ending.TIMEOUT, False)
    assert (exited.ending, exited.reason) == (Ending.RAISED, "the process of the agent ended (exit code 3)")
    assert killed.ending is Ending.RAISED and "exit code -9" in killed.reason
    assert len({worker_of(execution) for execution in (hello, again, more, last)}) == 4


def test_a_worker_whose_agent_stops_the_loop_is_replaced() -> None:
    seized, fine = execute(pool("seize", ("stop", "fine")), "stop", "fine", one_by_one=True)
    assert (seized.ending, seized.reason) == (Ending.RAISED, "the process of the agent ended (exit code 1)")
    assert fine.ending is Ending.ANSWERED


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("len", "has replaced builtins.len in the process of agentmut"),
        ("modules", "the agent has spoiled its process: PicklingError"),
    ],
)
def test_a_worker_whose_agent_has_taken_what_it_needs_names_that_at_once(what: str, named: str) -> None:
    spoiled, fine = execute(pool("spoil", (what, "fine")), what, "fine", one_by_one=True)
    assert spoiled.ending is Ending.RAISED
    assert named in spoiled.reason
    assert fine.ending is Ending.ANSWERED


@pytest.mark.skipif(sys.platform != "linux", reason="it finds the pipes in /proc")
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("long", "the process of the agent ended (exit code -9)"),
        ("other", "killed: it closed or overwrote the pipe of its process to agentmut"),
    ],
)
def test_a_worker_whose_agent_writes_into_its_pipe_is_killed(what: str, reason: str) -> None:
    spoiled, fine = execute(pool("spoil", (what, "fine"), timeout=SOON), what, "fine", one_by_one=True)
    assert (spoiled.ending, spoiled.reason) == (Ending.RAISED, reason)
    assert fine.ending is Ending.ANSWERED


@pytest.mark.parametrize("how", ["stop", "cancel"])
def test_a_worker_that_its_agent_has_ended_says_so_in_a_line(how: str, tmp_path: Path) -> None:
    async def seized() -> None:
        if how == "stop":
            asyncio.get_running_loop().stop()
            await asyncio.sleep(1)
        raise asyncio.CancelledError

    def work() -> None:
        sys.stderr = (tmp_path / "said").open("w")
        isolated_worker.until_ended(seized())

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    said = (tmp_path / "said").read_text()
    assert (process.exitcode, said.count("\n")) == (1, 1)
    assert said.startswith("a worker process has ended: ")


def test_agents_are_contained_in_a_process_of_multiprocessing_that_measures_itself() -> None:
    from isolated_agents import making

    def measure() -> None:
        (exited,) = execute(making("run", ("exit",))(), "exit")
        os._exit(40 if exited.ending is Ending.RAISED else 41)

    process = multiprocessing.get_context("fork").Process(target=measure)
    process.start()
    process.join()
    assert process.exitcode == 40  # and not 3, the agent's own


def test_a_setup_that_keeps_pythons_lock_is_its_own_failure_and_not_the_agents() -> None:
    stuck, fine = execute(pool("hooked", ("stuck", "fine"), timeout=SOON), "stuck", "fine", one_by_one=True)
    assert (stuck.ending, fine.ending) == (Ending.SETUP_FAILED, Ending.ANSWERED)
    assert stuck.reason.startswith("setup: killed, as the agent had not begun within")
    assert re.search(r" s, at \S+isolated_agents\.py:\d+ in \w+$", stuck.reason)


def test_a_teardown_that_stops_or_ends_its_worker_changes_no_trial(caplog: pytest.LogCaptureFixture) -> None:
    turns = ("stuck", "exit", "fine")
    found = execute(pool("torn_down", turns, timeout=SOON), *turns, one_by_one=True)
    assert [(one.ending, one.trace.text) for one in found] == [(Ending.ANSWERED, turn) for turn in turns]
    stuck, ended = (record.getMessage() for record in caplog.records)
    assert stuck.startswith("teardown of scenario stuck failed: killed: no answer within")
    assert re.search(r" s, at \S+isolated_agents\.py:\d+ in \w+$", stuck)
    assert ended == "teardown of scenario exit failed: it ended the process (exit code 3)"


@pytest.mark.parametrize(
    "turns",
    [{"exit": Ending.RAISED}, {"block": Ending.TIMEOUT, "setup": Ending.SETUP_FAILED}],
    ids=["ended", "blocked"],
)
def test_what_hooks_asked_of_a_model_is_counted_though_the_worker_is_killed(
    turns: dict[str, Ending], service: Any, monkeypatch: pytest.MonkeyPatch, long_margin: None
) -> None:
    """A reply counts 7 tokens in and 3 out; the model costs 1 and 2 dollars a million."""
    monkeypatch.setenv("MODEL", f"{service.url}/chat/completions")
    found = execute(pool("asking", tuple(turns), workers=2, timeout=SOON), *turns)
    assert [execution.ending for execution in found] == [*turns.values()]
    assert [[step.usd for step in execution.hooks] for execution in found] == [[pytest.approx(13e-6)]] * len(
        turns
    )
    assert len(service.requests) == len(turns)


def test_an_async_agent_that_blocks_its_loop_is_killed_too(long_margin: None) -> None:
    blocked, fine = execute(pool("block", ("block", "fine"), timeout=SOON), "block", "fine", one_by_one=True)
    assert (blocked.ending, fine.ending) == (Ending.TIMEOUT, Ending.ANSWERED)
    assert blocked.reason.startswith("no answer within")
    assert blocked.trace.service is not None
    assert blocked.trace.service.own > 0


def test_a_blocked_worker_that_waits_for_a_silent_service_accuses_no_agent(long_margin: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/chat/completions"
        (waited,) = execute(pool("wait", (url,), timeout=SOON), url)
    assert waited.ending is Ending.INFRASTRUCTURE
    assert waited.trace.service is not None
    assert waited.trace.service.waiting > 0
    assert not waited.abandoned


def test_faults_of_tools_happen_in_the_worker_and_their_marks_come_back() -> None:
    (execution,) = execute(pool("faulty", ("A-1",)), "A-1")
    assert execution.trace.text == "found {}"
    assert execution.footprint.marks == ("/tools/look_up/fault",)


def test_three_workers_work_side_by_side_and_are_used_again() -> None:
    turns = tuple(f"n{n}" for n in range(8))
    found = execute(pool("run", ("sleep", *turns), workers=3, timeout=SOON), *turns, "sleep", "sleep")
    assert [execution.trace.text.split()[1] for execution in found[:8]] == list(turns)
    assert len({worker_of(execution) for execution in found[:8]}) <= 3
    assert [execution.ending for execution in found[8:]] == [Ending.TIMEOUT] * 2


def test_the_time_to_import_the_agent_is_not_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MARGIN", 1.0)
    (execution,) = execute(pool("slow_to_import", ("hello",), timeout=0.9), "hello")
    assert execution.ending is Ending.ANSWERED


def test_no_more_workers_start_at_once_than_there_are_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
    found = execute(pool("noting", ("sleep",), workers=2, timeout=SOON), "sleep", "sleep")
    assert [execution.ending for execution in found] == [Ending.TIMEOUT] * 2
    assert (tmp_path / "starts").read_text().split() == ["begins", "ends"] * 2


def test_no_trial_waits_for_a_start_while_another_worker_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
    found = execute(pool("held_back", ("a", "b", "c"), workers=3), "a", "b", "c")
    assert [execution.ending for execution in found] == [Ending.ANSWERED] * 3
    assert len({worker_of(execution) for execution in found}) == 1


def test_a_worker_that_is_never_ready_ends_the_run_and_accuses_no_agent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolation, "STARTING", 0.2)
    with pytest.raises(RunError, match=r"not ready within 0.2 s: .* says nothing about the agent"):
        execute(RetryingExecutor(pool("slow_to_import", ("hello",)), retries=2), "hello")


def test_a_worker_that_cannot_import_the_agent_ends_the_run() -> None:
    with pytest.raises(RunError, match="could not import the agent: ImportError: no module named shop"):
        execute(RetryingExecutor(pool("broken", ("hello",)), retries=2), "hello")


def test_a_trial_that_no_worker_can_run_ends_the_run() -> None:
    with pytest.raises(RunError, match="could not run a trial: KeyError: 'unknown'"):
        execute(pool("run", ("hello",)), "unknown")


def test_processes_that_an_agent_started_end_with_its_worker(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    (execution,) = execute(pool("run", (f"child {note}",), timeout=SOON), f"child {note}")
    assert execution.ending is Ending.TIMEOUT
    while any(is_alive(int(pid)) for pid in note.read_text().split()):
        time.sleep(0.01)


def test_a_cancelled_trial_frees_its_worker_for_the_next() -> None:
    executor = pool("run", ("sleep", "hello"))

    async def everything() -> Execution:
        async with executor.session():
            await executor.execute(TrialRequest(None, "hello", "t0"))
            stuck = asyncio.ensure_future(executor.execute(TrialRequest(None, "sleep", "t1")))
            await asyncio.sleep(0.1)
            stuck.cancel()
            return await executor.execute(TrialRequest(None, "hello", "t2"))

    assert asyncio.run(everything()).ending is Ending.ANSWERED


PARENT = """
import asyncio, os, sys
from agentmut.trial.executor import TrialRequest
from agentmut.trial.isolation import ProcessExecutor
from isolated_agents import making

async def main(note):
    executor = ProcessExecutor(making("block", ("fine", "block")), 1, 60)
    async with executor.session():
        answer = await executor.execute(TrialRequest(None, "fine", "t0"))
        open(note, "w").write(answer.trace.text.split()[-1])
        await executor.execute(TrialRequest(None, "block", "t1"))

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.process
def test_a_stuck_worker_ends_when_the_campaign_is_killed(tmp_path: Path) -> None:
    script, note = tmp_path / "parent.py", tmp_path / "pid"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script), str(note)], cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 600
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    worker = int(note.read_text())
    time.sleep(0.2)
    assert is_alive(worker)
    parent.kill()
    parent.wait()
    while is_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(worker)
