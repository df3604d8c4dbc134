"""Coding agents: each trial has a copy of the folder, with the files of its mutant, and tells what was left in it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import ProjectError, UsageError
from agentmut.adapters.command import CommandAdapter
from agentmut.campaign.selection.locate import target_of
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.origin import Origin
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.workspace import ChangeKind, WorkspaceEnd
from agentmut.project.loading import load_project
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.seams.protocols.operator import OperatorOptions
from agentmut.trial.single_run import Case, attempt

pytestmark = pytest.mark.process

RULES = "# Rules\n\n- Run the tests first.\n- Never push to main.\n"
SKILL = (
    "---\nname: release\ndescription: How a release is made.\n---\n\n"
    "- Add a note to the changelog.\n- Tag it by hand.\n"
)
LOOK = """
import json, os, pathlib
rules = pathlib.Path("AGENTS.md")
files = [str(path) for path in pathlib.Path(".").rglob("*") if path.is_file()]
print(json.dumps({
    "cwd": os.getcwd(), "pwd": os.environ["PWD"], "rules": rules.exists() and rules.read_text(), "files": sorted(files),
}))
"""
ASK_GIT = """
import json, os, subprocess
git = lambda *words: subprocess.run(["git", *words], capture_output=True, text=True).stdout
print(json.dumps([git("log", "--format=%s"), git("status", "--short"), sorted(os.listdir("."))]))
"""
COMMIT = """
import subprocess
who = ["-c", "user.name=a", "-c", "user.email=a@b"]
subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m", "theirs"])
print("done")
"""
WORK = """
import pathlib
pathlib.Path("shop.py").write_text("price = 4\\n")
pathlib.Path("new.bin").write_bytes(b"a\\0b")
pathlib.Path("skills/release/SKILL.md").unlink()
pathlib.Path("AGENTS.md").touch()
print("done")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo" / "skills" / "release").mkdir(parents=True)
    (tmp_path / "repo" / "AGENTS.md").write_text(RULES)
    (tmp_path / "repo" / "skills" / "release" / "SKILL.md").write_text(SKILL)
    (tmp_path / "repo" / "shop.py").write_text("price = 3\n")
    return tmp_path


CONFIG = AgentConfig(
    context=(
        Document(name="repo/AGENTS.md", text=RULES),
        Document(name="repo/skills/release/SKILL.md", text=SKILL),
    ),
    workspace=("repo/AGENTS.md", "repo/skills/release/SKILL.md"),
)


def coding(root: Path, code: str, config: AgentConfig = CONFIG, **options: Any) -> CommandAdapter:
    command = (sys.executable, "-c", code.replace("{", "{{").replace("}", "}}"))
    spec = AgentSpec(
        adapter="command", command=command, root=str(root), options={"workspace": "repo", **options}
    )
    return CommandAdapter.create(spec, config)


def ran(adapter: CommandAdapter) -> Execution:
    judged = (EvaluatorSpec(name="contains", argument="x"),)
    case = Case(Scenario(name="s", turns=("hello",), evaluators=judged), {})
    return asyncio.run(attempt(adapter, case, "trial-1", 0, 600.0))


def seen(adapter: CommandAdapter) -> Any:
    done = ran(adapter)
    assert done.ending is Ending.ANSWERED, done.reason
    return json.loads(str(done.trace.output))


def end(adapter: CommandAdapter) -> WorkspaceEnd:
    done = ran(adapter)
    assert done.trace.workspace, done.reason
    return done.trace.workspace


def repository(folder: Path) -> None:
    for step in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "own"],
    ):
        subprocess.run(["git", "-C", str(folder), *step], check=True, capture_output=True)


def test_the_program_runs_in_a_copy_that_is_gone_afterwards(root: Path) -> None:
    found = seen(coding(root, LOOK))
    assert found["cwd"] == found["pwd"] != str(root / "repo") and not Path(found["cwd"]).exists()
    assert found["files"] == ["AGENTS.md", "shop.py", "skills/release/SKILL.md"]


def test_a_mutant_has_its_own_text_and_the_users_file_stays(root: Path) -> None:
    less = RULES.replace("- Run the tests first.\n", "")
    documents = (CONFIG.context[0].model_copy(update={"text": less}), CONFIG.context[1])
    mutant = coding(root, LOOK).with_config(CONFIG.model_copy(update={"context": documents}))
    assert seen(mutant)["rules"] == less
    assert (root / "repo" / "AGENTS.md").read_text() == RULES


def test_a_file_that_the_mutant_lacks_is_gone_and_the_trial_says_so(root: Path) -> None:
    mutant = coding(root, LOOK).with_config(CONFIG.model_copy(update={"context": CONFIG.context[1:]}))
    done = ran(mutant)
    assert json.loads(str(done.trace.output))["rules"] is False
    assert done.footprint.marks == ("/context/repo/AGENTS.md",)


