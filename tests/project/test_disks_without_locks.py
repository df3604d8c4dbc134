"""Some shared folders have no locks: commands work there, and say what the user has to see to."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from agentmut._base import StoreError
from agentmut._base.edits import Edit, edit_together
from agentmut._base.whole_files import locked


def test_a_disk_without_locks_is_named_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / ".agentmut"):
        pass
    edit_together(tmp_path, [Edit(tmp_path / "a", None, b"new")])
    assert (tmp_path / "a").read_bytes() == b"new"
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert all("is on a disk without locks (No locks available)" in one for one in said)


def test_an_error_of_the_work_is_not_taken_for_another_command(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError, match="of the work"), locked(tmp_path / ".agentmut"):
        raise BlockingIOError("of the work")
    there = locked(tmp_path / ".agentmut")
    with there, pytest.raises(StoreError, match="another agentmut command"), locked(tmp_path / ".agentmut"):
        pass
