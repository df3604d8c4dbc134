"""`agentmut mutants --in-diff`: only mutants of what has changed since a revision."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.mutants.folder_with_config import CONFIG, SYSTEM, TOOLS, Run, listed, refused


def git(folder: Path, *arguments: str) -> None:
    who = {
        f"GIT_{role}_{part}": "t@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    command = ["git", "-c", "init.defaultBranch=main", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **who})


@pytest.fixture
def committed(folder: Path) -> Path:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.mark.process
def test_only_what_touches_a_change_since_a_revision(run: Run, committed: Path) -> None:
    (committed / "system.md").write_text(SYSTEM.replace("Never promise", "Do not promise"))
    (committed / "tools.yaml").write_text(TOOLS.replace("Find an order", "Find any order"))
    document = listed(run, "--in-diff", "HEAD")
    assert document["in_diff"] == {"since": "HEAD", "changed": ["prompt", "tools/lookup"], "note": ""}
    drops = [m["target"]["line"] for m in document["mutants"] if m["operator"] == "prompt.drop_instruction"]
    assert drops == [4]
    removed = [m["before"] for m in document["mutants"] if m["operator"] == "tool.remove"]
    assert removed == ["lookup"]
    assert not [m for m in document["mutants"] if m["operator"] == "tool.reorder"]


@pytest.mark.process
def test_nothing_changed_is_said_and_no_error(run: Run, committed: Path) -> None:
    (committed / "unrelated.txt").write_text("x")
    assert run("--config", "agent.yaml", "--in-diff", "main")[:2] == (
        0,
        "Nothing of the agent changed since main.\n",
    )


@pytest.mark.process
def test_a_file_that_did_not_exist_makes_everything_count(run: Run, committed: Path) -> None:
    (committed / "new.yaml").write_text("prompt: Always greet the customer.\n")
    code, out, err = run("--config", "new.yaml", "--in-diff", "HEAD", "--json")
    assert code == 0
    assert "new.yaml did not exist at HEAD, so everything counts as changed" in err
    assert json.loads(out)["mutants"]


@pytest.mark.process
def test_tools_in_modules_are_those_of_the_revision(run: Run, folder: Path) -> None:
    (folder / "diffed_tools.py").write_text(
        "def a(x: str) -> None: ...\ndef b() -> None: ...\nTOOLS = [a, b]\n"
    )
    (folder / "agent.yaml").write_text("tools: diffed_tools:TOOLS\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    text = (folder / "diffed_tools.py").read_text()
    (folder / "diffed_tools.py").write_text(text.replace("x: str", "x: int"))
    assert listed(run, "--in-diff", "HEAD")["in_diff"]["changed"] == ["tools/a"]


@pytest.mark.process
def test_revisions_that_do_not_help_are_refused(run: Run, committed: Path) -> None:
    config = ("--config", "agent.yaml", "--in-diff")
    assert "no such revision" in refused(run, *config, "nowhere")
    assert "no such revision" in refused(run, *config, "--output=x")
    (committed / "agent.yaml").write_text("promt: x\n")
    git(committed, "commit", "-qam", "broken")
    (committed / "agent.yaml").write_text(CONFIG)
    err = refused(run, *config, "HEAD")
    assert "the earlier agent cannot be loaded: agent.yaml:1: promt" in err


@pytest.mark.process
def test_three_dots_compare_with_where_the_branch_left(run: Run, committed: Path) -> None:
    git(committed, "checkout", "-qb", "topic")
    (committed / "system.md").write_text(SYSTEM.replace("Never promise", "Do not promise"))
    git(committed, "commit", "-qam", "on topic")
    git(committed, "checkout", "-q", "main")
    (committed / "tools.yaml").write_text(TOOLS.replace("Find an order", "Find any order"))
    git(committed, "commit", "-qam", "on main")
    git(committed, "checkout", "-q", "topic")
    assert listed(run, "--in-diff", "main")["in_diff"]["changed"] == ["prompt", "tools/lookup"]
    for reference in ("main...", "main...HEAD", "main...topic"):
        assert listed(run, "--in-diff", reference)["in_diff"]["changed"] == ["prompt"]
    assert "`main...`" in refused(run, "--config", "agent.yaml", "--in-diff", "main..HEAD")
    assert "no such revision" in refused(run, "--config", "agent.yaml", "--in-diff", "nowhere...")
    git(committed, "checkout", "-q", "--orphan", "alone")
    git(committed, "commit", "-qm", "alone")
    assert "no common ancestor" in refused(run, "--config", "agent.yaml", "--in-diff", "main...")


@pytest.mark.process
def test_a_prompt_or_document_that_was_not_committed_counts_as_changed(run: Run, folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", "agent.yaml", "tools.yaml")
    git(folder, "commit", "-qm", "without the texts")
    code, out, err = run("--config", "agent.yaml", "--in-diff", "HEAD", "--json")
    assert code == 0, err
    note = "system.md, policy.md did not exist at HEAD, so they count as changed"
    assert json.loads(out)["in_diff"] == {"since": "HEAD", "changed": ["prompt", "policy.md"], "note": note}
    assert note in err


@pytest.mark.process
def test_outside_of_a_repository_a_revision_means_nothing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    assert "no git working tree" in refused(run, "--config", "agent.yaml", "--in-diff", "HEAD")
