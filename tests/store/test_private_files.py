"""What agentmut stores can be read by its owner only, and git leaves it out."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmut._base import make_private_folder, open_to_others, write_private
from agentmut.store.opinions import OpinionFile
from agentmut.store.store import Store
from agentmut.usecases.campaigns import measure

PROJECT = """
version: 1
agent: {adapter: python, run: "private_agent:run", config: {prompt: "Say hello. Be brief."}}
suite: {scenarios: s.yaml}
statistics: {baseline: 20, delta: 0.6, rounds: one}
"""
AGENT = "def run(config, input):\n    return 'hello' if 'hello' in config.prompt else 'hm'\n"
SCENARIOS = '- {name: greets, input: "hi", evaluators: [{contains: hello}]}\n'


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_everything_that_a_campaign_stores_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "private_agent.py").write_text(AGENT)
    (tmp_path / "s.yaml").write_text(SCENARIOS)
    measure(tmp_path)
    folder = tmp_path / ".agentmut"
    files = [path for path in folder.rglob("*") if path.is_file()]
    folders = [path for path in folder.rglob("*") if path.is_dir()]
    assert {"runs", "tables"} <= {path.name for path in folders}
    assert {path.name: oct(mode(path)) for path in folders if mode(path) != 0o700} == {}
    assert {"store.db", "lock", "result.json", ".gitignore"} <= {path.name for path in files}
    assert mode(folder) == 0o700
    assert {path.name: oct(mode(path)) for path in files if mode(path) != 0o600} == {}


@pytest.mark.usefixtures("open_umask")
def test_what_judges_said_is_private_too(tmp_path: Path) -> None:
    file = tmp_path / ".agentmut" / "opinions.db"
    OpinionFile(file, str).keep("k", "yes")
    assert (mode(file.parent), mode(file)) == (0o700, 0o600)


def test_git_leaves_stored_trials_out_and_sees_baselines(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    Store(tmp_path / ".agentmut" / "store.db").close()
    baselines = tmp_path / ".agentmut" / "baselines"
    make_private_folder(baselines)
    write_private(baselines / "default.json", "{}")
    command = ["git", "status", "--short", "--untracked-files=all"]
    seen = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert seen == ["??", ".agentmut/baselines/default.json"]


def test_a_folder_of_an_older_version_is_closed_once_and_stays_as_its_owner_makes_it(tmp_path: Path) -> None:
    folder = tmp_path / ".agentmut"
    folder.mkdir(mode=0o755)
    make_private_folder(folder / "runs")
    assert mode(folder) == 0o700
    folder.chmod(0o750)  # a group may read it: somebody has decided so
    make_private_folder(folder / "runs")
    assert mode(folder) == 0o750


EARLIER = """\
# Made by agentmut. Stored trials may hold what users, tools and models said, so git leaves them out.
# Baselines hold pass rates only: a repository may keep them.
*
!baselines/
!baselines/*
"""


@pytest.mark.parametrize("ignored", [None, EARLIER])
def test_what_an_older_version_left_open_is_closed_down_to_its_files(
    tmp_path: Path, ignored: str | None
) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("mine")
    elsewhere.chmod(0o644)
    run = tmp_path / ".agentmut" / "runs" / "1"
    run.mkdir(parents=True)
    (run / "result.json").write_text("{}")
    (run / "link.json").symlink_to(elsewhere)
    for path in (run.parent.parent, run.parent, run):
        path.chmod(0o755)
    (run / "result.json").chmod(0o644)
    if ignored:
        (tmp_path / ".agentmut" / ".gitignore").write_text(ignored)
    make_private_folder(tmp_path / ".agentmut")
    assert [mode(path) for path in (run, run.parent, run / "result.json")] == [0o700, 0o700, 0o600]
    assert mode(elsewhere) == 0o644


def test_another_folder_is_made_as_any_other(tmp_path: Path) -> None:
    make_private_folder(tmp_path / "reports" / "today")
    assert not (tmp_path / "reports" / ".gitignore").exists()


def test_a_folder_that_another_user_owns_and_leaves_open_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".agentmut"
    assert open_to_others(folder) == ""
    make_private_folder(folder)
    folder.chmod(0o755)
    assert open_to_others(folder) == ""  # one's own, opened on purpose
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    assert "others can read" in open_to_others(folder)
    assert "`chmod -R go= .agentmut`" in open_to_others(folder)
    folder.chmod(0o700)
    assert open_to_others(folder) == ""
