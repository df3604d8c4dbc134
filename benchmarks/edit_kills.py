"""SIGKILL at every step of an edit of the user's files: `python benchmarks/edit_kills.py [MOST]`, or every step.

Three ways in which verbs change files of the user: `suggest --apply` edits several scenario files, `init --force`
writes a project anew, and verbs with `--output` write one file. A child process makes the change and is killed before
its N-th instruction of agentmut's modules for files, for each N up to MOST, until it ends by itself. The next command
then finishes the edit, as each does when it loads a project. All files have to be old, or all new, and the user's own
`*.new` stays. No file may lie beside them but a scratch file that goes within the hour. Exits with 1 where that does
not hold.
"""

import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut._base import edits, private_files, whole_files  # noqa: E402
from agentmut._base.edits import Edit, edit_together, finish_edits  # noqa: E402
from agentmut._base.whole_files import SCRATCH  # noqa: E402
from agentmut.cli.delivering import write_output  # noqa: E402
from agentmut.usecases import starting  # noqa: E402
from benchmarks.commit import commit  # noqa: E402

WATCHED = frozenset(module.__file__ for module in (edits, private_files, whole_files, starting))
THEIRS = "a.yaml.new"
Files = Mapping[str, bytes | None]
"""The content of each file, by its name; None stands for no file."""


class Change(NamedTuple):
    """What a verb changes, and how."""

    verb: str
    old: Files
    new: Files
    make: Callable[[Path, Files, Files], object]


def _edited(root: Path, old: Files, new: Files) -> None:
    edit_together(root, [Edit(root / name, old[name], new[name]) for name in old])


def _begun(root: Path, _: Files, new: Files) -> None:
    texts = {name: content.decode() for name, content in new.items() if content is not None}
    starting.write_project(root, texts, force=True)


def _written(root: Path, _: Files, new: Files) -> None:
    for name, content in new.items():
        write_output(root / name, content or b"")


CHANGES = (
    Change(
        "suggest --apply",
        {"a.yaml": b"old a\n", "b.yaml": b"old b\n", "gone.yaml": b"old\n", "new.yaml": None},
        {"a.yaml": b"new a\n", "b.yaml": b"new b\n", "gone.yaml": None, "new.yaml": b"new\n"},
        _edited,
    ),
    Change(
        "init --force",
        {"a.yaml": b"old a\n", "prompt.md": b"old\n", ".gitignore": b"x\n", "new.md": None},
        {"a.yaml": b"new a\n", "prompt.md": b"new\n", ".gitignore": b"x\n", "new.md": b"new\n"},
        _begun,
    ),
    Change("--output", {"report.md": b"old\n"}, {"report.md": b"new\n"}, _written),
)


def main() -> None:
    """Kill each change at each step, print the counts, and exit with 1 if a state is mixed."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else sys.maxsize
    print(f"commit {commit()}\n\n| verb | kills | all old | all new | otherwise |")
    print("| --- | ---: | ---: | ---: | ---: |")
    wrong = 0
    for change in CHANGES:
        ends = _ends(change, most)
        otherwise = ends.total() - ends["all old"] - ends["all new"]
        told = f"{ends.total():,} | {ends['all old']:,} | {ends['all new']:,} | {otherwise}"
        print(f"| `{change.verb}` | {told} |", flush=True)
        wrong += otherwise
    sys.exit(bool(wrong))


def _ends(change: Change, most: int) -> Counter[str]:
    """Return what the files are after each kill."""
    ends: Counter[str] = Counter()
    step, killed = 0, True
    with tempfile.TemporaryDirectory(prefix="edit-kills-") as folder:
        while killed and step < most:
            step += 1
            root = Path(folder) / str(step)
            _lay_out(root, change.old)
            killed = _killed_at(step, partial(change.make, root, change.old, change.new))
            ends[_end_of(root, change)] += killed
    return ends


def _lay_out(root: Path, old: Files) -> None:
    root.mkdir()
    (root / THEIRS).write_bytes(b"the user's own\n")
    for name, content in old.items():
        if content is not None:
            (root / name).write_bytes(content)


def _killed_at(step: int, make: Callable[[], object]) -> bool:
    """Change files in a child that is killed before its instruction `step`; return whether it came that far."""
    child = os.fork()
    if child == 0:
        try:
            _trace_until(step)
            make()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _trace_until(step: int) -> None:
    left = [step]

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in WATCHED:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def _end_of(root: Path, change: Change) -> str:
    """Return what the next command makes of a killed change."""
    finish_edits(root)
    now = {name: (root / name).read_bytes() if (root / name).exists() else None for name in change.old}
    beside = {path.name for path in root.iterdir()} - {*change.old, THEIRS, ".agentmut"}
    left = [name for name in beside if not name.startswith(SCRATCH)]
    if left or (root / THEIRS).read_bytes() != b"the user's own\n":
        return "files left beside"
    return {str(change.old): "all old", str(change.new): "all new"}.get(str(now), "mixed")


if __name__ == "__main__":
    main()