def test_that_a_file_lies_there_does_not_mean_that_it_was_read(root: Path) -> None:
    assert ran(coding(root, LOOK)).footprint.reads == ()


def test_a_run_cannot_change_the_users_folder_by_relative_paths_or_links(root: Path) -> None:
    (root / "outside.txt").write_text("mine")
    (root / "repo" / "link.txt").symlink_to(root / "outside.txt")
    (root / "repo" / "same.py").symlink_to("shop.py")
    code = "import os; open('link.txt','w').write('x'); print(os.readlink('same.py'))"
    assert ran(coding(root, code)).trace.output == "shop.py"
    assert (root / "outside.txt").read_text() == "mine"


def test_of_a_repository_the_ignored_files_stay_and_the_history_is_one_commit(root: Path) -> None:
    (root / "repo" / ".gitignore").write_text("*.log\n")
    (root / "repo" / "big.log").write_text("x")
    repository(root / "repo")
    (root / "repo" / "new.py").write_text("not committed")
    log, status, files = seen(coding(root, ASK_GIT))
    assert (log, status) == ("start\n", "")
    assert files == [".git", ".gitignore", "AGENTS.md", "new.py", "shop.py", "skills"]


def test_the_environment_of_a_git_hook_does_not_lead_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(root / "repo")
    monkeypatch.setenv("GIT_DIR", str(root / "repo" / ".git"))
    assert ran(coding(root, COMMIT)).trace.output == "done"
    monkeypatch.delenv("GIT_DIR")
    log = subprocess.run(
        ["git", "-C", str(root / "repo"), "log", "--format=%s"], capture_output=True, text=True
    )
    assert log.stdout == "own\n"


def test_the_trace_has_what_became_of_the_files(root: Path) -> None:
    found = end(coding(root, WORK))
    assert [(change.path, change.kind) for change in found.files] == [
        ("new.bin", ChangeKind.ADDED),
        ("shop.py", ChangeKind.CHANGED),
        ("skills/release/SKILL.md", ChangeKind.REMOVED),
    ]
    shop = found.file("shop.py")
    assert shop and shop.text == "price = 4\n"
    assert shop.diff == "--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-price = 3\n+price = 4\n"
    assert found.files[0].text is None and not found.left_out


def test_the_diff_of_a_mutants_file_begins_with_the_mutants_text(root: Path) -> None:
    less = RULES.replace("- Run the tests first.\n", "")
    documents = (CONFIG.context[0].model_copy(update={"text": less}), CONFIG.context[1])
    code = "open('AGENTS.md', 'a').write('- Be kind.\\n'); print('done')"
    found = end(coding(root, code).with_config(CONFIG.model_copy(update={"context": documents})))
    assert "Run the tests" not in found.diff and "+- Be kind." in found.diff


def test_commands_run_in_the_copy_after_the_program(root: Path) -> None:
    check = [sys.executable, "-c", "import sys; print(open('shop.py').read()); sys.exit(3)"]
    (root / "hidden.py").write_text("print('seen')")
    hidden = [sys.executable, "{project}/hidden.py"]
    found = end(
        coding(
            root,
            "open('shop.py','w').write('bought'); print('x')",
            afterwards={"check": check, "hidden": hidden},
        )
    )
    assert [(run.name, run.code, run.output) for run in found.commands] == [
        ("check", 3, "bought\n"),
        ("hidden", 0, "seen\n"),
    ]


def test_a_shared_folder_is_linked_and_no_change(root: Path) -> None:
    (root / "repo" / "node_modules").mkdir()
    (root / "repo" / "node_modules" / "x.js").write_text("1")
    found = end(coding(root, "print(open('node_modules/x.js').read())", shared=["node_modules"]))
    assert found.files == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"workspace": "nowhere"}, "there is no folder 'nowhere'"),
        ({"workspace": "repo/skills"}, "repo/AGENTS.md is not in agent.options.workspace"),
        ({"afterwards": {"t": "pytest"}}, r"agent.options.afterwards.t: a command is a list"),
        ({"afterwards": {"t": ["no-such-program"]}}, "there is no program 'no-such-program'"),
        ({"afterwards": {"t": ["true", "{input}"]}}, r"unknown placeholder \{input\}"),
        ({"shared": "node_modules"}, "is a list of folders"),
        ({"afterward": {}}, "unknown key 'afterward'"),
    ],
)
def test_a_mistake_in_the_options_is_told(options: dict[str, Any], told: str, root: Path) -> None:
    with pytest.raises(UsageError, match=told):
        coding(root, LOOK, **options)


