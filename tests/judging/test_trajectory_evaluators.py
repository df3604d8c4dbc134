"""Evaluators of tools, order, steps, cost and time, over traces written by hand."""

from typing import Any

import pytest

from agentmut._base.errors import EvaluatorError
from agentmut.judging.evaluators.trajectory import (
    MaxCost,
    MaxSeconds,
    MaxSteps,
    ToolCalled,
    ToolCalledWith,
    ToolNotCalled,
    ToolOrder,
)
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Check, Step, Usage

SCENARIO = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="max_steps", argument=1),))


def calling(*tools: str) -> AgentTrace:
    return AgentTrace(steps=tuple(Step(action=Action.CALL_TOOL, tool=tool) for tool in tools))


def reasoning(*costs: float | None) -> AgentTrace:
    return AgentTrace(steps=tuple(Step(action=Action.REASON, model="m-1", usd=usd) for usd in costs))


def check(evaluator: Any, trace: AgentTrace) -> Check:
    result = evaluator.evaluate(SCENARIO, trace)
    assert isinstance(result, Check)
    return result


@pytest.mark.parametrize(
    ("evaluator", "tools", "passed"),
    [
        (ToolCalled("a"), "ab", True),
        (ToolCalled(["a", "b"]), "ab", True),
        (ToolCalled(["a", "c"]), "ab", False),
        (ToolCalled("a"), "", False),
        (ToolNotCalled("c"), "ab", True),
        (ToolNotCalled(["c", "b"]), "ab", False),
        (ToolNotCalled("a"), "", True),
    ],
)
def test_calls_are_looked_up_by_name(evaluator: Any, tools: str, passed: bool) -> None:
    assert check(evaluator, calling(*tools)).passed is passed


@pytest.mark.parametrize(
    ("mode", "called", "passed"),
    [
        ("subsequence", "aab", True),
        ("subsequence", "axby", True),
        ("subsequence", "ba", False),
        ("subsequence", "a", False),
        ("strict", "ab", True),
        ("strict", "axb", False),
        ("strict", "aab", False),
        ("unordered", "ba", True),
        ("unordered", "bab", False),
        ("unordered", "a", False),
        ("subset", "b", True),
        ("subset", "", True),
        ("subset", "bb", False),
        ("subset", "bx", False),
        ("superset", "bxa", True),
        ("superset", "bx", False),
    ],
)
def test_tool_order_means_what_its_mode_says(mode: str, called: str, passed: bool) -> None:
    evaluator = ToolOrder({"tools": ["a", "b"], "mode": mode})
    assert check(evaluator, calling(*called)).passed is passed


def test_repeats_count_in_a_subsequence() -> None:
    assert not check(ToolOrder(["a", "a"]), calling("a", "b")).passed
    assert check(ToolOrder(["a", "a"]), calling("a", "b", "a")).passed


@pytest.mark.parametrize(
    ("evaluator", "tools", "reason"),
    [
        (
            ToolOrder(["verify_identity", "issue_refund"]),
            ["lookup_order", "issue_refund"],
            "expected tool 'verify_identity' before 'issue_refund'; called: lookup_order, issue_refund",
        ),
        (ToolOrder(["a", "b"]), ["b", "a"], "expected tool 'b' after 'a'; called: b, a"),
        (ToolOrder(["a"]), [], "expected tool 'a'; called: no tool"),
        (
            ToolOrder({"tools": ["a", "b"], "mode": "subset"}),
            ["a", "c", "a"],
            "expected no call beyond 'a', 'b'; too many: 'a', 'c'; called: a, c, a",
        ),
        (ToolCalled("a"), ["b"], "expected a call of 'a'; called: b"),
        (ToolNotCalled("b"), ["b"], "called the forbidden 'b'; called: b"),
        (
            ToolCalledWith({"tool": "a", "arguments": {"id": "7"}}),
            ["b"],
            "expected a(id='7'); called: b",
        ),
    ],
)
def test_a_failed_check_names_the_tools(evaluator: Any, tools: list[str], reason: str) -> None:
    assert check(evaluator, calling(*tools)).reason == reason


