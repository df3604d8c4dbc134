"""Strategies that users of Hypothesis get: values that tools take, inputs near a suite's, runs."""

import math
import subprocess
import sys
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agentmut import strategies
from agentmut._base.errors import UsageError
from agentmut.insight.coverage.domains import Bound, bounds
from agentmut.insight.generate.drawing import drawn
from agentmut.insight.generate.schema_values import boundaries_of, limits, values_of
from agentmut.insight.generate.user_wording import sentences
from agentmut.nouns.scenario import EvaluatorSpec, Scenario

QUICK = settings(deadline=None, max_examples=30)
BOOKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "email": {"type": "string", "format": "email"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9},
        "fare": {"type": "number", "exclusiveMinimum": 0, "maximum": 500},
        "cabin": {"enum": ["economy", "business"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 1, "maxItems": 3},
        "guest": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
    },
    "required": ["email", "seats", "tags"],
    "$defs": {
        "Person": {
            "type": "object",
            "properties": {"age": {"type": "integer", "minimum": 0}, "friend": {"$ref": "#/$defs/Person"}},
            "required": ["age"],
        }
    },
}
TOOL = {"name": "book", "description": "Book a flight.", "parameters": BOOKING}
VALIDATOR = Draft202012Validator(BOOKING)


def scenario(name: str, text: str) -> Scenario:
    return Scenario(name=name, turns=(text,), evaluators=(EvaluatorSpec(name="contains", argument="x"),))


SUITE = (
    scenario("late", "My parcel A-1042 is late. I paid 20 euros."),
    scenario("lost", "It is lost! Please help me before 24 December."),
)


@QUICK
@given(strategies.tool_arguments(TOOL))
def test_arguments_are_valid_for_the_schema_of_the_tool(arguments: dict[str, Any]) -> None:
    VALIDATOR.validate(arguments)


@QUICK
@given(strategies.boundary_arguments(TOOL))
def test_boundary_arguments_are_valid_too(arguments: dict[str, Any]) -> None:
    VALIDATOR.validate(arguments)


def test_every_limit_is_among_the_boundary_arguments() -> None:
    found = drawn(strategies.boundary_arguments(TOOL), 120, 1)
    assert {1, 9} <= {a["seats"] for a in found}
    assert {500, 5e-324} <= {a.get("fare") for a in found}
    assert {"economy", "business", None} <= {a.get("cabin") for a in found}
    assert {1, 3} <= {len(a["tags"]) for a in found}
    assert 0 in [a["guest"]["age"] for a in found if a.get("guest")]


def test_a_function_is_read_as_a_tool() -> None:
    def refund(order: str, amount: float, why: Literal["late", "broken"] = "late") -> None:
        """Refund an order."""

    for arguments in drawn(strategies.tool_arguments(refund), 20, 1):
        assert {"order", "amount"} <= set(arguments) <= {"order", "amount", "why"}
        assert arguments.get("why", "late") in ("late", "broken")


def test_an_unbounded_text_has_no_limit_as_in_coverage() -> None:
    def find_customer(email: str) -> str:
        """Find a customer."""
        return email

    with pytest.raises(ValueError, match="has no limits"):
        strategies.boundary_arguments(find_customer)
    lengths = {len(text) for text in drawn(boundaries_of({"type": "string", "maxLength": 3}), 20, 1)}
    assert lengths == {0, 3}


