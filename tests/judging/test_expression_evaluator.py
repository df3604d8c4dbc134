"""The expression language: what it can say, and what it refuses."""

import os
import re
from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.judging.evaluators.expression import NAMES, Expression, Predicate
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Check, Step, Usage

SCENARIO = Scenario(name="s", turns=("hi", "bye"), evaluators=(EvaluatorSpec(name="contains", argument="x"),))
TRACE = AgentTrace(
    steps=(
        Step(action=Action.REASON, usage=Usage(input_tokens=3, output_tokens=4), usd=0.5),
        Step(action=Action.CALL_TOOL, tool="lookup", arguments={"id": "7"}, output={"state": "late"}),
        Step(action=Action.CALL_TOOL, tool="refund", arguments={"id": "7"}, error="no"),
        Step(action=Action.RESPOND),
    ),
    outputs=("hello", '{"department": "Billing", "scores": [1, 2]}'),
    seconds=1.5,
)


def check(source: str, trace: AgentTrace = TRACE) -> Check:
    return Expression(source).evaluate(SCENARIO, trace)


@pytest.mark.parametrize(
    "source",
    [
        "'billing' in text.lower()",
        "json['department'] == 'Billing' and steps == 4",
        "json.get('missing') is None",
        "output.startswith('{')",
        "outputs[0] == 'hello' and len(outputs) == 2",
        "turns == ['hi', 'bye']",
        "tools == ['lookup', 'refund']",
        "calls[0]['output']['state'] == 'late' and calls[1]['error'] == 'no'",
        "all([call['arguments']['id'] == '7' for call in calls])",
        "any(score > 1 for score in json['scores'])",
        "tokens == 7 and usd <= 0.5 and seconds < 2",
        "not (steps > 10) if tools else False",
        "tools.index('lookup') < tools.index('refund')",
        "sum(json['scores']) == 3 and max(json['scores']) == 2",
    ],
)
def test_an_expression_reads_the_run(source: str) -> None:
    assert check(source).passed, check(source).reason


def test_every_documented_name_can_be_used_and_is_documented() -> None:
    documented = Expression.__doc__ or ""
    for name in NAMES:
        assert check(f"{name} == {name}").passed
        assert f"`{name}`" in documented


def test_a_false_expression_shows_itself_and_the_output() -> None:
    result = check("steps < 2")
    assert not result.passed
    assert "`steps < 2` does not hold" in result.reason
    assert "Billing" in result.reason


@pytest.mark.parametrize(
    ("source", "piece"),
    [
        ("json['nope'] == 1", "cannot be evaluated"),
        ("json['department'] > 3", "cannot be evaluated"),
        ("json['scores'][9] == 1", "cannot be evaluated"),
        ("len(steps) == 1", "cannot be evaluated"),
        ("steps / 0 == 1", "cannot be evaluated"),
        ("int(text) == 1", "cannot be evaluated"),
        ("len(tools)", "neither true nor false"),
        ("'x' * 1000000 == text", "cannot be evaluated"),
        ("9 ** 99999999 > 1", "cannot be evaluated"),
    ],
)
def test_what_the_data_does_not_allow_is_an_error_of_the_evaluator(source: str, piece: str) -> None:
    with pytest.raises(RunError, match=f"{re.escape(source)}` .*{piece}.*otherwise: fail"):
        check(source)
    failed = Expression({"check": source, "otherwise": "fail"}).evaluate(SCENARIO, TRACE)
    assert (failed.passed, piece in failed.reason) == (False, True), failed.reason


