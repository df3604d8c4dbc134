"""Every verb says what it does, with an example that can be given; the page of all of them; completion by a shell."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentmut.cli import completing
from agentmut.cli.reference import Verb, page, verbs
from agentmut.seams.plugins import Group, names
from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process

VERBS = {verb.name: verb for verb in verbs()}
SHELL = "import sys; sys.argv[0] = 'agentmut'; from agentmut.cli import main; main()"


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_is_explained_in_sentences_with_an_example_that_parses(name: str) -> None:
    verb = VERBS[name]
    told, example, _ = verb.help.partition("\n\nExample: ")
    assert all(part.endswith(".") and part[0].isupper() for part in told.split("\n\n"))
    assert example, f"{name} --help has no example"
    parse(verb, verb.example)


@pytest.mark.parametrize("name", VERBS)
def test_every_option_and_argument_is_explained(name: str) -> None:
    unsaid = [parameter.name for parameter in VERBS[name].command.params if not parameter.help]
    assert unsaid == []


def test_the_list_of_verbs_has_whole_sentences_and_an_example() -> None:
    done = subprocess.run([*AGENTMUT, "--help"], capture_output=True, text=True, timeout=600, check=True)
    assert "Example: agentmut " in done.stdout
    assert "..." not in done.stdout.partition("Commands:")[2]


def parse(verb: Verb, line: str) -> None:
    words = shlex.split(line)
    assert tuple(words[: 1 + len(verb.words)]) == ("agentmut", *verb.words)
    verb.command.make_context(verb.name, words[1 + len(verb.words) :]).close()


def test_the_page_of_all_verbs_is_up_to_date() -> None:
    assert (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8") == page(), "run `make docs-cli`"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agentmut.yaml").write_text("version: 1\nagent: {adapter: python}\n")
    scenarios = [{"name": "refund_in_time"}, {"name": "greeting"}]
    (tmp_path / "scenarios" / "all.yaml").write_text(json.dumps(scenarios))
    for run, mutant in (("20260101-120000-aaaa", "0ld00000"), ("20260102-120000-bbbb", "3f9ac2d1")):
        folder = tmp_path / ".agentmut" / "runs" / run
        folder.mkdir(parents=True)
        row = {"id": mutant, "operator": "prompt.negate", "status": "survived"}
        (folder / "result.json").write_text(json.dumps({"mutants": [row]}))
    (tmp_path / ".agentmut" / "baselines").mkdir()
    (tmp_path / ".agentmut" / "baselines" / "monday.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("agentmut report 2026", ["20260102-120000-bbbb", "20260101-120000-aaaa"]),
        ("agentmut show ", ["3f9ac2d1"]),
        ("agentmut run --yes --scenario g", ["greeting"]),
        ("agentmut baseline compare m", ["monday"]),
        ("agentmut mutants --class pr", ["prompt"]),
        ("agentmut mutants --operator prompt.dr", [n for n in names(Group.OPERATORS) if "prompt.dr" in n]),
        ("agentmut relations --relation oracle.", [n for n in names(Group.RELATIONS) if "oracle." in n]),
        ("agentmut sho", ["show"]),
    ],
)
def test_a_shell_completes_the_names_of_the_project(
    typed: str, offered: list[str], project: Path, warm: None
) -> None:
    assert complete(typed, project) == offered


def test_a_project_is_named_on_the_way(project: Path, tmp_path: Path, warm: None) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert complete("agentmut show ", elsewhere) == []
    assert complete(f"agentmut show --project {project}/agentmut.yaml ", elsewhere) == ["3f9ac2d1"]


def test_files_that_cannot_be_read_complete_to_nothing_and_say_nothing(project: Path, warm: None) -> None:
    (project / "agentmut.yaml").write_text("suite: [")
    (project / ".agentmut" / "runs" / "20260102-120000-bbbb" / "result.json").write_text("{")
    assert complete("agentmut show ", project) == []
    assert complete("agentmut run --scenario ", project) == []


def complete(typed: str, folder: Path) -> list[str]:
    """What bash is told when Tab is pressed."""
    asked = {
        "_AGENTMUT_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **asked}
    done = subprocess.run(
        [*AGENTMUT, "-c", SHELL], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_completion_imports_nothing_that_takes_long() -> None:
    program = f"import sys, {completing.__name__} as c; from agentmut.cli import options; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert {"pydantic", "yaml", "scipy", "numpy", "agentmut.seams.plugins"} & set(
        done.stdout.split()
    ) == set()
