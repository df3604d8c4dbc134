"""Real datasets of pydantic-evals: what their evaluators say of the agent, and which losses they notice."""

import asyncio
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.executors import local_executor
from agentmut.campaign.preparation.session import open_session
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action
from agentmut.project.loading import load_project
from agentmut.seams.protocols.suite import SuiteSpec
from agentmut.suites.pydantic_evals import PydanticEvals
from agentmut.trial.executor import TrialRequest
from agentmut.usecases.campaigns import measure

# importing it is slow
pytestmark = pytest.mark.skipif(not find_spec("pydantic_evals"), reason="pydantic_evals is not installed")
DESK = Path(__file__).parents[2] / "tests" / "testdata" / "pydantic_evals_desk"
YAML = """
name: desk
cases:
  - {name: open, inputs: {question: hours}, evaluators: [{Contains: We}]}
  - {name: crash, inputs: {question: crash}, evaluators: [{Contains: x}]}
  - {name: judge, inputs: {question: judge}, evaluators: [Broken, {Contains: x}]}
  - {name: wire, inputs: {question: wire}, evaluators: [Asks]}
"""
CODE = """
import os
from dataclasses import dataclass
import httpx
from pydantic_evals.evaluators import Evaluator, EvaluatorContext

def ask(said):
    messages = [{"role": "system", "content": "- Say that a refund takes 5 days."}, {"role": "user", "content": said}]
    body = {"model": "sim-large", "messages": messages}
    reply = httpx.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body)
    return reply.json()["choices"][0]["message"]["content"]

def shop(inputs):
    if inputs["question"] == "crash":
        raise KeyError("order")
    return ask("What about my refund?") if inputs["question"] == "wire" else "We open at 9."

@dataclass
class Broken(Evaluator):
    def evaluate(self, ctx: EvaluatorContext) -> bool:
        raise ValueError("the judge is out")

@dataclass
class Asks(Evaluator):
    def evaluate(self, ctx: EvaluatorContext) -> bool:
        return "5 days" in ctx.output and bool(ask("Is that right?"))
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    before = list(sys.path)
    shutil.copytree(DESK, tmp_path / "desk", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    (tmp_path / "desk" / "cases.yaml").write_text(YAML)
    (tmp_path / "desk" / "shop.py").write_text(CODE)
    yield tmp_path / "desk"
    sys.path[:] = before
    for name in ("evals", "shop"):
        sys.modules.pop(name, None)


@pytest.mark.whole
def test_a_dataset_shows_the_rule_that_no_evaluator_checks_and_no_noisy_one_is_called_a_gap(
    project: Path,
) -> None:
    result = measure(project)
    assert {row.description: row.status for row in result.mutants} == {
        'drop "Greet the customer."': "killed",
        'drop "Say that a refund takes 5 days."': "killed",
        'drop "Never promise a delivery date."': "survived",
    }
    assert [row.scenario for row in result.baseline] == ["refund", "greeting", "delivery"]
    assert {row.witness.route for row in result.mutants if row.witness} == {"read"}


def ran(project: Path, suite: str, *names: str) -> list[Execution]:
    file = project / "agentmut.yaml"
    text = file.read_text()
    begin, end = text.index("  pydantic_evals:"), text.index("  threshold:")
    file.write_text(f"{text[:begin]}  pydantic_evals: {suite}\n{text[end:]}")
    session = open_session(load_project(project))

    async def run() -> list[Execution]:
        executor = local_executor(session)
        async with executor.session():
            return [await executor.execute(TrialRequest(None, name, f"t-{name}")) for name in names]

    return asyncio.run(run())


SHOP = 'dataset: cases.yaml, task: "shop:shop", evaluators: ["shop:Broken", "shop:Asks"]'


def test_a_failed_evaluator_is_no_evidence_and_a_crash_of_the_task_is_the_agents(
    project: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    passed, crashed, judge, wire = ran(project, f"{{{SHOP}}}", "open", "crash", "judge", "wire")
    assert [(check.evaluator, check.passed) for check in passed.trace.checks] == [("Contains", True)]
    assert crashed.ending is Ending.RAISED and "KeyError" in crashed.reason
    assert judge.ending is Ending.CASE_ERROR and "the judge is out" in judge.reason
    # the judge asked a model too, and is no part of the agent
    assert wire.ending is Ending.ANSWERED and len(wire.footprint.requests) == 1
    assert [step.action for step in wire.trace.steps].count(Action.REASON) == 1


def test_a_crash_of_the_task_is_no_evidence_where_the_project_says_so(project: Path) -> None:
    (crashed,) = ran(project, f"{{{SHOP}, raised: error}}", "crash")
    assert crashed.ending is Ending.CASE_ERROR


def test_a_score_without_a_least_score_is_refused_and_can_be_ignored(project: Path) -> None:
    (unjudged,) = ran(project, '{dataset: "evals:dataset", task: "evals:desk"}', "refund")
    assert unjudged.ending is Ending.CASE_ERROR and "pass_score" in unjudged.reason
    sys.modules.pop("evals")
    (short,) = ran(project, '{dataset: "evals:dataset", task: "evals:desk", pass_score: 4}', "refund")
    assert [(c.evaluator, c.passed) for c in short.trace.checks] == [("Contains", True), ("Length", False)]
    assert short.trace.checks[1].reason == "length is 3, and 4 would pass"
    sys.modules.pop("evals")
    (ignored,) = ran(project, '{dataset: "evals:dataset", task: "evals:desk", ignore: [Length]}', "refund")
    assert [check.evaluator for check in ignored.trace.checks] == ["Contains"]


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"dataset": "evals:dataset"}, "suite.pydantic_evals.task: is missing"),
        ({"dataset": "evals:desk_", "task": "evals:desk"}, "has no 'desk_'"),
        ({"dataset": "evals:ASKED", "task": "evals:desk"}, "is a count, not a Dataset"),
        ({"dataset": "none.yaml", "task": "evals:desk"}, "none.yaml cannot be read"),
        ({"dataset": "cases.yaml", "task": "shop:shop"}, "cases.yaml cannot be read"),
        ({"dataset": "evals:dataset", "task": "evals:desk", "ignore": ["Length", "Contains"]}, "has no evaluator"),
        ({"dataset": "evals:dataset", "task": "evals:desk", "pass_score": "1"}, "suite.pydantic_evals.pass_score"),
        ("evals:dataset", "expects a mapping with dataset, task"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_section_is_told(project: Path, argument: Any, said: str) -> None:
    with pytest.raises(UsageError) as error:
        PydanticEvals.create(
            SuiteSpec(kind="pydantic_evals", argument=argument, root=str(project))
        ).scenarios()
    assert said in str(error.value)


def test_without_pydantic_evals_the_error_has_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'agentmut\[pydantic-evals\]'"):
        PydanticEvals.create(SuiteSpec(kind="pydantic_evals", argument={"dataset": "a:b", "task": "a:c"}))


def test_a_dataset_without_cases_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty_evals.py").write_text(
        "from pydantic_evals import Dataset\n"
        "dataset = Dataset(name='d', cases=[])\n"
        "async def desk(question, config): return ''\n"
    )
    argument: Any = {"dataset": "empty_evals:dataset", "task": "empty_evals:desk"}
    spec = SuiteSpec(kind="pydantic_evals", argument=argument, root=str(tmp_path))
    with pytest.raises(UsageError, match="has no cases"):
        PydanticEvals.create(spec).scenarios()
