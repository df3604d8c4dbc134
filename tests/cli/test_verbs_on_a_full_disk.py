"""Every verb that writes, on a disk without room: a documented code, the reason, and nothing half written."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_output_that_ends import RUNS, Done, agentmut, stored, unsound
from tests.warm_command import ROOT

pytestmark = pytest.mark.process

AGENT = """
def run(config, input):
    said = "hello" if "greet" in config.prompt else "hm"
    return said + (" and goodbye" if "goodbye" in config.prompt else "")
"""
PROJECT = """
version: 1
agent: {adapter: python, run: 'my_agent:run', config: {prompt: "- Always greet.\\n- Say goodbye.\\n- Be brief."}}
suite: {scenarios: s.yaml}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 20, rounds: one, n_max: 20, seed: 1}
relations: {use: [perturbation.synonym, perturbation.user_name]}
"""
SUITE = "".join(f"- {{name: {name}, input: hi, evaluators: [{{contains: hello}}]}}\n" for name in "st")
FILES = {"my_agent.py": AGENT, "agentmut.yaml": PROJECT, "s.yaml": SUITE, "runs.json": RUNS}
SUGGESTED = "ID of a suggestion"
FREE = (0, 40_960)
"""Bytes that are left: none, some pages."""
VERBS: dict[tuple[str, ...], str] = {
    ("run", "--yes"): "fresh",
    ("run", "--yes", "--json", "--fresh"): "ran",
    ("resume", "--trials", "4000"): "budgeted",
    ("merge", "shard1", "shard2"): "shards",
    ("test", "--yes", "--trials", "20"): "fresh",
    ("relations", "--yes", "--sources", "3"): "ran",
    ("relations", "--yes", "--sources", "3", "--save", "first"): "ran",
    ("coverage",): "ran",
    ("coverage", "--calibrate"): "ran",
    ("rescore",): "ran",
    ("suggest",): "ran",
    ("suggest", "--apply", SUGGESTED): "suggested",
    ("suggest", "--apply", "all"): "suggested",
    ("baseline", "save", "--trials", "40", "--yes"): "ran",
    ("baseline", "compare", "--yes"): "saved",
    ("export", "spans.jsonl", "--mutants"): "ran",
    ("export", "spans", "--format", "atif", "--mutants"): "ran",
    ("import", "runs.json"): "ran",
    ("analyze", "--write-scenarios", "theirs.yaml"): "imported",
    ("store", "copy", "copied.db"): "ran",
    ("serve", ".", "--bundle", "pages"): "ran",
    ("clean", "--keep", "0", "--yes"): "ran",
    ("init", "new"): "ran",
    ("init", ".", "--force"): "ran",
    ("doctor", "--yes"): "fresh",
    ("trend", "--json"): "ran",
    ("gate", "--json"): "ran",
    ("trials", "--json"): "ran",
    ("schema", "--output", "schema.json"): "ran",
    ("trials", "--parquet", "trials.parquet"): "ran",
    **{
        ("report", "--format", form, "--output", f"report.{form}"): "ran"
        for form in ("terminal", "json", "markdown", "junit", "sarif", "stryker", "html")
    },
}
OF_AGENTMUT = (".agentmut", "__pycache__")


def write(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Projects in each state, which tests copy."""
    root = tmp_path_factory.mktemp("states")
    for state in ("fresh", "ran", "budgeted"):
        write(root / state)
    assert agentmut(root / "ran", ("run", "--yes")).code == 0
    assert agentmut(root / "budgeted", ("run", "--yes", "--trials", "50")).code == 3
    for state, verb in (
        ("suggested", ("suggest", "--json")),
        ("saved", ("baseline", "save", "--trials", "40", "--yes")),
        ("imported", ("import", "runs.json")),
    ):
        shutil.copytree(root / "ran", root / state)
        done = agentmut(root / state, verb)
        assert done.code == 0, done
        if state == "suggested":
            (root / "id.txt").write_text(json.loads(done.out)["assertions"][0]["id"])
    first, second = root / "shards" / "shard1", root / "shards" / "shard2"
    write(first)
    assert agentmut(first, ("run", "--yes", "--baseline-only")).code == 0
    shutil.copytree(first, second)
    for number, folder in enumerate((first, second), 1):
        assert agentmut(folder, ("run", "--yes", "--shard", f"{number}/2")).code == 0
    for name, text in FILES.items():
        (root / "shards" / name).write_text(text)
    return root


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of eight megabytes, which only root can mount."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, but: int) -> None:
    """Leave at most so many bytes."""
    free = os.statvfs(disk)
    with (disk / "filling").open("wb") as file:
        file.write(b"x" * max(0, free.f_bavail * free.f_frsize - but))


