"""SIGKILL of agentmut ends the programs of its agents, their children and its workers; a next start finds all free."""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agentmut._base.orphans import GroupWatch
from agentmut._base.supervision import die_with_parent

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
LIMIT = 120
PROGRAM = """#!/bin/sh
sleep 600 &
echo "$$ $! $1" > pids.new
mv pids.new pids
wait
"""
WORKER = (
    "import os, pathlib, subprocess, time\ndef run(config, input):\n"
    "    child = subprocess.Popen(['sleep', '600'])\n"
    "    pathlib.Path('pids.new').write_text(f'{os.getpid()} {child.pid} none')\n"
    "    os.rename('pids.new', 'pids')\n    time.sleep(600)\n"
)


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


def killed_amid_its_agent(project: Path, temporary: Path) -> tuple[int, int, str]:
    """Run until the agent is there, and kill agentmut; the ids of the agent and its child, and its scratch file."""
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
        program, child, scratch = (project / "pids").read_text().split()
        while not is_watched(program):
            assert time.monotonic() < until
            time.sleep(0.02)
        process.kill()
        process.wait()
    return int(program), int(child), scratch


def is_watched(program: str) -> bool:
    """Whether the watch of the program's group is there: it starts just after the program, which may be here first."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # gone meanwhile
            if process.read_bytes().split(b"\0")[3:5] == [b"agentmut-watch", program.encode()]:
                return True
    return False


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
        program, child, scratch = killed_amid_its_agent(project, temporary)
        wait_until_gone(program, child)
        until = time.monotonic() + LIMIT
        while Path(scratch).parent.exists():
            assert time.monotonic() < until
            time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_a_killed_command_leaves_no_worker_and_no_child_of_it(tmp_path: Path) -> None:
    write(tmp_path, "adapter: python\n  run: my_agent:run")
    program, child, _ = killed_amid_its_agent(tmp_path, tmp_path)
    wait_until_gone(program, child)


def test_a_watch_that_is_dismissed_leaves_the_group_alone() -> None:
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    GroupWatch(process.pid).dismiss()
    time.sleep(0.2)
    assert process.poll() is None
    process.kill()
    process.wait()


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
