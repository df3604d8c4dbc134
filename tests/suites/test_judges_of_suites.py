"""What the model judges of a suite of another tool cost: counted apart from the agent, and within the budget."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pydantic_evals")

from agentmut.campaign.judge_use import merged, of_steps
from agentmut.campaign.limits import Spend, budget_reached, together
from agentmut.nouns.result import JudgeUse
from agentmut.nouns.trace import Action, Step, Usage
from agentmut.project.schema import BudgetSettings
from agentmut.report.terminal.run_page import render
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.whole

EVALS = """
import os
from dataclasses import dataclass
import httpx
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains, Evaluator

def desk(inputs, config):
    return "A refund takes 5 days." if "5 days" in config.prompt else "It depends."

@dataclass
class Asked(Evaluator):
    def evaluate(self, ctx):
        said = [{"role": "user", "content": "Is this polite? " + ctx.output}]
        body = {"model": "sim-large", "messages": said}
        reply = httpx.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body)
        return bool(reply.json()["choices"])

judges = (Contains(value="5 days"), Asked())
dataset = Dataset(name="desk", cases=[Case(name="refund", inputs="refund?", evaluators=judges)])
"""
PROJECT = """
version: 1
agent: {config: {prompt: "- Say that a refund takes 5 days.\\n- Never promise a delivery date.\\n"}}
suite: {pydantic_evals: {dataset: "judged_desk:dataset", task: "judged_desk:desk"}}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: BASELINE, n_max: 10, delta: 0.8, seed: 1}
budget: {usd: USD, prices: PRICES}
"""
PRICED = "{sim-large: {input: 1000, output: 0}}"


@pytest.fixture
def folder(tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    before = list(sys.path)
    (tmp_path / "judged_desk.py").write_text(EVALS)
    yield tmp_path
    sys.path[:] = before
    sys.modules.pop("judged_desk", None)


def written(folder: Path, usd: float, prices: str = PRICED, baseline: int = 6) -> Path:
    text = PROJECT.replace("USD", str(usd)).replace("PRICES", prices).replace("BASELINE", str(baseline))
    (folder / "agentmut.yaml").write_text(text)
    return folder


def test_a_judge_of_a_suite_is_in_the_report_and_is_no_part_of_the_agent(folder: Path) -> None:
    result = measure(written(folder, usd=1000))
    assert {row.description: row.status for row in result.mutants} == {
        'drop "Say that a refund takes 5 days."': "killed",
        'drop "Never promise a delivery date."': "survived",
    }
    (judge,) = result.judges
    assert judge.model == "sim-large" and judge.questions == result.cost.trials
    assert judge.usd == pytest.approx(judge.input_tokens * 1000 / 1e6)
    assert (result.cost.tokens, result.cost.usd) == (0, 0)
    assert f"judge sim-large: {judge.questions} questions" in render(result, False)


def test_a_budget_in_money_is_used_up_by_the_judges_of_a_suite(folder: Path) -> None:
    result = measure(written(folder, usd=0.2, baseline=40))
    assert result.status == "budget", (result.cost, result.judges)
    assert 0 < sum(judge.usd or 0 for judge in result.judges) <= 0.2


def test_a_budget_in_money_needs_the_price_of_a_judge(folder: Path) -> None:
    from agentmut._base.errors import UsageError

    with pytest.raises(UsageError, match=r"needs a price for model sim-large"):
        measure(written(folder, usd=1, prices="{}"))


def test_what_judges_took_is_added_up_by_model() -> None:
    asked = Step(action=Action.REASON, model="m", usage=Usage(input_tokens=3, output_tokens=1), usd=0.5)
    unpriced = asked.model_copy(update={"model": "x", "usd": None})
    uses = merged(of_steps([asked, unpriced, asked]))
    assert uses == (
        JudgeUse(model="m", input_tokens=6, output_tokens=2, usd=1.0, questions=2),
        JudgeUse(model="x", input_tokens=3, output_tokens=1, usd=None, questions=1),
    )
    spent = together(Spend(judges=uses[:1]), Spend(trials=1, judges=uses[:1]))
    assert spent.judges[0].usd == 2.0
    assert "used up (spent $2.00)" in budget_reached(BudgetSettings(usd=2.0), spent, 0)
