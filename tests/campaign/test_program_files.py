"""Which files of a project identify the trials of a program."""

from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.identity import code_digest, environment
from agentmut.campaign.preparation.session import open_session
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.project.loading import load_project
from agentmut.seams.plugins import Catalogue, Group
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.trial.on_wire import OnWire, routed

NODE = ("node", "agent.js", "{input}")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("agent.js", "lib/tool.ts", "package-lock.json", "node_modules/openai/index.js", "bin/run"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one\n")
    return tmp_path


def digest(root: Path, *command: str, **spec: Any) -> str:
    return code_digest(root, (), AgentSpec(adapter="x", command=command, root=str(root), **spec))


def changes(root: Path, name: str, *command: str, **spec: Any) -> bool:
    before = digest(root, *command, **spec)
    (root / name).write_text("two\n")
    return digest(root, *command, **spec) != before


@pytest.mark.parametrize("name", ["agent.js", "lib/tool.ts", "package-lock.json", "tool.py", "lib/new.go"])
def test_a_change_of_a_source_file_makes_a_programs_trials_stale(root: Path, name: str) -> None:
    assert changes(root, name, *NODE)


@pytest.mark.parametrize(
    "name", ["node_modules/openai/index.js", "scenarios.yaml", "notes.md", "answer.json"]
)
def test_what_is_no_source_file_does_not(root: Path, name: str) -> None:
    assert not changes(root, name, *NODE)


def test_a_file_that_the_command_names_counts_whatever_it_is(root: Path) -> None:
    assert changes(root, "bin/run", "./bin/run")
    assert not changes(root, "bin/run", *NODE)
    (root / "bin/run").write_text("three\n")
    assert changes(root, "bin/run", "cat {input} | bin/run 'my file'", shell=True)


def test_a_file_outside_of_the_project_is_not_looked_at(root: Path) -> None:
    (root.parent / "other.txt").write_text("one\n")
    assert digest(root, "cat", "../other.txt", "/etc/hostname") == digest(root, "cat")


def test_services_count_like_programs_and_python_agents_do_not(root: Path) -> None:
    assert changes(root, "agent.js", url="http://127.0.0.1:1/")
    (root / "agent.js").write_text("three\n")
    assert not changes(root, "agent.js", run="agent:run")


def test_another_command_or_template_is_another_agent() -> None:
    def of(**spec: Any) -> str:
        return environment(AgentSpec(adapter="command", **spec), {}, "c", 60, {}).digest

    plain = of(command=NODE)
    assert plain == of(command=NODE, root="/elsewhere", proxy_port=8000)
    others = [
        of(command=(*NODE, "-v")),
        of(command=NODE, answer="/a"),
        of(url="http://h", body={"q": "{input}"}),
    ]
    assert len({plain, *others}) == 4


def mutant(*edits: Edit) -> Mutant:
    return Mutant(
        id="m", operator="o", version=1, operator_class=OperatorClass.MODEL, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=edits,
    )  # fmt: skip


def test_on_the_wire_a_part_that_a_placeholder_tells_still_has_to_be_sayable(tmp_path: Path) -> None:
    config = AgentConfig(model=ModelConfig(name="a", seed=7))
    spec = AgentSpec(adapter="command", command=("echo", "{input}", "{model.seed}"), root=str(tmp_path))
    adapter = routed(Catalogue.from_group(Group.ADAPTERS).load("command").create(spec, config), spec)
    assert isinstance(adapter, OnWire)
    dropped = mutant(Edit(pointer="/model/seed", before=7, after=None))
    assert "{model.seed} would stand for nothing" in adapter.cannot_express(dropped)
    assert not adapter.cannot_express(mutant(Edit(pointer="/model/name", before="a", after="b")))
    assert not adapter.cannot_express(mutant(Edit(pointer="/history", before="kept", after="dropped")))


def test_doubles_of_a_programs_tools_are_refused(tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent: {adapter: command, command: [cat], config: {tools: [{name: t}]}}\n"
        "suite: {scenarios: s.yaml}\n"
    )
    (tmp_path / "s.yaml").write_text(
        "- {name: s, input: hi, evaluators: [{contains: x}], tools: {t: {returns: 1}}}\n"
    )
    with pytest.raises(UsageError, match=r"cannot be intercepted\. Have the program"):
        make_executor(open_session(load_project(tmp_path)))
