"""SIGKILL of agentmut ends the programs of its agents, their children and its workers; a next start finds all free."""

import multiprocessing
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from agentmut._base.orphans import GroupWatch, Leash
from agentmut._base.supervision import die_with_parent
from agentmut.trial.isolated_worker import GROUPED, serve

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
LIMIT = 600
PROGRAM = """#!/bin/sh
sleep 600 &
child=$!
setsid sleep 600 &
echo "$$ $child $! $1" > pids.new
mv pids.new pids
wait
"""
WORKER = (
    "import os, pathlib, subprocess, time\ndef run(config, input):\n"
    "    child = subprocess.Popen(['sleep', '600'])\n"
    "    away = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    "    pathlib.Path('pids.new').write_text(f'{os.getpid()} {child.pid} {away.pid} none')\n"
    "    os.rename('pids.new', 'pids')\n    time.sleep(600)\n"
)
KILLED_BETWEEN = """
import asyncio, os, pathlib, signal
from agentmut._base import GroupWatch
from agentmut.adapters._shared.outside import programs

def killed(*ignored):
    note = pathlib.Path({note!r})
    while not note.exists():
        pass
    os.kill(os.getpid(), signal.SIGKILL)

class Listener(programs._Listener):
    connection_made = killed  # while `subprocess_exec` is at work

GroupWatch.hold = killed
if {early}:
    programs._Listener = Listener
line = 'sleep 600 & child=$!; setsid sleep 600 & echo "$$ $child $!" > {note}.new; mv {note}.new {note}; wait'
launch = programs.Launch(("/bin/sh", "-c", line), pathlib.Path.cwd(), os.environ)
asyncio.run(programs.run_program(launch, programs.Output()))
"""


def write(folder: Path, agent: str) -> Path:
    (folder / "agent.sh").write_text(PROGRAM)
    (folder / "agent.sh").chmod(0o755)
    (folder / "my_agent.py").write_text(WORKER)
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    (folder / "agentmut.yaml").write_text(
        f'version: 1\nagent:\n  {agent}\n  config: {{prompt: "Always greet. Be brief."}}\n'
        "mutation: {operators: [prompt.drop_instruction]}\n"
        "execution: {concurrency: 1, timeout: 300, isolate: process}\n"
    )
    return folder


def killed_amid_its_agent(project: Path, temporary: Path) -> tuple[list[int], str]:
    """Run until the agent is there, and kill agentmut; the ids of the agent and its children, and its scratch file."""
    (project / "pids").unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", "from agentmut.cli import main; main()", "run", "--yes"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=said, stderr=said)
        until = time.monotonic() + LIMIT
        while not (project / "pids").exists():
            assert process.poll() is None, said.seek(0) or said.read()
            assert time.monotonic() < until
            time.sleep(0.02)
        *processes, scratch = (project / "pids").read_text().split()
        process.kill()
        process.wait()
    return [int(process) for process in processes], scratch


def gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_gone(*processes: int) -> None:
    until = time.monotonic() + LIMIT
    while not all(map(gone, processes)):
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_a_killed_command_leaves_no_program_no_child_and_no_file(tmp_path: Path) -> None:
    project, temporary = tmp_path / "project", tmp_path / "temporary"
    project.mkdir()
    temporary.mkdir()
    write(project, 'adapter: command\n  command: ["./agent.sh", "{input_file}"]')
    for _ in range(2):  # the second start has the store
        processes, scratch = killed_amid_its_agent(project, temporary)
        wait_until_gone(*processes)
        until = time.monotonic() + LIMIT
        while Path(scratch).parent.exists():
            assert time.monotonic() < until
            time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_a_killed_command_leaves_no_worker_and_no_child_of_it(tmp_path: Path) -> None:
    write(tmp_path, "adapter: python\n  run: my_agent:run")
    processes, _ = killed_amid_its_agent(tmp_path, tmp_path)
    wait_until_gone(*processes)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize("moment", ["before it is told", "while the program starts"])
def test_a_kill_before_the_watch_knows_the_program_ends_it_all_the_same(tmp_path: Path, moment: str) -> None:
    """The watch is there before the program, and knows it by a variable of its environment."""
    note = tmp_path / "pids"
    script = KILLED_BETWEEN.format(note=str(note), early=moment == "while the program starts")
    killed = subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert killed.returncode == -signal.SIGKILL
    wait_until_gone(*(int(word) for word in note.read_text().split()))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_a_worker_whose_parent_was_killed_before_it_was_watched_runs_no_code_of_users() -> None:
    ours, theirs = multiprocessing.Pipe()
    imported: list[int] = []
    told = (lambda: imported.append(1), theirs, theirs, dict(os.environ))
    worker = threading.Thread(target=serve, args=told)
    group = os.getpgrp()
    worker.start()
    assert ours.recv() == GROUPED
    ours.close()
    worker.join()
    assert not imported
    os.setpgid(0, group)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
def test_a_forked_process_on_a_leash_ends_with_the_other_and_outlives_a_leash_that_is_taken_off() -> None:
    ends, held = os.pipe()  # is closed when the forked process has ended
    parent = os.fork()
    if not parent:
        leash = Leash()
        if not os.fork():
            leash.put_on()
            os.close(ends)
            time.sleep(600)
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(held)
    os.waitpid(parent, 0)
    assert select.select([ends], [], [], LIMIT)[0]
    os.close(ends)
    leash = Leash()
    child = os.fork()
    if not child:
        leash.put_on()
        time.sleep(0.3)
        os._exit(7)
    leash.take_off()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_watch_that_is_dismissed_leaves_the_group_alone() -> None:
    watch = GroupWatch()
    process = subprocess.Popen(
        ["sleep", "600"], start_new_session=True, env={**os.environ, **watch.variables}
    )
    watch.hold(process.pid)
    watch.dismiss()
    time.sleep(0.2)
    assert process.poll() is None
    process.kill()
    process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="processes out of the group are found in /proc")
def test_a_watch_that_is_released_ends_who_has_left_the_group_and_leaves_the_folder(tmp_path: Path) -> None:
    watch = GroupWatch(tmp_path)
    marked = {**os.environ, **watch.variables}
    of_the_group, left = (
        subprocess.Popen(["sleep", "600"], start_new_session=True, env=marked) for _ in range(2)
    )
    watch.hold(of_the_group.pid)
    watch.release()
    of_the_group.wait()
    left.wait()
    assert tmp_path.exists()


@pytest.mark.skipif(
    sys.platform != "linux", reason="the system tells a process of its parent's end on Linux alone"
)
def test_a_process_whose_parent_ended_before_it_could_ask_for_the_signal_ends_at_once() -> None:
    """A parent that was killed right after the fork: the process has another parent by now."""
    codes = []
    for parent in (os.getpid(), os.getpid() + 1):
        child = os.fork()
        if not child:
            die_with_parent(parent)
            os._exit(7)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    assert codes == [7, 1]