def test_a_price_that_nobody_knows_is_no_failure_of_the_agent() -> None:
    unpriced = TRACE.model_copy(update={"steps": (Step(action=Action.REASON, usage=Usage(input_tokens=3)),)})
    with pytest.raises(RunError, match="`usd < 1` cannot be evaluated"):
        check("usd < 1", unpriced)
    assert not check("usd is not None and usd < 1", unpriced).passed


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"check": "steps > 1", "otherwise": "pass"}, "expects otherwise to be fail"),
        ({"otherwise": "fail"}, "expects the key 'check'"),
        ({"check": "steps > 1", "else": "fail"}, "unknown key 'else'"),
        ("(" * 5000 + "1" + ")" * 5000, "expects an expression"),
        ("-" * 200_000 + "1", "expects an expression"),
    ],
)
def test_a_wrong_argument_is_refused_when_it_is_built(argument: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        Expression(argument)
    assert len(str(error.value)) < 500


def test_output_that_is_no_json_gives_none() -> None:
    assert check("json is None", AgentTrace(outputs=("plain",))).passed
    assert not check("json is not None and json.get('a') == 1", AgentTrace(outputs=("plain",))).passed


@pytest.mark.parametrize(
    ("source", "piece"),
    [
        ("().__class__.__bases__", "unknown method .__"),
        ("text.__class__ == 1", "unknown method .__class__"),
        ("'{0.__class__}'.format(text) == ''", "unknown method .format"),
        ("calls.append(1) is None", "unknown method .append"),
        ("json.pop('department') == 1", "unknown method .pop"),
        ("open('/etc/passwd') == ''", "unknown name 'open'"),
        ("eval('1') == 1", "unknown name 'eval'"),
        ("getattr(text, 'upper')", "unknown name 'getattr'"),
        ("__import__('os').system('true') == 0", "unknown method .system"),
        ("__builtins__ == 1", "unknown name '__builtins__'"),
        ("(lambda: 1)() == 1", "lambda is not allowed"),
        ("(x := 1) == 1", "not allowed"),
        ("txt == 'a'", "Did you mean 'text'?"),
        ("json.department == 'x'", "Read a field of a mapping as ['department']"),
        ("steps <", "expects an expression"),
        ("import os", "expects an expression"),
        ("steps = 4", "expects an expression"),
    ],
)
def test_anything_outside_the_language_is_refused_when_it_is_built(source: str, piece: str) -> None:
    with pytest.raises(ValueError) as error:
        Expression(source)
    assert piece in str(error.value)


@pytest.mark.parametrize("argument", [None, True, 3, "", ["steps"]])
def test_an_expression_is_text(argument: object) -> None:
    with pytest.raises(ValueError, match="expects an expression"):
        Expression(argument)  # type: ignore[arg-type]


def test_the_trace_cannot_be_changed_through_an_expression() -> None:
    before = TRACE.model_dump()
    check("[call for call in calls] == 1")
    assert TRACE.model_dump() == before


def test_text_cannot_be_formatted_to_any_width() -> None:
    with pytest.raises(ValueError, match="joinedstr is not allowed"):
        Expression("f'{text:>999999999}' == 'x'")
    with pytest.raises(RunError, match="% works on numbers only"):
        check("'%999999999d' % 1 == 'a'")
    assert check("steps % 2 == 0").passed


def test_more_items_than_simpleeval_allows_by_itself_can_be_gone_through() -> None:
    long = AgentTrace(outputs=([0] * 12_000,))
    assert check("all(one == 0 for one in output)", long).passed


@pytest.mark.parametrize("held", [os.system, os, [os.system], {"x": os}, type, object()])
def test_no_function_or_module_can_be_taken_out_of_a_container(held: object) -> None:
    """None gets into a run's values; should one do so, no part of an expression may be it."""
    names = {"output": [held] if not isinstance(held, list) else held, "text": "a"}
    for source in (
        "output[0] == 1",
        "[one for one in output] == 1",
        "max(output) == 1",
        "output[0].lower() == 'a'",
    ):
        found = Predicate(source, names, fails_otherwise=True).of(names)
        assert found.unusable or not found.true


def test_a_forbidden_function_within_a_container_is_refused_when_it_is_reached() -> None:
    for source, held, said in (
        ("output[0] == 1", os.system, "forbidden"),
        ("[x for x in output] == []", os, "not allowed"),
    ):
        with pytest.raises(RunError, match=said):
            Predicate(source, ["output"]).of({"output": [held]})