def test_a_tool_without_limits_is_refused_with_the_remedy() -> None:
    free = {"name": "note", "parameters": {"type": "object", "properties": {"text": {"type": "string", "pattern": "a"}},
                                           "required": ["text"]}}  # fmt: skip
    with pytest.raises(ValueError, match=r"'note' has no limits.*tool_arguments"):
        strategies.boundary_arguments(free)
    with pytest.raises(UsageError, match="cannot read a tool"):
        strategies.tool_arguments(17)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 10}, (1, 10)),
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 10}, (2, 9)),
        ({"type": "integer", "minimum": 0.5, "maximum": 2.5}, (1, 2)),
        ({"type": "number", "minimum": 0, "multipleOf": 0.5, "exclusiveMaximum": 2}, (0, 1.5)),
        ({"type": "integer", "minimum": 3}, (3,)),
        ({"type": "boolean"}, (False, True)),
        ({"enum": ["a", None]}, ("a", None)),
        ({"const": 4}, (4,)),
        ({"type": "string"}, ()),
    ],
)
def test_limits_by_hand(schema: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert limits(schema) == expected


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    low, size = draw(st.integers(-50, 50)), draw(st.integers(0, 3))
    leaf = draw(
        st.sampled_from(
            [
                {"type": "integer", "minimum": low, "maximum": low + size},
                {"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + size + 1},
                {"type": "string", "minLength": size, "maxLength": size + 2},
                {"type": ["string", "null"]},
                {"type": "boolean"},
                {"enum": [low, "x"]},
                {"allOf": [{"type": "integer", "minimum": low}, {"maximum": low + 50}]},
            ]
        )
    )
    array = {"type": "array", "items": leaf, "minItems": size, "maxItems": size + 1}
    inner = draw(st.sampled_from([leaf, array]))
    return {
        "type": "object",
        "properties": {"a": inner, "b": leaf},
        "required": draw(st.sampled_from([[], ["a"]])),
    }


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.nested_given])
@given(schemas(), st.integers(0, 100))
def test_whatever_the_schema_values_are_valid_and_the_same_for_a_seed(
    schema: dict[str, Any], seed: int
) -> None:
    validator = Draft202012Validator(schema)
    for strategy in (values_of(schema), boundaries_of(schema)):
        found = drawn(strategy, 5, seed)
        assert found == drawn(strategy, 5, seed)
        assert found and all(validator.is_valid(value) for value in found)


def test_nothing_is_drawn_where_a_schema_allows_nothing() -> None:
    assert drawn(values_of({"type": "integer", "allOf": [{"minimum": 3}], "not": {}}), 5, 1) == ()


@QUICK
@given(strategies.inputs(SUITE))
def test_inputs_are_made_of_what_the_suite_says(turns: tuple[Any, ...]) -> None:
    assert len(turns) >= 1 and all(isinstance(turn, str) and turn for turn in turns)


def test_sentences_are_recombined_and_figures_put_at_their_limits() -> None:
    found = [str(turns[0]) for turns in drawn(strategies.inputs(SUITE), 150, 1)]
    assert any("late" in text and "lost" in text and len(sentences(text)) >= 3 for text in found)
    assert any("A-9999" in text for text in found)
    assert any("200 euros" in text for text in found)


def test_inputs_need_a_scenario() -> None:
    with pytest.raises(ValueError, match="at least one scenario"):
        strategies.inputs(())


@QUICK
@given(strategies.agent_traces([TOOL]))
def test_traces_call_the_tools_with_valid_arguments(trace: Any) -> None:
    assert trace.text and len(trace.tool_calls) <= 5
    for call in trace.tool_calls:
        assert call.tool == "book"
        VALIDATOR.validate(call.arguments)


@pytest.mark.process
def test_importing_agentmut_imports_no_hypothesis() -> None:
    code = "import sys, agentmut, agentmut.cli; sys.exit('hypothesis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=600, check=False).returncode == 0


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "pattern": r"^\p{L}+$"}, "pattern"),
        ({"type": "string", "pattern": "a{99999999999}"}, "pattern"),
        ({"type": "integer", "minimum": 5, "maximum": 1}, "min_value"),
        ({"$ref": "#/$defs/nothing"}, "leads nowhere"),
    ],
)
def test_a_schema_that_cannot_be_drawn_from_is_a_clear_error(schema: dict[str, Any], said: str) -> None:
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    with pytest.raises(UsageError, match=f"no arguments can be made for tool 'odd'.*{said}"):
        strategies.tool_arguments({"name": "odd", "description": "Odd.", "parameters": parameters})
    assert drawn(values_of(parameters), 3, 1) == ()


def test_a_search_reads_the_limits_of_a_schema_as_coverage_does() -> None:
    older = {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 9}  # draft 4
    assert limits(older) == (1, 9)
    shown = [bound.example for bound in bounds(older) if isinstance(bound, Bound)]
    assert {"1", "9"} <= {*shown} and "0" not in shown
    assert limits({"type": "number", "minimum": -1, "exclusiveMinimum": True}) == (
        math.nextafter(-1, math.inf),
    )