@pytest.mark.parametrize(
    ("made", "passed"),
    [
        ([{"id": "A-1", "amount": 5}], True),
        ([{"id": "A-2"}, {"id": "A-1"}], True),
        ([{"id": "A-2"}], False),
        ([{"amount": 5}], False),
        ([None], False),
    ],
)
def test_some_call_must_have_all_named_arguments(made: list[Any], passed: bool) -> None:
    steps = tuple(Step(action=Action.CALL_TOOL, tool="refund", arguments=arguments) for arguments in made)
    evaluator = ToolCalledWith({"tool": "refund", "arguments": {"id": "A-1"}})
    assert check(evaluator, AgentTrace(steps=steps)).passed is passed


def test_arguments_may_be_split_over_calls_only_in_vain() -> None:
    steps = tuple(Step(action=Action.CALL_TOOL, tool="t", arguments=a) for a in ({"x": 1}, {"y": 2}))
    result = check(ToolCalledWith({"tool": "t", "arguments": {"x": 1, "y": 2}}), AgentTrace(steps=steps))
    assert (result.passed, result.reason) == (False, "expected t(x=1, y=2); called t(x=1); t(y=2)")


def test_every_kind_of_step_counts_towards_max_steps() -> None:
    trace = AgentTrace(
        steps=(Step(action=Action.REASON), Step(action=Action.CALL_TOOL), Step(action=Action.RESPOND))
    )
    assert check(MaxSteps(3), trace).passed
    result = check(MaxSteps(2), trace)
    assert (result.passed, result.reason) == (False, "took 3 steps, at most 2 allowed")


def test_cost_is_summed_over_the_model_calls() -> None:
    assert check(MaxCost(0.03), reasoning(0.01, 0.015)).passed
    result = check(MaxCost(0.02), reasoning(0.01, 0.015))
    assert (result.passed, result.reason) == (False, "cost $0.025, at most $0.02 allowed")


def test_a_run_may_take_the_seconds_it_is_allowed() -> None:
    assert check(MaxSeconds(2), AgentTrace(seconds=2.0)).passed
    result = check(MaxSeconds(1.5), AgentTrace(seconds=4.5678))
    assert (result.passed, result.reason) == (False, "took 4.57 s, at most 1.5 s allowed")


def test_an_unknown_price_is_an_error_of_the_evaluator_and_names_the_model() -> None:
    with pytest.raises(EvaluatorError, match=r"price of model m-1 unknown, set budget\.prices"):
        unpriced = Step(action=Action.REASON, model="m-1", usage=Usage(input_tokens=3))
        MaxCost(1).evaluate(SCENARIO, AgentTrace(steps=(unpriced,)))
    with pytest.raises(EvaluatorError, match="replies of model m-1 report no tokens"):
        MaxCost(1).evaluate(SCENARIO, reasoning(0.01, None))


def test_a_model_call_that_failed_costs_nothing() -> None:
    failed = Step(action=Action.REASON, model="m-1", error="503")
    trace = AgentTrace(steps=(*reasoning(0.01).steps, failed))
    assert check(MaxCost(0.01), trace).passed


def test_a_run_without_a_visible_model_call_has_no_known_cost() -> None:
    result = check(MaxCost(1), calling("a"))
    assert (result.passed, result.reason) == (False, "cost unknown: no model call was seen")


@pytest.mark.parametrize(
    ("evaluator", "argument", "expected"),
    [
        (ToolCalled, None, "a tool's name"),
        (ToolCalled, [], "empty list"),
        (ToolOrder, "a", "a list of tool names"),
        (ToolOrder, {"tools": ["a"], "mode": "stric"}, "Did you mean 'strict'?"),
        (ToolOrder, {"tool": ["a"]}, "Did you mean 'tools'?"),
        (ToolOrder, {"mode": "strict"}, "'tools'"),
        (ToolCalledWith, {"tool": "a"}, "'arguments'"),
        (ToolCalledWith, {"tool": "a", "arguments": {}}, "at least one"),
        (ToolCalledWith, "a", "a mapping with tool, arguments"),
        (MaxSteps, 0, "at least 1"),
        (MaxSteps, 2.5, "at least 1"),
        (MaxSteps, True, "number of steps"),
        (MaxCost, "1", "US dollars"),
        (MaxCost, -1, "US dollars"),
        (MaxSeconds, 0, "seconds above 0"),
        (MaxSeconds, "3", "seconds above 0"),
    ],
)
def test_a_bad_argument_says_what_is_expected(evaluator: Any, argument: Any, expected: str) -> None:
    with pytest.raises(ValueError) as error:
        evaluator(argument)
    assert expected in str(error.value)
