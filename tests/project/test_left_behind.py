"""What a killed command leaves in temporary folders and beside files goes at the next start, and nothing else does."""

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmut._base.scratch_folders import OWNER, remove_abandoned, scratch_folder
from agentmut._base.whole_files import remove_left, write_private_parts, write_whole

HOLDS = """
import os, sys, tempfile
from pathlib import Path
from agentmut._base.scratch_folders import scratch_folder
tempfile.tempdir = sys.argv[1]
with scratch_folder() as folder:
    (folder / "private").write_text("said")
    print(folder, flush=True)
    sys.stdin.read()
"""


def held(temporary: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a process that holds a folder; return both."""
    command = [sys.executable, "-c", HOLDS, str(temporary)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    return process, Path(process.stdout.readline().decode().strip())


@pytest.mark.skipif(sys.platform == "win32", reason="without locks nothing tells what is left")
@pytest.mark.process
def test_the_folder_of_a_killed_command_goes_and_that_of_a_living_one_stays(tmp_path: Path) -> None:
    living, stays = held(tmp_path)
    killed, goes = held(tmp_path)
    try:
        killed.kill()
        killed.wait()
        others = tmp_path / "agentmut-of-somebody"
        (others / "x").mkdir(parents=True)  # without a mark
        (tmp_path / "agentmut-link").symlink_to(stays)
        assert (goes / "private").exists()
        remove_abandoned(str(tmp_path))
        assert sorted(tmp_path.iterdir()) == sorted([stays, others, tmp_path / "agentmut-link"])
        assert (stays / "private").exists()
    finally:
        living.communicate()
    assert not stays.exists()  # its owner has removed it


def test_a_mark_that_is_a_link_removes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "agentmut-trap"
    folder.mkdir()
    (tmp_path / "mine").write_text("mine")
    (folder / OWNER).symlink_to(tmp_path / "mine")
    remove_abandoned(str(tmp_path))
    assert folder.exists() and (tmp_path / "mine").read_text() == "mine"


def test_a_scratch_folder_is_private_and_gone_afterwards() -> None:
    with scratch_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        remove_abandoned(str(folder.parent))
        assert folder.exists()
    assert not folder.exists()


def test_scratch_files_go_when_they_are_old_and_nobody_writes_them(tmp_path: Path) -> None:
    old = time.time() - 7200
    left, new, own, of_an_edit = (
        tmp_path / name
        for name in (".agentmut-whole-aa", ".agentmut-whole-bb", "report.html.new", f".agentmut-{'a' * 32}")
    )
    for path in (left, new, own, of_an_edit):
        path.write_text("x")
        if path != new:
            os.utime(path, (old, old))
    remove_left(str(tmp_path))
    assert sorted(tmp_path.iterdir()) == sorted([new, own, of_an_edit])


def test_a_file_is_whole_and_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("before")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, b"after")
    assert (real.read_text(), real.stat().st_mode & 0o777, link.is_symlink()) == ("after", 0o640, True)
    assert sorted(tmp_path.iterdir()) == [link, real]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_or_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As root, `--output /dev/null` would put a file in the place of the device, for all programs of the machine."""
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    writes: list[Callable[[], None]] = [
        lambda: write_whole(pipe, b"a"),
        lambda: write_private_parts(pipe, [b"b", b"c"]),
    ]
    for write in writes:
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        write()
        reader.join()
    assert read == [b"a", b"bc"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
