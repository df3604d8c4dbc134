"""Edits of several files are made as a whole, whatever ends the process, and whoever edits at the same time."""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from agentmut._base import StoreError, UsageError, edits
from agentmut._base.edits import Edit, edit_together, finish_edits
from agentmut._base.whole_files import write_whole

OLD = {"a.yaml": b"old a\n", "b.yaml": b"old b\n", "gone.yaml": b"old\n", "new.yaml": None}
NEW = {"a.yaml": b"new a\n", "b.yaml": b"new b\n", "gone.yaml": None, "new.yaml": b"new\n"}
THEIRS = {"a.yaml.new": b"the user's own\n"}


def laid_out(root: Path) -> list[Edit]:
    """Write the old files, and return the edits that make the new ones of them."""
    root.mkdir()
    for name, content in {**OLD, **THEIRS}.items():
        if content is not None:
            (root / name).write_bytes(content)
    return [Edit(root / name, OLD[name], NEW[name]) for name in OLD]


def state_of(root: Path) -> dict[str, bytes | None]:
    """Return what the edited files hold."""
    return {name: (root / name).read_bytes() if (root / name).exists() else None for name in OLD}


def left_over(root: Path) -> set[str]:
    """Return what lies there beside the files of the user, and `.agentmut`."""
    return {path.name for path in root.iterdir()} - {*OLD, *THEIRS, ".agentmut"}


