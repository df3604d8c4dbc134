"""Edits of several user files at once: all of them or none, however the process ends.

The new contents are written beside the files under names that nobody can guess. A journal in `.agentmut` says what is
to be put where; once it says `committed`, the edit is done, by this process or by the next command that finds it there.
"""

import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base.errors import StoreError, UsageError
from agentmut._base.private_files import PRIVATE_FOLDER, make_private_folder, write_private
from agentmut._base.whole_files import first_mode, give_owner_and_mode, let_go, lock_at_once

JOURNAL = "edits.json"
LOCK = "edits.lock"
_SCRATCH = re.compile(r"\.agentmut-[0-9a-f]{32}")


class Edit(NamedTuple):
    """A file, its content before the edit, and its content afterwards; None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None


class _Step(NamedTuple):
    path: Path
    scratch: Path | None
    """What is moved to the path; None: the path is removed."""


def edit_together(root: Path, edits: Sequence[Edit]) -> None:
    """Edit files below a project's root, all or none. A link within the root stays a link.

    Raises `UsageError` where a file no longer holds what it held before, or is outside of the root, perhaps by a link;
    `StoreError` while another command edits; `OSError` where the disk refuses. Nothing is changed then.
    """
    root = root.resolve()
    with _locked(root):
        _finish(root)
        found = [edit._replace(path=_place(root, edit.path)) for edit in edits]
        for edit in found:
            _check_unchanged(edit)
        steps = [_Step(e.path, None if e.after is None else e.path.with_name(_scratch_name())) for e in found]
        try:
            _write_journal(root, "prepared", steps)
            for edit, step in zip(found, steps, strict=True):
                _write_scratch(edit, step)
            _write_journal(root, "committed", steps)
        except BaseException:
            _undo(root, steps)
            raise
        try:
            _carry_out(root, steps)
        except OSError as error:
            _take_back(root, found, steps, error)
            raise


def finish_edits(root: Path) -> None:
    """Finish, or undo, an edit that a killed command left behind. Does nothing while another command edits."""
    root = root.resolve()
    if not (root / PRIVATE_FOLDER / JOURNAL).exists():
        return
    with suppress(StoreError), _locked(root):
        _finish(root)


def _finish(root: Path) -> None:
    for unfinished in (root / PRIVATE_FOLDER).glob(f"{JOURNAL}.*"):  # its writer was killed
        unfinished.unlink(missing_ok=True)
    journal = _read_journal(root)
    if journal is None:
        return
    state, steps = journal
    if state == "committed":
        _carry_out(root, steps)
    else:
        _undo(root, steps)


def _carry_out(root: Path, steps: Sequence[_Step]) -> None:
    """Move what is not moved yet; the journal goes last."""
    for step in steps:
        if step.scratch is None:
            step.path.unlink(missing_ok=True)
        elif step.scratch.exists():
            step.scratch.replace(step.path)
    (root / PRIVATE_FOLDER / JOURNAL).unlink(missing_ok=True)


def _take_back(root: Path, edits: Sequence[Edit], steps: Sequence[_Step], error: OSError) -> None:
    """Undo the moves so far, as an edit of its own, so that a kill meanwhile leaves all new or all old."""
    moved = [e for e, s in zip(edits, steps, strict=True) if s.scratch is None or not s.scratch.exists()]
    back = [Edit(e.path, e.after, e.before) for e in moved]
    returning = [_Step(e.path, None if e.after is None else e.path.with_name(_scratch_name())) for e in back]
    try:
        for edit, step in zip(back, returning, strict=True):
            _write_scratch(edit, step)
        _write_journal(root, "committed", returning)
        for step in steps:
            if step.scratch is not None:
                step.scratch.unlink(missing_ok=True)
        _carry_out(root, returning)
    except OSError as again:
        raise StoreError(
            f"an edit is half done ({error}, then {again}): the next agentmut command in {root} finishes it."
        ) from error


def _undo(root: Path, steps: Sequence[_Step]) -> None:
    with suppress(OSError):
        for step in steps:
            if step.scratch is not None:
                step.scratch.unlink(missing_ok=True)
        (root / PRIVATE_FOLDER / JOURNAL).unlink(missing_ok=True)


def _place(root: Path, path: Path) -> Path:
    """Return the target of a link, or the path itself."""
    found = path.resolve()
    if not found.is_relative_to(root):
        raise UsageError(f"{found} is outside of {root}: agentmut does not edit it. Edit it by hand.")
    return found


def _check_unchanged(edit: Edit) -> None:
    now = edit.path.read_bytes() if edit.path.exists() else None
    if now != edit.before:
        raise UsageError(
            f"{edit.path} has changed since it was read: nothing was written. Run the command again."
        )


def _scratch_name() -> str:
    return f".agentmut-{secrets.token_hex(16)}"


def _write_scratch(edit: Edit, step: _Step) -> None:
    if step.scratch is None or edit.after is None:
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    replaced = edit.path if edit.path.exists() else None
    mode = first_mode(replaced)
    with open(step.scratch, "wb", opener=lambda path, _: os.open(path, flags, mode)) as file:
        file.write(edit.after)
        file.flush()
        os.fsync(file.fileno())
    if replaced is not None:
        give_owner_and_mode(replaced, step.scratch)


def _write_journal(root: Path, state: str, steps: Sequence[_Step]) -> None:
    told = [[str(s.path.relative_to(root)), s.scratch and s.scratch.name] for s in steps]
    folder = root / PRIVATE_FOLDER
    unfinished = folder / f"{JOURNAL}.{secrets.token_hex(8)}"
    try:
        write_private(unfinished, json.dumps({"state": state, "steps": told}))
        unfinished.replace(folder / JOURNAL)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _read_journal(root: Path) -> tuple[str, list[_Step]] | None:
    """Return the content of the journal; None if there is none. Raise `StoreError` for a foreign file."""
    path = root / PRIVATE_FOLDER / JOURNAL
    try:
        told: Any = json.loads(path.read_text("utf-8"))
        return told["state"], [_step(root, *one) for one in told["steps"]]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(f"{path} is no journal of agentmut ({error}): look at it, then remove it.") from None


def _step(root: Path, name: str, scratch: str | None) -> _Step:
    path = (root / name).resolve()
    if not path.is_relative_to(root) or (scratch is not None and not _SCRATCH.fullmatch(scratch)):
        raise ValueError(f"it names {name!r} and {scratch!r}")
    return _Step(path, None if scratch is None else path.with_name(scratch))


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    try:
        import fcntl  # noqa: F401  (only whether there is one)
    except ImportError:  # no such lock on this system
        yield
        return
    folder = root / PRIVATE_FOLDER
    try:
        make_private_folder(folder)
        handle, owner = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600), os.getpid()
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}. Check that it is writable.") from None
    try:
        try:
            lock_at_once(handle, folder)
        except BlockingIOError:
            raise StoreError(
                f"another command edits the files of {root}. Wait until it ends, then try again."
            ) from None
        yield
    finally:
        let_go(handle, owner)
