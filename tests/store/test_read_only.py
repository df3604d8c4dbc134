"""A store on a disk that cannot be written is read there; writing is an error, and nothing of the folder changes."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agentmut._base.errors import StoreError
from agentmut.store.store import Store
from tests.store.test_fixed_sets import FORMAT_1, trial

ROOT = Path(__file__).parents[2]
AGENT = "def run(config, input):\n    return 'hello' if 'greet' in config.prompt else 'hm'\n"
PROJECT = """
version: 1
agent: {adapter: python, run: "my_agent:run", config: {prompt: "Always greet the user. Be brief."}}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 20, rounds: one}
"""
SCENARIO = "- {name: s, input: hi, evaluators: [{contains: hello}]}\n"
READING = (
    ["report"],
    ["trials"],
    ["coverage"],
    ["rescore"],
    ["trend"],
    ["plan"],
    ["clean", "--dry-run"],
)


@contextmanager
def unwritable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The system says that nothing in the folder can be written, and nothing in it is."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda path, mode: not (mode & os.W_OK and Path(path) == folder))
        yield
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_trials_are_read_and_a_write_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    with closing(Store(path)) as store:
        store.save("r1", [trial()])
    with unwritable(tmp_path, monkeypatch), closing(Store(path)) as store:
        assert store.find("0") is not None
        with pytest.raises(StoreError, match=r"cannot write to the store .*readonly .* you may write to"):
            store.save("r1", [trial(repeat=1)])


def test_trials_that_a_killed_command_left_in_the_log_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "left"
    left.mkdir()
    with closing(Store(tmp_path / "store.db")) as store:
        store.save("r1", [trial()])
        for name in ("store.db", "store.db-wal"):
            shutil.copyfile(tmp_path / name, left / name)
    with unwritable(left, monkeypatch), closing(Store(left / "store.db")) as store:
        assert store.find("0") is not None
        with pytest.raises(StoreError, match="readonly"):
            store.save("r1", [trial(repeat=1)])


def test_a_store_of_the_first_format_is_read_and_keeps_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(FORMAT_1)
    with unwritable(tmp_path, monkeypatch), closing(Store(path)) as store:
        assert [(t.scenario, t.repeat) for t in store.trials_of("r1", "")] == [("alpha", 0)]


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="mounts a folder anew")
def test_verbs_that_read_end_well_on_a_read_only_disk_and_run_says_what_to_do(tmp_path: Path) -> None:
    for name, text in (("my_agent.py", AGENT), ("agentmut.yaml", PROJECT)):
        (tmp_path / name).write_text(text)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "s.yaml").write_text(SCENARIO)
    program = [sys.executable, "-c", "from agentmut.cli import main; main()"]
    subprocess.run([*program, "run", "--yes"], cwd=tmp_path, check=True, capture_output=True)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    elsewhere = tmp_path.with_name(f"{tmp_path.name}-exported.jsonl")
    for verb in (*READING, ["export", str(elsewhere)]):
        done = subprocess.run(read_only(tmp_path, [*program, *verb]), capture_output=True, text=True)
        assert done.returncode == 0, (verb, done.stderr)
    done = subprocess.run(
        read_only(tmp_path, [*program, "run", "--yes", "--fresh"]), capture_output=True, text=True
    )
    assert done.returncode == 4
    assert "Check that its folder is a directory you may write to" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def read_only(folder: Path, command: list[str]) -> list[str]:
    """The command in the folder, which is on a read-only disk for it."""
    mounted = ["unshare", "-m", "sh", "-c"]
    mounting = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" || exit 99; exec "$@"'
    if subprocess.run([*mounted, mounting, str(folder), "true"], capture_output=True).returncode:
        pytest.skip("this user may not mount")
    return [*mounted, mounting, str(folder), *command]
