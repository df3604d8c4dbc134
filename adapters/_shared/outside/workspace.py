"""The workspace of a coding agent: a copy for each trial, and its files after the run."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from agentmut._base import PRIVATE_FOLDER, AdapterError, UnavailableError
from agentmut.nouns import ChangeKind, FileChange

LONGEST = 64_000
"""Bytes of a file whose text is kept."""
MOST = 100
"""Changed files that are listed."""
_ABOUT_GIT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")
"""Variables by which git would find another repository than that of the folder it runs in."""
_OTHERS = frozenset({".git", PRIVATE_FOLDER, "__pycache__", "node_modules", ".venv", "venv"})
"""Folders that are not copied where there is no git to say what is ignored."""
_START = ("-c", "user.name=agentmut", "-c", "user.email=agentmut@localhost", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Workspace:
    """A folder of the user's, which is only read."""

    folder: Path
    shared: tuple[str, ...] = ()
    """Folders in it that all copies share by a link, such as `node_modules`."""

    def copy(self, target: Path, texts: Mapping[str, str], gone: Iterable[str]) -> "WorkspaceCopy":
        """Copy the files to `target`, with these texts replacing the originals, and without the files in `gone`.

        Files that git ignores are not copied; the copy of a git repository is one, too, with a single commit.
        Raises `UnavailableError` where the disk has no room.
        """
        try:
            for path in listed(self.folder):
                if path.partition("/")[0] not in self.shared:
                    _copy_file(self.folder, path, target)
            _write(target, texts, gone)
            if _is_repository(self.folder):
                _begin_history(target)
            for name in self.shared:
                if (self.folder / name).exists():
                    (target / name).symlink_to((self.folder / name).resolve())
        except OSError as error:
            raise UnavailableError(f"the workspace cannot be copied: {error}") from error
        return WorkspaceCopy(self, target, dict(texts), _stamps(target, self.shared))


@dataclass(frozen=True)
class WorkspaceCopy:
    """The copy of one trial."""

    source: Workspace
    folder: Path
    texts: Mapping[str, str]
    """Files that were written in the place of the source's."""
    began: Mapping[str, tuple[int, int]]
    """Size and time of each file when the run began."""

    def changes(self) -> tuple[tuple[FileChange, ...], int]:
        """Return what became of the files, by path, and how many further files have changed."""
        now = _stamps(self.folder, self.source.shared)
        touched = sorted(path for path in {*self.began, *now} if self.began.get(path) != now.get(path))
        found = [change for path in touched if (change := self._change(path, path in now))]
        return tuple(found[:MOST]), max(0, len(found) - MOST)

    def _change(self, path: str, is_there: bool) -> FileChange | None:
        before = self._original(path) if path in self.began else None
        after = _bytes(self.folder / path) if is_there else None
        if before == after:
            return None
        kind = ChangeKind.ADDED if before is None else ChangeKind.CHANGED
        old, new = _text(before or b""), _text(after or b"")
        diff = "" if old is None or new is None else _diff(path, old, new)
        return FileChange(
            path=path,
            kind=kind if is_there else ChangeKind.REMOVED,
            text=new if is_there else None,
            diff=diff,
        )

    def _original(self, path: str) -> bytes | None:
        if path in self.texts:
            return self.texts[path].encode()
        return _bytes(self.source.folder / path)


def variables_in(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program in a copy: no variable leads back to the user's folder."""
    return {
        **{name: value for name, value in variables.items() if name not in _ABOUT_GIT},
        "PWD": str(folder),
    }


def listed(folder: Path) -> tuple[str, ...]:
    """Return the paths of a folder's files; in a git repository, without the ignored files."""
    names = _git_files(folder) if _is_repository(folder) else None
    found = names if names is not None else tuple(_walked(folder))
    return tuple(path for path in found if PRIVATE_FOLDER not in path.split("/"))


def _git_files(folder: Path) -> tuple[str, ...] | None:
    done = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    if done is None or done.returncode:
        return None
    return tuple(path for path in os.fsdecode(done.stdout).split("\0") if path)


def _walked(folder: Path) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _OTHERS)
        linked = [name for name in folders if Path(here, name).is_symlink()]
        yield from (Path(here, name).relative_to(folder).as_posix() for name in sorted([*files, *linked]))


def _is_repository(folder: Path) -> bool:
    done = _git(folder, "rev-parse", "--is-inside-work-tree")
    return done is not None and done.stdout.strip() == b"true"


def _git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes] | None":
    """Run git in a folder; return None if git is not installed."""
    variables = {name: value for name, value in os.environ.items() if name not in _ABOUT_GIT}
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, env=variables, check=False
        )
    except FileNotFoundError:
        return None


def _begin_history(folder: Path) -> None:
    """Make the copy a git repository, so that the agent can ask git for its own changes."""
    for step in (("init", "-q"), ("add", "-A"), (*_START, "commit", "-q", "--no-verify", "-m", "start")):
        done = _git(folder, "-c", "core.hooksPath=/dev/null", "-c", "init.templateDir=", *step)
        if done is not None and done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise AdapterError(f"git cannot begin a history in the copy of the workspace: {said}")


def _copy_file(folder: Path, path: str, target: Path) -> None:
    """Copy one file; a link out of the folder becomes a copy of its target, so that no trial can write there."""
    source, copied = folder / path, target / path
    copied.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink() and _stays_inside(source, folder):
        copied.symlink_to(source.readlink())
    elif source.is_dir():
        shutil.copytree(source, copied, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    elif source.is_file():
        shutil.copy2(source, copied)


def _stays_inside(link: Path, folder: Path) -> bool:
    return not link.readlink().is_absolute() and link.resolve().is_relative_to(folder.resolve())


def _write(folder: Path, texts: Mapping[str, str], gone: Iterable[str]) -> None:
    for path in gone:
        (folder / path).unlink(missing_ok=True)
    for path, text in texts.items():
        file = folder / path
        if not file.is_file() or file.read_text("utf-8", "replace") != text:  # its line ends stay as they are
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)  # it may be a link to another file of the copy
            file.write_bytes(text.encode())


def _stamps(folder: Path, shared: Iterable[str]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for path in listed(folder):
        if path.partition("/")[0] in shared or "__pycache__" in path.split("/"):
            continue
        try:
            stat = (folder / path).stat()
        except OSError:  # it is listed by git and has gone, or is a link to nothing
            continue
        found[path] = (stat.st_size, stat.st_mtime_ns)
    return found


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def _text(held: bytes) -> str | None:
    if len(held) > LONGEST or b"\0" in held:
        return None
    return held.decode("utf-8", "replace")


def _diff(path: str, old: str, new: str) -> str:
    lines = unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    return "".join(f"{line}\n" for line in lines)
