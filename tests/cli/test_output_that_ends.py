"""A reader that leaves, a closed or full output, a full disk and a read-only folder: documented codes, nothing lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process

AGENT = 'def run(config, input):\n    return "hello" if "greet" in config.prompt else "hm"\n'
PROJECT = (
    "version: 1\nagent: {adapter: python, run: 'my_agent:run', config: {prompt: 'Always greet. Be brief.'}}\n"
    "suite: {scenarios: s.yaml}\nmutation: {operators: [prompt.drop_instruction]}\n"
    "statistics: {baseline: 20, rounds: one, n_max: 20}\n"
)
RUNS = '[{"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": [{"role": "user", "content": "hi"}]}]'
RESUME = ("resume", "--trials", "4000")
REPORT = ("report", "--format", "markdown")
STATES = ("fresh", "ran", "budgeted", "shards")
"""What has happened before: nothing, a run, a run that a budget ended, two shards."""
VERBS = {
    ("run", "--yes"): "fresh",
    RESUME: "budgeted",
    REPORT: "ran",
    (*REPORT, "--output", "r.md"): "ran",
    ("merge", "shard1", "shard2"): "shards",
    ("baseline", "save", "--trials", "40", "--yes"): "fresh",
    ("suggest", "--apply", "all"): "ran",
    ("import", "runs.json"): "fresh",
    ("store", "copy", "copied.db"): "ran",
    ("run", "--yes", "--json"): "ran",
}
each_verb = pytest.mark.parametrize("arguments", VERBS, ids=" ".join)


class Done(NamedTuple):
    code: int
    out: str
    err: str


def agentmut(folder: Path, arguments: tuple[str, ...], before: str = "", pipe: str = "") -> Done:
    """Run the command in a shell, after something and with its output going somewhere."""
    command = f'{before} "$@" {pipe}'
    done = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}", "bash", *AGENTMUT, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def write(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    (folder / "agentmut.yaml").write_text(PROJECT)
    (folder / "runs.json").write_text(RUNS)


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Projects in each state; tests copy them."""
    root = tmp_path_factory.mktemp("states")
    for state in STATES:
        write(root / state)
    assert agentmut(root / "ran", ("run", "--yes")).code == 0
    assert agentmut(root / "ran", ("suggest",)).code == 0
    assert agentmut(root / "budgeted", ("run", "--yes", "--trials", "25")).code == 3
    first, second = root / "shards" / "shard1", root / "shards" / "shard2"
    write(first)
    assert agentmut(first, ("run", "--yes", "--baseline-only")).code == 0
    shutil.copytree(first, second)
    for number, folder in enumerate((first, second), 1):
        assert agentmut(folder, ("run", "--yes", "--shard", f"{number}/2")).code == 0
    return root


def laid_out(states: Path, arguments: tuple[str, ...], folder: Path) -> Path:
    return Path(shutil.copytree(states / VERBS[arguments], folder / "project"))


@each_verb
def test_a_reader_that_leaves_changes_no_exit_code(
    states: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    project = laid_out(states, arguments, tmp_path)
    done = agentmut(project, arguments, pipe="| true")
    assert (done.code, done.err if "Traceback" in done.err else "") == (0, ""), done
    assert not unsound(project)


WRITER = """
from agentmut.cli.streams import keep_streams
keep_streams()
import sys
with open("theirs.txt", "w") as file:
    print("what is printed")
    print("and an error", file=sys.stderr)
    file.write("its own")
assert sys.stdin.read() == ""
"""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_what_is_printed_to_a_closed_stream_lands_in_no_file(tmp_path: Path, closed: str) -> None:
    (tmp_path / "writer.py").write_text(WRITER)
    done = subprocess.run(
        ["bash", "-c", f'"$0" -S writer.py < /dev/null {closed}', sys.executable],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.pathsep.join(sys.path)}"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done
    assert (tmp_path / "theirs.txt").read_text() == "its own"


def test_a_closed_output_is_no_error_of_a_verb(states: Path) -> None:
    """Started anew: the process that is forked from has all its streams."""
    done = subprocess.run(
        ["bash", "-c", '"$0" -c "from agentmut.cli import main; main()" report >&-', sys.executable],
        cwd=states / "ran",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not unsound(states / "ran")


def test_the_head_of_a_report_is_all_that_is_read_and_its_code_is_0(states: Path) -> None:
    done = agentmut(states / "ran", ("report",), pipe="| head -1")
    assert done.code == 0
    assert len(done.out.splitlines()) == 1
    assert not done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_an_output_without_room_is_4_and_the_run_is_kept(states: Path, tmp_path: Path) -> None:
    project = laid_out(states, ("run", "--yes"), tmp_path)
    done = agentmut(project, ("run", "--yes"), pipe="> /dev/full")
    assert done.code == 4
    assert "No space left on device: the output could not be written whole" in done.err
    assert "Traceback" not in done.err
    assert agentmut(project, ("report",)).code == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of six megabytes, which only root can mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, but: int) -> None:
    free = os.statvfs(disk)
    (disk / "filling").write_bytes(b"x" * (free.f_bavail * free.f_frsize - but))


@pytest.mark.parametrize("arguments", [verb for verb in VERBS if verb != REPORT], ids=" ".join)
def test_a_full_disk_is_4_and_the_same_command_works_once_there_is_room(
    states: Path, small_disk: Path, arguments: tuple[str, ...]
) -> None:
    project = laid_out(states, arguments, small_disk)
    suite, trials = (project / "s.yaml").read_text(), stored(project)
    fill(small_disk, but=0)
    done = agentmut(project, arguments)
    assert done.code == 4, done
    assert "Make room" in done.err or "Free some space" in done.err or "whether it is full" in done.err
    assert "Traceback" not in done.err
    assert (project / "s.yaml").read_text() == suite
    (small_disk / "filling").unlink()
    assert not unsound(project)
    assert stored(project) >= trials
    assert agentmut(project, arguments).code == 0


@pytest.mark.parametrize(
    "arguments", [RESUME, ("suggest", "--apply", "all"), (*REPORT, "--output", "r.md")], ids=" ".join
)
def test_a_read_only_disk_changes_nothing_and_is_said(
    states: Path, small_disk: Path, arguments: tuple[str, ...]
) -> None:
    project = laid_out(states, arguments, small_disk)
    before = stored(project)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = agentmut(project, arguments)
    assert done.code in (2, 4)
    assert "read-only" in done.err.casefold().replace("readonly", "read-only")  # SQLite writes it in one word
    assert "Traceback" not in done.err
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert stored(project) == before
    assert agentmut(project, arguments).code == 0


def stored(project: Path) -> set[tuple[int, str]]:
    """Return the trials of the project's own store."""
    path = project / ".agentmut" / "store.db"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as store:
        made = store.execute("select 1 from sqlite_master where name = 'trials'").fetchone()
        return set(store.execute("select id, key from trials").fetchall()) if made else set()


def unsound(project: Path) -> list[str]:
    """Return what is wrong with the stores below a folder."""
    said = []
    for path in project.rglob("*.db"):
        with closing(sqlite3.connect(path)) as store:
            said.append(store.execute("pragma integrity_check").fetchone()[0])
    return [one for one in said if one != "ok"]
