"""Operators of a project's own that go wrong: one paragraph that names them, and no traceback."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import AgentmutError, ExitCode, UsageError
from agentmut.cli import app
from agentmut.mutation.catalogue import OperatorCatalogue
from agentmut.seams.make_operator import operator

START = """
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Candidate, Intent, OperatorClass, Reach, prompt_edit
from agentmut.seams.make_operator import operator
from agentmut.seams.protocols import Example
EXAMPLES = [Example(AgentConfig(prompt="a"), AgentConfig(prompt="b"))]
MORE = {}
@operator("prompt.mine", why="It happens.", examples=EXAMPLES, **MORE)
def mine(config, options):
"""
PROJECT = """
version: 1
agent: {adapter: python, run: "AGENT:run", config: {prompt: "Be kind. Never lie."}}
suite: {scenarios: scenarios.yaml}
mutation: {operators: [prompt.mine], own_operators: ["NAME:mine"]}
"""


def listed(folder: Path, body: str, more: str = "{}") -> AgentmutError:
    name = f"own_{folder.name.replace('-', '_')}"
    (folder / f"{name}.py").write_text(START.replace("MORE = {}", f"MORE = {more}") + body)
    (folder / f"agent_{name}.py").write_text("def run(config, input):\n    return config.prompt\n")
    (folder / "scenarios.yaml").write_text('[{name: a, input: hi, evaluators: [{contains: "x"}]}]')
    (folder / "agentmut.yaml").write_text(PROJECT.replace("AGENT", f"agent_{name}").replace("NAME", name))
    result = CliRunner().invoke(app, ["mutants", "-p", str(folder)])
    assert isinstance(result.exception, AgentmutError), (result.output, result.exception)
    return result.exception


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    yield config.tools[7]\n", ["raised IndexError: tuple index out of range", "line 10"]),
        ("    return config.nothing\n", ["raised AttributeError", "line 10"]),
        ("    return 7\n", ["raised TypeError"]),
        ("    yield 'a candidate'\n", ["yielded a str; expected agentmut.nouns.mutant.Candidate"]),
        ("    yield Candidate(edits=(), description='x', anchor='y')\n", ["raised ValidationError"]),
    ],
)
def test_what_an_operator_did_is_said_with_its_name(tmp_path: Path, body: str, said: list[str]) -> None:
    error = listed(tmp_path, body)
    assert error.exit_code is ExitCode.USAGE
    assert "\n" not in str(error)
    for part in ("operator 'prompt.mine'", *said):
        assert part in str(error)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("{'intent': 'degrade'}", "its intent is 'degrade'; expected one of Intent.DEGRADE, Intent.PRESERVE"),
        ("{'intent': Intent.CONTROL}", "expected one of Intent.DEGRADE"),
        ("{'reach': 'everywhere'}", "its reach is 'everywhere'; expected one of Reach.CALLED"),
        ("{'version': '2'}", "its version is '2'; expected a whole number"),
        ("{'version': True}", "its version is True"),
    ],
)
def test_wrong_declarations_are_refused_when_the_operator_is_read(
    tmp_path: Path, more: str, said: str
) -> None:
    error = listed(tmp_path, "    return ()\n", more)
    assert error.exit_code is ExitCode.USAGE
    assert said in str(error)


def test_an_operator_that_cannot_be_built_is_named(tmp_path: Path) -> None:
    (tmp_path / "unbuildable_ones.py").write_text(
        START + "    return ()\ndef refuse(self):\n    raise KeyError('no')\n" + "mine.__init__ = refuse\n"
    )
    with pytest.raises(UsageError, match=r"operator 'prompt.mine': mine\(\) raised KeyError"):
        OperatorCatalogue.from_references(["unbuildable_ones:mine"], tmp_path).load("prompt.mine")


@pytest.mark.parametrize("name", ["style.shout", "control.shout", "higher_order.shout", "prompt", "prompt."])
def test_an_id_without_a_class_says_which_there_are(name: str) -> None:
    with pytest.raises(ValueError, match="one of prompt, tool, model, context, orchestration") as raised:
        operator(name, why="x", examples=[])
    assert "Classes of your own are not possible" in str(raised.value)
    assert repr(name) in str(raised.value)
