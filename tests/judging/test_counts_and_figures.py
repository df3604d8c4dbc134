"""Evaluators of how often a tool is called, of the form of arguments, and of the figures that an answer states."""

import re
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.judging.building import build
from agentmut.language.extractors.figures import stated_figures
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.testing import check_trace

SCENARIO = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="max_steps", argument=1),))


def calling(tools: str, answer: str = "", **arguments: Any) -> AgentTrace:
    steps = tuple(Step(action=Action.CALL_TOOL, tool=tool, arguments=arguments) for tool in tools)
    return AgentTrace(steps=steps, outputs=(answer,))


def passes(name: str, argument: Any, trace: AgentTrace) -> bool:
    return build(EvaluatorSpec(name=name, argument=argument)).evaluate(SCENARIO, trace).passed


@pytest.mark.parametrize(
    ("argument", "tools", "passed"),
    [
        ({"tool": "a", "exactly": 2}, "aba", True),
        ({"tool": "a", "exactly": 2}, "ab", False),
        ({"tool": "a", "exactly": 0}, "b", True),
        ({"tool": "a", "at_least": 2}, "aaa", True),
        ({"tool": "a", "at_least": 2}, "a", False),
        ({"tool": "a", "at_most": 1}, "b", True),
        ({"tool": "a", "at_most": 1}, "aa", False),
        ({"tool": "a", "at_least": 1, "at_most": 2}, "aa", True),
        ({"at_most": 2}, "abc", False),
    ],
)
def test_calls_are_counted(argument: dict[str, Any], tools: str, passed: bool) -> None:
    assert passes("tool_count", argument, calling(tools)) is passed


@pytest.mark.parametrize(
    "argument",
    [{}, {"tool": "a"}, {"tool": "a", "exactly": 1, "at_most": 2}, {"at_least": 3, "at_most": 2}, {"at_most": -1},
     {"at_most": True}, {"at_most": 1.5}, {"most": 1}, "a", {"tool": "", "exactly": 1}],
)  # fmt: skip
def test_a_count_that_makes_no_sense_is_refused(argument: Any) -> None:
    with pytest.raises(UsageError, match="tool_count"):
        build(EvaluatorSpec(name="tool_count", argument=argument))


@pytest.mark.parametrize(
    ("given", "passed"),
    [("A-1042", True), ("A-10", False), ("see A-1042", False), (1042, False), (None, False)],
)
def test_an_argument_has_to_match_its_pattern_from_end_to_end(given: Any, passed: bool) -> None:
    asked = {"tool": "a", "matching": {"id": r"[A-Z]-\d{4}"}}
    assert passes("tool_called_with", asked, calling("a", id=given)) is passed


def test_a_number_is_matched_as_it_is_written_in_json() -> None:
    asked = {"tool": "a", "arguments": {"b": True}, "matching": {"n": r"\d+\.5"}}
    assert passes("tool_called_with", asked, calling("a", n=12.5, b=True))
    assert not passes("tool_called_with", asked, calling("a", n=12.5, b=False))


@pytest.mark.parametrize(
    "argument", [{"tool": "a"}, {"tool": "a", "matching": {}}, {"tool": "a", "matching": {"id": "("}}]
)
def test_a_pattern_that_is_none_is_refused(argument: Any) -> None:
    with pytest.raises(UsageError, match="tool_called_with"):
        build(EvaluatorSpec(name="tool_called_with", argument=argument))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("30 days", "You have thirty days."),
        ("$1,200.00", "That makes 1200 dollars."),
        ("89.90 EUR", "I have refunded €89.9 to you."),
        ("2026-05-31", "It ends on May 31, 2026."),
        ("31 May", "It ends on May 31."),
        (["30 days", "KB-204"], "See KB-204: 30 days."),
        ("18:30", "We close at 18:30."),
    ],
)
def test_a_figure_is_stated_whatever_its_form(asked: Any, answer: str) -> None:
    assert passes("states", asked, calling("", answer))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("30 days", "You have 30 hours."),
        ("30 days", "You have 14 days."),
        ("$20", "Pay 20 euros."),
        ("30 days", ""),
    ],
)
def test_another_figure_is_not_the_one_asked_for(asked: Any, answer: str) -> None:
    assert not passes("states", asked, calling("", answer))


def test_what_states_no_figure_is_refused() -> None:
    with pytest.raises(UsageError, match="expects a number"):
        build(EvaluatorSpec(name="states", argument="soon"))


def test_figures_keep_how_they_are_written() -> None:
    written = stated_figures("Five days, $20, May 31, 2026").values()
    assert set(written) == {"Five days", "$20", "May 31, 2026"}


def test_a_run_is_checked_by_evaluators_as_a_scenario_file_has_them() -> None:
    run = calling("ab", "It takes five days.")
    check_trace(run, {"states": "5 days"}, {"tool_count": {"tool": "a", "exactly": 1}})
    with pytest.raises(AssertionError, match=re.escape("- tool_called: expected a call of 'c'")):
        check_trace(run, {"states": "5 days", "tool_called": "c"})
    with pytest.raises(UsageError, match="needs an evaluator"):
        check_trace(run)