def test_documents_beside_files_are_refused(root: Path) -> None:
    mixed = CONFIG.model_copy(update={"context": (*CONFIG.context, Document(name="fees", text="20"))})
    with pytest.raises(UsageError, match="fees is no file of the workspace"):
        coding(root, LOOK, mixed)


def mutant(*edits: Edit) -> Mutant:
    return Mutant(
        id="m", operator="o", version=1, operator_class=OperatorClass.CONTEXT, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=edits,
    )  # fmt: skip


def test_what_files_cannot_show_is_refused(root: Path) -> None:
    plain = [document.model_dump(mode="json") for document in CONFIG.context]
    adapter = coding(root, LOOK)
    said = adapter.cannot_express
    assert (
        said(mutant(Edit(pointer="/context", before=plain, after=plain[::-1])))
        == "the files of a workspace have no order"
    )
    assert (
        said(mutant(Edit(pointer="/context/0", before=None, after=plain[0])))
        == "no file is added to a workspace"
    )
    assert said(mutant(Edit(pointer="/context", before=plain, after=[]))) == ""
    assert said(mutant(Edit(pointer="/context/0", before=plain[0], after=None))) == ""
    assert adapter.carries == {"context"}


def project(root: Path, **context: Any) -> Path:
    agent = {
        "adapter": "command",
        "command": ["true"],
        "options": {"workspace": "repo"},
        "config": {"context": context},
    }
    case = {"name": "s", "input": "hi", "evaluators": [{"contains": "x"}]}
    (root / "scenarios.yaml").write_text(yaml.safe_dump([case]))
    (root / "agentmut.yaml").write_text(
        yaml.safe_dump({"version": 1, "agent": agent, "suite": {"scenarios": "scenarios.yaml"}})
    )
    return root / "agentmut.yaml"


def test_patterns_name_files_in_their_order(root: Path) -> None:
    found = load_project(project(root, workspace=["repo/AGENTS.md", "repo/**/SKILL.md"])).config
    assert found.workspace == CONFIG.workspace and found.context == CONFIG.context


def test_a_pattern_without_a_file_and_one_that_leaves_the_project_are_told(root: Path) -> None:
    with pytest.raises(
        ProjectError, match=r"agentmut.yaml:\d+: agent.config.context.workspace: 'CLAUDE.md' finds no file"
    ):
        load_project(project(root, workspace=["CLAUDE.md"]))
    with pytest.raises(ProjectError, match="leaves the project's folder"):
        load_project(project(root, workspace=["../AGENTS.md"]))


def test_an_adapter_without_a_folder_is_refused(root: Path) -> None:
    file = project(root, workspace=["repo/AGENTS.md"])
    written = yaml.safe_load(file.read_text())
    written["agent"] = {"adapter": "python", "run": "a:b", "config": written["agent"]["config"]}
    file.write_text(yaml.safe_dump(written))
    with pytest.raises(ProjectError, match="the python adapter gives an agent no folder"):
        load_project(file)


def test_operators_of_the_prompt_read_each_file_below_its_front_matter() -> None:
    made = generate(CONFIG, [load(Group.OPERATORS, "prompt.drop_instruction")()], OperatorOptions()).mutants
    origin = Origin(config=CONFIG, file="agentmut.yaml")
    where = [(target_of(one, origin).path, target_of(one, origin).line) for one in made]
    assert where == [
        ("repo/AGENTS.md", 3),
        ("repo/AGENTS.md", 4),
        ("repo/skills/release/SKILL.md", 6),
        ("repo/skills/release/SKILL.md", 7),
    ]
    assert made[3].apply(CONFIG).context[1].text == SKILL.replace("- Tag it by hand.\n", "")
    assert made[3].description == 'drop "Tag it by hand." in repo/skills/release/SKILL.md'
    assert len({one.id for one in made}) == 4


def test_the_same_rule_in_two_files_gives_two_mutants() -> None:
    twice = tuple(Document(name=name, text="- Be kind.\n- Be brief.\n") for name in ("a.md", "b.md"))
    config = AgentConfig(context=twice, workspace=("a.md", "b.md"))
    made = generate(config, [load(Group.OPERATORS, "prompt.drop_instruction")()], OperatorOptions()).mutants
    changed = generate(
        config.model_copy(update={"context": twice[1:], "workspace": ("b.md",)}),
        [load(Group.OPERATORS, "prompt.drop_instruction")()],
        OperatorOptions(),
    ).mutants
    # another file changes no id
    assert len(made) == 4 and {one.id for one in changed} < {one.id for one in made}


def test_the_copy_needs_no_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    (root / "repo" / "__pycache__").mkdir()
    (root / "repo" / "__pycache__" / "x.pyc").write_text("x")
    assert seen(coding(root, LOOK))["files"] == ["AGENTS.md", "shop.py", "skills/release/SKILL.md"]
