"""Evaluator functions as LangSmith and openevals have them, with openevals itself."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import NotJudgedError, UsageError
from agentmut.judging.building import build
from agentmut.judging.evaluators.langsmith import LangSmith
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.usecases.campaigns import measure

DATA = Path(__file__).parents[1] / "testdata" / "langsmith_desk"
ASKED = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="langsmith"),))


@pytest.fixture(autouse=True)
def importable() -> Iterator[None]:
    before = list(sys.path)
    sys.path.insert(0, str(DATA))
    yield
    sys.path[:] = before
    for name in ("judges", "desk"):
        sys.modules.pop(name, None)


def judged(argument: Any, *outputs: Any, **trace: Any) -> tuple[bool, str]:
    check = LangSmith(argument).evaluate(ASKED, AgentTrace(outputs=outputs, **trace))
    return check.passed, check.reason


def test_openevals_judges_answers_of_a_scenario() -> None:
    pytest.importorskip("openevals")
    exact = {"function": "openevals.exact:exact_match", "reference": {"a": 1}}
    assert judged(exact, {"a": 1}) == (True, "exact_match is True")
    assert judged(exact, {"a": 2})[0] is False
    assert judged({**exact, "function": "openevals.exact:exact_match_async"}, {"a": 1})[0]
    near = {
        "function": "openevals.string.levenshtein:levenshtein_distance",
        "reference": "refund",
        "pass_score": 0.8,
    }
    assert judged(near, "refunds")[0] and not judged(near, "delivery")[0]


def test_a_judge_of_openevals_asks_its_model_on_loopback(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openevals")
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    service.answer = lambda request: '{"reasoning": "too curt", "score": false}'
    passed, reason = judged("judges:polite", "What?")
    assert (passed, reason) == (False, "polite is False: too curt")
    assert "What?" in str(service.requests[0].messages)


@pytest.mark.parametrize(
    ("argument", "passed", "reason"),
    [
        ("judges:plain", True, "plain is True"),
        ("judges:waits", True, "waits is True: Hi"),
        ("judges:several", False, "short is False: it is long"),
        ({"function": "judges:rated", "pass_score": 0.5}, True, "tone is 0.7, and 0.5 is enough"),
        ({"function": "judges:rated", "pass_score": {"tone": 0.8}}, False, "tone is 0.7, and 0.8 would pass"),
        (
            {
                "function": "judges:keyed",
                "input_key": "question",
                "output_key": "answer",
                "reference": "Hello",
            },
            True,
            "keyed is True",
        ),
        ({"function": "judges:more", "args": {"least": 3}}, True, "more is True"),
    ],
)
def test_a_function_is_given_what_it_takes_and_its_scores_decide(
    argument: Any, passed: bool, reason: str
) -> None:
    assert judged(argument, "Hello") == (passed, reason)


def test_a_trajectory_is_given_as_messages() -> None:
    steps = (
        Step(action=Action.CALL_TOOL, tool="find", arguments={"id": 1}, output={"ok": True}, call_id="c1"),
        Step(action=Action.RESPOND, output="Done"),
    )
    passed, reason = judged({"function": "judges:path", "outputs": "trajectory"}, "Done", steps=steps)
    assert passed, reason


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("judges:old", "takes LangSmith's"),
        ("openevals.exact:exact_match", "give the expected output as `reference`"),
        ("judges:more", "give it under `args`"),
        ({"function": "judges:plain", "args": {"x": 1}}, "takes no argument 'x'"),
        ({"function": "judges:plain", "pass_score": "0.5"}, "pass_score expects a number"),
        ({"function": "judges:plain", "outputs": "all"}, "outputs is `answer` or `trajectory`"),
        ({"function": "judges:plain", "input": "x"}, "Did you mean"),
        ("judges:plane", "Did you mean 'plain'?"),
        ({"function": "judges:plain", "args": {"outputs": "mine"}}, "args may not hold 'outputs'"),
        ({"function": "judges:plain", "reference": "x"}, "reference is of no use"),
        ("judges:unnamed", "takes 'outputs' by position only"),
    ],
)
def test_what_does_not_fit_is_told(argument: Any, said: str) -> None:
    with pytest.raises(UsageError) as error:
        build(EvaluatorSpec(name="langsmith", argument=argument))
    assert said in str(error.value)


def test_a_function_that_fails_says_nothing_about_the_agent() -> None:
    with pytest.raises(NotJudgedError, match="ZeroDivisionError"):
        judged("judges:broken", "Hello")
    with pytest.raises(TypeError, match="pass_score"):
        judged("judges:rated", "Hello")


@pytest.mark.whole
def test_evaluator_functions_miss_what_they_do_not_look_at_and_notice_the_rest(tmp_path: Path) -> None:
    project = tmp_path / "desk"
    shutil.copytree(DATA, project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    result = measure(project)
    assert {row.description: row.status for row in result.mutants} == {
        'drop "Greet the customer."': "killed",
        'drop "Never promise a delivery date."': "survived",
    }


def judges_giving(monkeypatch: pytest.MonkeyPatch, score: Any) -> dict[str, Any]:
    monkeypatch.setattr("judges.rated", lambda outputs: score)
    return {"function": "judges:rated", "pass_score": 0.7}


@pytest.mark.parametrize(("score", "passed"), [("True_", True), ("False_", False), ("float32", True)])
def test_scores_of_numpy_count_as_pythons(monkeypatch: pytest.MonkeyPatch, score: str, passed: bool) -> None:
    numpy = pytest.importorskip("numpy")
    value = numpy.float32(0.75) if score == "float32" else getattr(numpy, score)
    found, reason = judged(judges_giving(monkeypatch, {"key": "near", "score": value}), "hello")
    assert found is passed and "numpy" not in reason


@pytest.mark.parametrize(
    "score", [{"score": None}, None, float("nan"), [{"key": "a", "score": True}, {"score": None}]]
)
def test_a_score_of_none_judges_nothing(monkeypatch: pytest.MonkeyPatch, score: Any) -> None:
    with pytest.raises(NotJudgedError, match="gives no score for rated, so it does not judge this run"):
        judged(judges_giving(monkeypatch, score), "hello")


def test_another_score_that_fails_decides_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [{"score": None}, {"key": "b", "score": 0.2}]
    assert judged(judges_giving(monkeypatch, scores), "hello") == (False, "b is 0.2, and 0.7 would pass")


def test_a_mapping_without_a_score_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match="neither passes nor fails"):
        judged(judges_giving(monkeypatch, {"skore": 1}), "hello")