def killed_at(line: int, work: Callable[[], Any]) -> bool:
    """Do work in a child, and kill it before the `line`-th line of `edits.py`. Return whether it came that far."""
    child = os.fork()
    if child == 0:
        left = [line]

        def trace(frame: FrameType, event: str, _: object) -> Any:
            if frame.f_code.co_filename != edits.__file__:
                return None
            if event == "line":
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.process
@pytest.mark.parametrize(
    "first", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_a_kill_at_any_line_leaves_all_old_or_all_new(tmp_path: Path, first: int) -> None:
    """Each third line; all three together are every line."""
    states, line = [], first - 3
    while True:
        line += 3
        root = tmp_path / str(line)
        made = laid_out(root)
        killed = killed_at(line, partial(edit_together, root, made))
        finish_edits(root)
        states.append(state_of(root))
        assert states[-1] in (OLD, NEW), line
        assert not left_over(root), (line, left_over(root))
        assert (root / "a.yaml.new").read_bytes() == THEIRS["a.yaml.new"]
        if not killed:
            break
    assert line > 100
    assert states[0] == OLD and states[-1] == NEW
    assert states.index(NEW) > 13  # all old before the journal says so
    assert OLD not in states[states.index(NEW) :]


@pytest.mark.process
def test_a_kill_while_an_edit_is_finished_loses_nothing(tmp_path: Path) -> None:
    half = _line_of_a_half_moved_edit(tmp_path)
    line, killed = -3, True
    while killed:
        line += 4  # not every line: each takes two processes
        root = tmp_path / str(line)
        made = laid_out(root)
        assert killed_at(half, partial(edit_together, root, made))
        assert state_of(root) not in (OLD, NEW)
        killed = killed_at(line, partial(finish_edits, root))
        finish_edits(root)
        assert state_of(root) == NEW
        assert not left_over(root)
    assert line > 40


def _line_of_a_half_moved_edit(folder: Path) -> int:
    for line in range(1, 1000):
        root = folder / f"probe{line}"
        made = laid_out(root)
        killed_at(line, partial(edit_together, root, made))
        if state_of(root) not in (OLD, NEW):
            return line
    raise AssertionError("no line of an edit leaves it half moved")


def test_two_edits_of_the_same_files_are_not_mixed(tmp_path: Path) -> None:
    root = tmp_path / "p"
    made = laid_out(root)
    edit_together(root, made)
    with pytest.raises(UsageError, match="has changed since it was read"):
        edit_together(root, made)
    assert state_of(root) == NEW


def test_an_edit_is_refused_while_another_one_is_made(tmp_path: Path) -> None:
    root = tmp_path / "p"
    made = laid_out(root)
    with edits._locked(root), pytest.raises(StoreError, match="another command edits"):
        edit_together(root, made)
    assert state_of(root) == OLD


def test_a_link_within_the_project_stays_one_and_one_out_of_it_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "p"
    laid_out(root)
    (tmp_path / "elsewhere.yaml").write_bytes(b"theirs\n")
    (root / "in.yaml").symlink_to("a.yaml")
    (root / "out.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    edit_together(root, [Edit(root / "in.yaml", b"old a\n", b"through\n")])
    assert (root / "in.yaml").is_symlink() and (root / "a.yaml").read_bytes() == b"through\n"
    with pytest.raises(UsageError, match="outside of"):
        edit_together(
            root, [Edit(root / "b.yaml", b"old b\n", b"x"), Edit(root / "out.yaml", b"theirs\n", b"x")]
        )
    assert (tmp_path / "elsewhere.yaml").read_bytes() == b"theirs\n"
    assert (root / "b.yaml").read_bytes() == b"old b\n"


def test_what_cannot_be_written_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "p"
    made = laid_out(root)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        edit_together(root, made)
    assert state_of(root) == OLD
    assert not left_over(root)


def test_what_was_moved_before_a_move_failed_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "p"
    made = laid_out(root)
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if target.name == "new.yaml":  # the last of four
            raise OSError(5, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="Input/output"):
        edit_together(root, made)
    assert state_of(root) == OLD
    assert not left_over(root)


def test_permissions_stay(tmp_path: Path) -> None:
    root = tmp_path / "p"
    made = laid_out(root)
    (root / "a.yaml").chmod(0o640)
    edit_together(root, made)
    assert (root / "a.yaml").stat().st_mode & 0o777 == 0o640


NOBODY = 65_534
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")


@only_root
def test_the_owner_stays_where_root_edits(tmp_path: Path) -> None:
    root = tmp_path / "p"
    made = laid_out(root)
    os.chown(root / "a.yaml", NOBODY, NOBODY)
    edit_together(root, made)
    (root / "b.yaml").chmod(0o4750)
    os.chown(root / "b.yaml", NOBODY, 0)
    write_whole(root / "b.yaml", b"newer")
    assert [(root / name).stat().st_uid for name in ("a.yaml", "b.yaml", "new.yaml")] == [NOBODY, NOBODY, 0]
    assert (root / "b.yaml").stat().st_gid == 0


def test_what_replaces_a_private_file_is_private_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, modes = tmp_path / "p", []
    made = laid_out(root)
    for name in ("a.yaml", "b.yaml"):
        (root / name).chmod(0o600)
    synced = os.fsync

    def seen(handle: int) -> None:
        modes.append(os.fstat(handle).st_mode & 0o777)
        synced(handle)

    monkeypatch.setattr(os, "fsync", seen)
    os.umask(before := os.umask(0o022))
    edit_together(root, made)
    assert modes[:2] == [0o600, 0o600]
    assert (root / "new.yaml").stat().st_mode & 0o777 == 0o666 & ~before


def test_a_hard_link_elsewhere_keeps_the_old_content(tmp_path: Path) -> None:
    root = tmp_path / "p"
    made = laid_out(root)
    (tmp_path / "backup.yaml").hardlink_to(root / "a.yaml")
    edit_together(root, made)
    assert state_of(root) == NEW
    assert (tmp_path / "backup.yaml").read_bytes() == OLD["a.yaml"]


def test_a_link_that_takes_the_place_of_a_file_meanwhile_is_replaced_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "p", tmp_path / "outside"
    made = laid_out(root)
    outside.write_bytes(b"theirs")
    carry_out = edits._carry_out

    def after_a_race(*arguments: Any) -> None:
        (root / "a.yaml").unlink()
        (root / "a.yaml").symlink_to(outside)
        carry_out(*arguments)

    monkeypatch.setattr(edits, "_carry_out", after_a_race)
    edit_together(root, made)
    assert outside.read_bytes() == b"theirs"
    assert state_of(root) == NEW
    assert not (root / "a.yaml").is_symlink()


@only_root
@pytest.mark.parametrize("state", ["prepared", "committed"])
def test_a_journal_of_another_user_who_is_gone_is_finished(tmp_path: Path, state: str) -> None:
    root, scratch = tmp_path / "p", f".agentmut-{'ab' * 16}"
    laid_out(root)
    (root / scratch).write_bytes(b"new a\n")
    (root / ".agentmut").mkdir()
    journal = root / ".agentmut" / "edits.json"
    journal.write_text(json.dumps({"state": state, "steps": [["a.yaml", scratch]]}))
    for path in (journal, root / scratch):
        os.chown(path, NOBODY, NOBODY)
    finish_edits(root)
    assert (root / "a.yaml").read_bytes() == (NEW if state == "committed" else OLD)["a.yaml"]
    assert not journal.exists()
    assert not left_over(root)


@pytest.mark.parametrize(
    "step", [["../out.yaml", None], ["a.yaml", "../b"], ["a.yaml", "b.yaml"], ["a.yaml"], "a.yaml"]
)
def test_a_journal_of_somebody_else_is_refused_and_does_nothing(tmp_path: Path, step: Any) -> None:
    root = tmp_path / "p"
    made = laid_out(root)
    (tmp_path / "out.yaml").write_text("theirs")
    (root / ".agentmut").mkdir()
    (root / ".agentmut" / "edits.json").write_text(json.dumps({"state": "committed", "steps": [step]}))
    with pytest.raises(StoreError, match="is no journal of agentmut"):
        edit_together(root, made)
    assert (tmp_path / "out.yaml").exists()
    assert state_of(root) == OLD
