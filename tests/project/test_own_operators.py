"""A project's own operators, named in its project file."""

from pathlib import Path

import pytest

from agentmut._base.errors import PluginError, ProjectError
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.project.loading import load_project

OPERATORS = '''
from collections.abc import Iterator

from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Candidate, prompt_edit
from agentmut.seams.make_operator import operator
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams.protocols import OperatorOptions


@operator(
    "{id}",
    why="The greeting is cut when answers get too long.",
    examples=[prompt_example("Say hello. Help.", "Help.")],
)
def drop_hello(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """The demand for a greeting is gone."""
    at = config.prompt.find("Say hello. ")
    if at >= 0:
        edit = prompt_edit(config.prompt, at, at + 11, "")
        yield Candidate(edits=(edit,), description="drop the greeting", anchor="greeting")
'''
PROJECT = """
version: 1
agent:
  adapter: python
  run: own_agent:run
  config: {{prompt: "Say hello. Help the user. {filler}"}}
suite: {{scenarios: scenarios.yaml}}
mutation: {{own_operators: ["{module}:drop_hello"]{more}}}
"""


def project(folder: Path, module: str, id_: str = "prompt.drop_hello", more: str = "") -> Path:
    (folder / f"{module}.py").write_text(OPERATORS.replace("{id}", id_))
    (folder / "own_agent.py").write_text("def run(config, input):\n    return config.prompt\n")
    (folder / "scenarios.yaml").write_text('- {name: a, input: b, evaluators: [{contains: "Help"}]}\n')
    written = PROJECT.format(module=module, more=more, filler="x")
    (folder / "agentmut.yaml").write_text(written)
    return folder


def test_an_operator_of_the_project_makes_mutants_like_any_other(tmp_path: Path) -> None:
    more = ", operators: [prompt.drop_hello, prompt.drop_instruction]"
    loaded = load_project(project(tmp_path, "own_operators_one", more=more))
    found = make_mutants(open_session(loaded), Selection()).mutants
    assert [mutant.description for mutant in found if mutant.operator == "prompt.drop_hello"] == [
        "drop the greeting"
    ]
    narrowed = make_mutants(open_session(loaded), Selection(operators_named=("prompt.drop_hello",)))
    assert [mutant.operator for mutant in narrowed.mutants] == ["prompt.drop_hello"]


@pytest.mark.parametrize(
    ("module", "id_", "replaced", "said"),
    [
        ("own_operators_two", "prompt.drop_instruction", "", "which another operator has"),
        ("own_operators_three", "prompt.x", "own_operators_three:nothing", "own_operators_three:nothing"),
        ("own_operators_four", "prompt.x", "own_operators_four:AgentConfig", "is no operator"),
        ("own_operators_five", "prompt.x", "no_such_module:op", "no_such_module"),
    ],
)
def test_what_is_no_operator_is_refused_by_name(
    tmp_path: Path, module: str, id_: str, replaced: str, said: str
) -> None:
    folder = project(tmp_path, module, id_)
    file = folder / "agentmut.yaml"
    if replaced:
        file.write_text(file.read_text().replace(f"{module}:drop_hello", replaced))
    with pytest.raises(ProjectError) as raised:
        load_project(folder)
    assert "mutation.own_operators" in str(raised.value) and said in str(raised.value)


@pytest.mark.parametrize("rude", ["SystemExit(1)", "GeneratorExit", "BaseException"])
def test_an_operator_that_raises_what_ends_processes_is_named(tmp_path: Path, rude: str) -> None:
    """Its exit code would be taken for agentmut's, and 1 is evidence against the agent."""
    module = f"own_operators_rude_{rude[:3]}"
    folder = project(tmp_path, module)
    path = folder / f"{module}.py"
    path.write_text(path.read_text() + f"    raise {rude}\n")
    with pytest.raises(PluginError, match=rf"operator 'prompt.drop_hello' raised {rude.partition('(')[0]}"):
        make_mutants(open_session(load_project(folder)), Selection())
