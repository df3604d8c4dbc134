"""Ctrl-C at the moment in which a command prints its JSON document: stdout has one document, or the beginning of it."""

import array
import fcntl
import json
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest

from tests.cli.test_supervised_command import LIMIT, once_stuck, start, write

pytestmark = pytest.mark.process

ENDS_LATE = (
    "import asyncio, atexit, pathlib, time\natexit.register(time.sleep, 600)\nasync def run(config, input):\n"
    "    pathlib.Path('here').touch()\n    await asyncio.sleep(600)\n"
)
"""An agent that waits, and a process that does not end when its work is done."""
PIPE = 65536
"""Bytes that a pipe takes while nobody reads it."""


def unread(process: "subprocess.Popen[str]") -> int:
    assert process.stdout
    count = array.array("i", [0])
    fcntl.ioctl(process.stdout, termios.FIONREAD, count)
    return count[0]


def wait_for_unread(process: "subprocess.Popen[str]", least: int) -> None:
    until = time.monotonic() + LIMIT
    while unread(process) < least:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)


def long_list(folder: Path) -> Path:
    """Return a project whose list of mutants is longer than a pipe takes."""
    project = write(folder)
    settings = (project / "agentmut.yaml").read_text()
    rules = " ".join(f"Always say the word number {each}." for each in range(100))
    (project / "agentmut.yaml").write_text(settings.replace("Always greet the user. Be brief.", rules))
    return project


def test_a_second_ctrl_c_after_the_document_adds_no_other_one(tmp_path: Path) -> None:
    process = start(write(tmp_path, ENDS_LATE), UNHEARD=LIMIT, HEARD=LIMIT, LEAVING_STOPPED=LIMIT)
    once_stuck(tmp_path, process)
    process.send_signal(signal.SIGINT)
    wait_for_unread(process, 1)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert json.loads(output)["status"] == "interrupted"


def test_a_document_that_is_being_printed_is_printed_whole_after_ctrl_c(tmp_path: Path) -> None:
    process = start(long_list(tmp_path), "mutants", UNHEARD=LIMIT)
    wait_for_unread(process, PIPE)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    output, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, said
    assert len(json.loads(output)["mutants"]) == 100


def test_a_second_ctrl_c_ends_a_command_whose_document_nobody_reads(tmp_path: Path) -> None:
    process = start(long_list(tmp_path), "mutants", UNHEARD=LIMIT)
    wait_for_unread(process, PIPE)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=LIMIT) == 130
    output, _ = process.communicate(timeout=LIMIT)
    assert '"exit_code"' not in output
