"""The model judge, through the real SDKs on services that speak the real wire formats."""

import json
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.judging.facts.answer_judge import Judge
from agentmut.judging.facts.comparison import Comparison
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace
from tests.judging_services import Bench

pytest.importorskip("openai")
# slow to import
pytestmark = pytest.mark.skipif(not find_spec("anthropic"), reason="anthropic is not installed")

SCENARIO = Scenario(name="one", turns=("hello",), evaluators=(EvaluatorSpec(name="contains", argument="a"),))
YES, NO = AgentTrace(outputs=("Yes, of course.",)), AgentTrace(outputs=("No, sorry.",))


SAME, OTHER = {"same": True, "difference": ""}, {"same": False, "difference": "one agrees, the other refuses"}


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m"])
def test_a_judge_says_what_differs_at_temperature_0_and_is_asked_once_a_pair(
    bench: Bench, model: str
) -> None:
    bench.replies(OTHER)
    judge = Judge({"model": model, "instruction": "Tone matters too."})
    assert judge.difference(SCENARIO, YES, NO) == "judge m: one agrees, the other refuses"
    assert judge.difference(SCENARIO, NO, YES) != "" and judge.difference(SCENARIO, YES, YES) == ""
    (asked,) = bench.asked
    assert asked["temperature"] == 0 and "Tone matters too." in json.dumps(asked)
    assert judge.usage.total == Comparison((judge,)).usage.total == 40


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m"])
def test_answers_that_the_judge_calls_the_same_do_not_differ(bench: Bench, model: str) -> None:
    bench.replies(SAME)
    assert Judge({"model": model}).difference(SCENARIO, YES, NO) == ""


@pytest.mark.parametrize("verdict", ["I think so", 404, {"difference": "none"}])
def test_a_judge_that_fails_says_nothing_about_the_agent(bench: Bench, verdict: Any) -> None:
    bench.replies(verdict)
    with pytest.raises(RunError, match="the judge m"):
        Judge({"model": "openai:m"}).difference(SCENARIO, YES, NO)


def test_a_judge_without_its_sdk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(RunError, match=r"pip install 'agentmut\[anthropic\]'"):
        Judge({"model": "anthropic:m"}).difference(SCENARIO, YES, NO)