def theirs(project: Path) -> dict[str, bytes]:
    """Return the files that are not agentmut's own."""
    return {
        str(path.relative_to(project)): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file() and not any(part in path.parts for part in OF_AGENTMUT)
    }


@pytest.mark.whole
@pytest.mark.parametrize("arguments", VERBS, ids=" ".join)
def test_a_verb_on_a_full_disk_does_all_or_nothing_and_says_why(
    states: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    chosen = tuple((states / "id.txt").read_text() if one == SUGGESTED else one for one in arguments)
    roomy = Path(shutil.copytree(states / VERBS[arguments], tmp_path / "roomy" / "project"))
    usual = agentmut(roomy, chosen)
    new = theirs(roomy)
    with small_disk(tmp_path / "disk") as disk:
        for free in FREE:
            project = Path(shutil.copytree(states / VERBS[arguments], disk / "project"))
            old, trials = theirs(project), stored(project)
            fill(disk, free)
            done = agentmut(project, chosen)
            assert_said(done, usual)
            kept = theirs(project)
            if done.code == usual.code:
                assert kept.keys() == new.keys(), done
            else:
                assert kept == old, (done, free, kept.keys() ^ old.keys())
            (disk / "filling").unlink()
            assert not unsound(project)
            assert stored(project) >= trials or chosen[0] == "clean"
            if done.code == usual.code or free != FREE[-1]:
                shutil.rmtree(project)
            else:
                again = agentmut(project, chosen)
                assert (again.code, theirs(project).keys()) == (usual.code, new.keys()), again


OF_A_LIMIT = {
    (
        "report",
        "--format",
        "html",
        "--output",
        "report.html",
    ): "Raise the limit of a file's size: `ulimit -f`",
    ("serve", ".", "--bundle", "pages"): "Raise the limit of a file's size: `ulimit -f`",
    ("init", "new"): "Raise the limit of a file's size: `ulimit -f`",
    ("import", "runs.json"): "disk I/O error",  # so SQLite calls it
}


@pytest.mark.parametrize("arguments", OF_A_LIMIT, ids=" ".join)
def test_a_limit_of_a_file_s_size_is_said_and_changes_nothing(
    states: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    project = Path(shutil.copytree(states / "ran", tmp_path / "project"))
    old, trials = theirs(project), stored(project)
    limited = 'ulimit -f 1; "$0" -c "from agentmut.cli import main; main()" "$@"'
    done = subprocess.run(
        ["bash", "-c", limited, sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4, done
    assert OF_A_LIMIT[arguments] in done.stderr
    assert theirs(project) == old
    assert stored(project) == trials
    assert agentmut(project, arguments).code == 0


def assert_said(done: Done, usual: Done) -> None:
    """Raise `AssertionError` unless a command did what it does where there is room, or said what is missing."""
    assert "Traceback" not in done.err + done.out, done
    assert "bug in agentmut" not in done.err, done
    if done.code != usual.code:
        assert done.code == 4, done
        assert any(word in done.err for word in ("No space left", "is full", "room", "space")), done
