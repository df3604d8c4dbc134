"""Tasks of inspect_ai whose models send nothing, and what the models of their scorers cost."""

import asyncio
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agentmut.campaign.preparation.executors import local_executor
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Edit
from agentmut.project.loading import load_project
from agentmut.suites.inspect_ai import chat
from agentmut.trial.executor import TrialRequest

# importing it is slow
pytestmark = pytest.mark.skipif(not find_spec("inspect_ai"), reason="inspect_ai is not installed")
ROOT = Path(__file__).parents[2]
TASK = '''
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.scorer import includes, model_graded_qa
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool

PROMPT = "- Say that the shop opens at 9 am.\\n- Never promise a delivery date.\\n"

USED = ModelUsage(input_tokens=40, output_tokens=2, total_tokens=42)  # else mockllm loads a tokenizer from the network

def answered(input, tools, tool_choice, config):
    """Does what it is told, and looks up what a tool is for."""
    told = " ".join(message.text for message in input if message.role == "system")
    if input[-1].role == "user" and "status" in input[-1].text and tools:
        output = ModelOutput.for_tool_call("mock", tools[0].name, {"number": "7"})
    elif input[-1].role == "tool":
        output = ModelOutput.from_content("mock", "It is " + input[-1].text)
    else:
        output = ModelOutput.from_content("mock", "At 9 am." if "9 am" in told else "No idea.")
    output.usage = USED
    return output

def graded(input, tools, tool_choice, config):
    output = ModelOutput.from_content("judge", "GRADE: C")
    output.usage = ModelUsage(input_tokens=90, output_tokens=10, total_tokens=100)
    return output

@modelapi(name="own")
class Own(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        return answered(input, tools, tool_choice, config)

@tool
def status():
    async def execute(number: str) -> str:
        """The status of an order.

        Args:
            number: Of the order.
        """
        return "shipped"
    return execute

@task
def desk(own: bool = False):
    mock = get_model("mockllm/model", custom_outputs=answered, memoize=False)
    judge = get_model("mockllm/judge", custom_outputs=graded, memoize=False)
    return Task(
        dataset=[
            Sample(id="hours", input="When do you open?", target="9 am"),
            Sample(id="order", input="The status of order 7?", target="shipped"),
        ],
        solver=[system_message(PROMPT), use_tools(status()), generate()],
        scorer=[includes(), model_graded_qa(model=judge)],
        model=get_model("own/x", memoize=False) if own else mock,
    )
'''
PROJECT = """
version: 1
agent:
  config:
    prompt: |
      - Say that the shop opens at 9 am.
      - Never promise a delivery date.
    tools:
      - name: status
        description: The status of an order.
        parameters: {type: object, properties: {number: {type: string}}}
suite: {inspect: {task: evals.py@desk, args: {own: OWN}}}
mutation: {operators: [prompt.drop_instruction, tool.remove]}
budget: {prices: {judge: {input: 10, output: 10}, mock: {input: 0.001, output: 0.001}}}
execution: {concurrency: 1, timeout: 600}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    before = list(sys.path)
    (tmp_path / "evals.py").write_text(TASK)
    yield tmp_path
    sys.path[:] = before


def ran(project: Path, own: bool) -> dict[str, Execution]:
    """The original and each of its mutants, by the first word of what is lost, on the sample that tells."""
    (project / "agentmut.yaml").write_text(PROJECT.replace("OWN", str(own).lower()))
    session = open_session(load_project(project))
    mutants = {one.description.split()[-1]: one for one in make_mutants(session, Selection()).mutants}

    async def run() -> dict[str, Execution]:
        executor = local_executor(session)
        async with executor.session():
            asked = [
                ("", None, "order"),
                *((k, m, "order" if k == "status" else "hours") for k, m in mutants.items()),
            ]
            return {k: await executor.execute(TrialRequest(m, sample, f"t-{k}")) for k, m, sample in asked}

    return asyncio.run(run())


def passed(execution: Execution) -> bool:
    assert execution.ending is Ending.ANSWERED, execution.reason
    return all(check.passed for check in execution.trace.checks)


@pytest.mark.parametrize("own", [False, True], ids=["mockllm", "a model of one's own"])
def test_mutants_reach_a_model_that_sends_nothing_and_its_judge_is_counted_apart(
    project: Path, own: bool
) -> None:
    runs = ran(project, own)
    assert {name: passed(run) for name, run in runs.items()} == {
        "": True,
        'am."': False,
        'date."': True,  # no scorer looks at it
        "status": False,
    }
    original = runs[""]
    assert original.trace.text == "It is shipped" and original.trace.tools_called == ("status",)
    assert len(original.footprint.order) == 2 and original.trace.usage.total == 84
    for run in runs.values():  # one question, 90 + 10 tokens, 10 dollars a million
        assert [(step.model, step.usage.total, step.usd) for step in run.judging] == [("judge", 100, 0.001)]


@pytest.mark.parametrize("changed", ["/model/name", "/model/response_format"])
def test_what_a_model_in_the_process_is_not_told_is_no_mutant_of_it(project: Path, changed: str) -> None:
    (project / "agentmut.yaml").write_text(PROJECT.replace("OWN", "false"))
    session = open_session(load_project(project))
    edit = Edit(pointer=changed, before="", after="x")
    mutant = make_mutants(session, Selection()).mutants[0].model_copy(update={"edits": (edit,)})
    assert "is not told of" in session.adapter.cannot_express(mutant)


def test_what_is_not_changed_of_a_question_is_asked_as_it_was() -> None:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
    from inspect_ai.tool import ToolInfo

    messages: list[Any] = [ChatMessageSystem(content="Be polite. Be brief."), ChatMessageUser(content="Hi")]
    asked: Any = (messages, [ToolInfo(name="find", description="Finds.")], "auto", GenerateConfig(seed=3))
    body = chat.as_body("m", *asked)
    same = chat.as_asked(body, asked)
    assert same[0][0] is messages[0] and same[0][1] is messages[1] and same[3] is asked[3]
    assert same[1][0] is asked[1][0]
    body["messages"][0]["content"] = "Be polite."
    del body["messages"][1], body["seed"]
    body["tools"][0]["function"]["name"] = "search"
    changed = chat.as_asked(body, asked)
    assert [(one.role, one.text, one.id) for one in changed[0]] == [("system", "Be polite.", messages[0].id)]
    assert changed[1][0].name == "search" and changed[3].seed is None and asked[3].seed == 3
