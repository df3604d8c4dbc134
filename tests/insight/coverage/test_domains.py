"""Which boundaries a schema has, and which calls are on them."""

from typing import Any

import pytest

from agentmut.insight.coverage.boundaries import boundaries
from agentmut.nouns.tools import ToolSpec
from tests.processor import processor_time


def tool(schema: dict[str, Any], **whole: Any) -> ToolSpec:
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"], **whole}
    return ToolSpec(name="t", parameters=parameters)


def said(schema: dict[str, Any], **whole: Any) -> list[str]:
    return [found.item.name.removeprefix("t.") for found in boundaries(tool(schema, **whole))[0]]


def on(schema: dict[str, Any], *values: Any, **whole: Any) -> list[str]:
    """The boundaries that calls with these values are on."""
    found = boundaries(tool(schema, **whole))[0]
    return [
        b.item.name.removeprefix("t.x ") for b in found if any(b.is_hit_by({"x": value}) for value in values)
    ]


def left_out(schema: dict[str, Any]) -> list[str]:
    return [each.why for each in boundaries(tool(schema))[1]]


def test_a_whole_number_is_met_at_its_bounds_and_one_inside() -> None:
    schema = {"type": "integer", "minimum": 1, "maximum": 10}
    assert said(schema) == ["x minimum", "x just above minimum", "x maximum", "x just below maximum"]
    assert on(schema, 1) == ["minimum"]
    assert on(schema, 2, 9) == ["just above minimum", "just below maximum"]
    assert on(schema, 0, 3, 8, 11, "1", True, None) == []


def test_near_a_bound_of_a_number_is_a_hundredth_of_its_width() -> None:
    schema = {"type": "number", "minimum": 0, "maximum": 500}
    assert on(schema, 5) == on(schema, 0.01) == ["just above minimum"]
    assert on(schema, 5.1, -0.1) == []
    assert on({"type": "number", "minimum": 0}, 0.01) == ["just above minimum"]
    assert on({"type": "number", "minimum": 0}, 0.02) == []


def test_an_open_bound_is_no_value_itself() -> None:
    whole = {"type": "integer", "exclusiveMinimum": 0}
    assert on(whole, 0) == []
    assert on(whole, 1) == ["minimum"] and on(whole, 2) == ["just above minimum"]
    part = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 100}
    assert said(part) == ["x near minimum", "x near maximum"]
    assert on(part, 0, 100) == [] and on(part, 0.5, 99.5) == ["near minimum", "near maximum"]
    assert on({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, 4) == ["minimum"]  # draft 4


def test_zero_between_the_bounds_is_a_boundary() -> None:
    assert on({"type": "integer", "minimum": -5, "maximum": 5}, 0) == ["zero"]
    assert "x zero" not in said({"type": "integer", "minimum": 0, "maximum": 5})


def test_steps_of_a_number_are_what_lies_inside() -> None:
    schema = {"type": "number", "minimum": 0, "multipleOf": 5}
    assert on(schema, 5) == ["just above minimum"] and on(schema, 0) == ["minimum"]


def test_texts_have_lengths_a_pattern_and_a_format() -> None:
    schema = {"type": "string", "minLength": 2, "maxLength": 4}
    assert on(schema, "ab") == ["shortest"] and on(schema, "abcd") == ["longest"]
    assert on(schema, "abc", "", "abcde", 12) == []
    assert said({"type": "string", "maxLength": 4}) == ["x empty", "x longest"]
    assert on({"type": "string", "pattern": "^A-[0-9]+$"}, "A-12") == ["pattern"]
    assert on({"type": "string", "pattern": "^A-[0-9]+$"}, "B-12") == []
    assert on({"type": "string", "format": "date"}, "2026-02-28") == ["format date"]
    assert on({"type": "string", "format": "date"}, "2026-02-30") == []


def test_arrays_are_empty_single_several_and_full() -> None:
    schema = {"type": "array", "items": {"type": "boolean"}}
    assert said(schema) == ["x empty", "x one item", "x several items", "x[] = true", "x[] = false"]
    assert on(schema, [], [True, True]) == ["empty", "several items", "t.x[] = true"]
    limited = {"type": "array", "minItems": 2, "maxItems": 4}
    assert said(limited) == ["x fewest items", "x several items", "x most items"]
    assert on(limited, [1, 2]) == ["fewest items"]
    assert on(limited, [1, 2, 3]) == ["several items"]
    assert on(limited, [1, 2, 3, 4]) == ["most items"]
    assert said({"type": "array", "minItems": 1, "maxItems": 1}) == ["x one item"]


def test_every_value_of_an_enumeration_counts() -> None:
    assert said({"enum": ["low", "high", None, 3]}) == ['x = "low"', 'x = "high"', "x = 3"]
    assert on({"enum": ["low", "high"]}, "high") == ['= "high"']
    assert on({"type": "boolean"}, False) == ["= false"]
    assert on({"type": "boolean"}, 0) == []


def test_an_optional_parameter_is_given_once_and_left_out_once() -> None:
    assert said({"type": "boolean"}, required=[])[:2] == ["x present", "x absent"]
    found = {b.item.name: b for b in boundaries(tool({"type": "boolean"}, required=[]))[0]}
    assert found["t.x absent"].is_hit_by({}) and found["t.x absent"].is_hit_by({"x": None})
    assert not found["t.x absent"].is_hit_by({"x": False}) and found["t.x present"].is_hit_by({"x": False})


def test_what_may_be_null_is_what_it_is_besides() -> None:
    assert said({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}) == [
        "x minimum",
        "x just above minimum",
    ]
    assert said({"type": ["boolean", "null"]}) == ["x = true", "x = false"]


def test_each_branch_of_a_choice_has_its_boundaries() -> None:
    schema = {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["all"]}]}
    assert said(schema) == ["x minimum", "x just above minimum", 'x = "all"']


def test_bounds_that_differ_between_branches_are_told_apart() -> None:
    few, many = {"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 100}
    schema = {
        "anyOf": [{"type": "object", "properties": {"n": one}, "required": ["n"]} for one in (few, many)]
    }
    assert said(schema) == [
        "x.n minimum", "x.n just above minimum", "x.n minimum 100", "x.n just above minimum 101",
    ]  # fmt: skip


def test_absurd_values_of_a_model_are_on_no_boundary() -> None:
    schema = {"type": "number", "minimum": 0, "maximum": 10**400}
    assert on(schema, 10**400, float("inf"), float("nan"), {"a": 1}, [0]) == []


def test_references_and_objects_in_objects_are_gone_into() -> None:
    line = {"type": "object", "properties": {"count": {"type": "integer", "minimum": 1}}}
    schema = {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1, "maxItems": 2}
    found = boundaries(tool(schema, **{"$defs": {"line": line}}))[0]
    by_name = {b.item.name: b for b in found}
    assert [*by_name] == [
        "t.x one item", "t.x most items", "t.x[].count present", "t.x[].count absent", "t.x[].count minimum",
        "t.x[].count just above minimum",
    ]  # fmt: skip
    call = {"x": [{"count": 1}, {}]}
    assert [name for name, b in by_name.items() if b.is_hit_by(call)] == [
        "t.x most items", "t.x[].count present", "t.x[].count absent", "t.x[].count minimum",
    ]  # fmt: skip


def test_a_schema_that_leads_back_into_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    found, left = boundaries(tool({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}}))
    assert {b.item.name for b in found} >= {"t.x.next present", "t.x.next absent"}
    assert any("leads back" in each.why for each in left)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "number"}, "a number without minimum and maximum"),
        ({"type": "string"}, "a text without length"),
        ({}, "states no type"),
        ({"type": "colour"}, "unknown type 'colour'"),
        ({"type": "string", "pattern": "("}, "cannot be read"),
        ({"type": "string", "format": "stardate"}, "'stardate' cannot be checked"),
    ],
)
def test_what_has_no_boundary_is_left_out_with_the_reason(schema: dict[str, Any], why: str) -> None:
    assert said(schema) == []
    assert len(found := left_out(schema)) == 1 and why in found[0]


def test_the_example_of_a_boundary_is_on_it() -> None:
    import json

    for schema in (
        {"type": "integer", "exclusiveMinimum": 3, "maximum": 9},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "number", "minimum": -2, "maximum": 2.5},
        {"enum": ["a", 2]},
        {"type": "array"},
        {"type": "string", "maxLength": 3},
    ):
        shown = [boundary for boundary in boundaries(tool(schema))[0] if boundary.item.example]
        assert shown, schema
        for boundary in shown:
            assert boundary.is_hit_by({"x": json.loads(boundary.item.example)}), boundary.item


def test_large_whole_numbers_are_told_apart() -> None:
    for most in (2147483647, 9999999999, 2**53 + 2):
        schema = {"type": "integer", "minimum": 1, "maximum": most}
        assert on(schema, most) == ["maximum"]
        assert on(schema, most - 1) == ["just below maximum"]
        assert on(schema, most - 2, most + 1) == []


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 3}, {"minimum": "3"}),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 1}, {"minimum": "1"}),
        ({"type": "integer", "minimum": 1, "maximum": 2}, {"minimum": "1", "maximum": "2"}),
        ({"type": "integer", "minimum": 1, "maximum": 3},
         {"minimum": "1", "just above minimum": "2", "maximum": "3"}),
        ({"type": "integer", "minimum": 1, "multipleOf": 5}, {"minimum": "5", "just above minimum": "10"}),
        ({"type": "integer", "minimum": 1, "multipleOf": 1.5}, {"minimum": "3", "just above minimum": "6"}),
        ({"type": "integer", "minimum": 0.5, "maximum": 3.5},
         {"minimum": "1", "just above minimum": "2", "maximum": "3"}),
        ({"type": "number", "minimum": 2, "maximum": 2}, {"minimum": "2"}),
        ({"type": "number", "minimum": -1.7e308, "maximum": 1.7e308},
         {"minimum": str(-17 * 10**307), "just above minimum": None, "maximum": None,
          "just below maximum": None, "zero": "0"}),
        ({"type": "integer", "maximum": 3, "allOf": [{"minimum": 2}]}, {"minimum": "2", "maximum": "3"}),
        ({"allOf": [{"type": "integer"}, {"minimum": 1}, {"minimum": 2, "maximum": 3}]},
         {"minimum": "2", "maximum": "3"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "maximum": 3},
         {"maximum": "3", "just below maximum": "2"}),
    ],
)  # fmt: skip
def test_boundaries_are_values_that_the_schema_allows_each_once(
    schema: dict[str, Any], values: dict[str, str | None]
) -> None:
    found = {b.item.name.removeprefix("t.x "): b.item.example for b in boundaries(tool(schema))[0]}
    assert [*found] == [*values]
    assert {name: found[name] for name, value in values.items() if value} == {
        k: v for k, v in values.items() if v
    }


def test_decimals_are_met_as_they_are_written_and_as_they_are_computed() -> None:
    schema = {"type": "number", "minimum": 0, "maximum": 0.3, "multipleOf": 0.1}
    assert on(schema, 0.3) == on(schema, 0.1 + 0.2) == ["maximum"]
    assert on({"type": "number", "minimum": -1.7e308, "maximum": 1.7e308}, 0) == ["zero"]
    assert on({"type": "number", "minimum": 0, "maximum": 1e-9}, 1e-9) == ["maximum"]


def test_lists_have_several_items_only_where_such_a_length_is_allowed() -> None:
    assert said({"type": "array", "minItems": 3, "maxItems": 4}) == ["x fewest items", "x most items"]
    assert said({"type": "array", "minItems": 0, "maxItems": 3})[2] == "x several items"


def test_equal_numbers_are_one_value_of_an_enumeration() -> None:
    assert on({"enum": [1, 2]}, 1.0, True) == ["= 1"]
    assert said({"enum": [1, 1.0, True]}) == ["x = 1", "x = true"]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 1}, "leave no value"),
        ({"type": "integer", "minimum": 5, "maximum": 1}, "leave no value"),
        ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "leave no value"),
        ({"type": "number", "minimum": 1, "exclusiveMaximum": 1}, "leave no value"),
        ({"type": "array", "minItems": 2, "maxItems": 1}, "leave no value"),
        ({"type": "string", "pattern": "a{99999999999}"}, "cannot be read"),
        ({"type": "string", "pattern": "^(a+)+$"}, "too long to match"),
        ({"type": "string", "pattern": "^(a|aa)+$"}, "too long to match"),
        ({"type": "string", "pattern": "a?" * 30 + "a" * 30}, "too long to match"),
    ],
)
def test_a_domain_without_values_and_a_pattern_that_takes_too_long_are_left_out(
    schema: dict[str, Any], why: str
) -> None:
    assert said(schema) == []
    assert len(found := left_out(schema)) == 1 and why in found[0]


def test_no_pattern_takes_long_whatever_the_text_is() -> None:
    for pattern in (r"a*a*b", r"^\w+@\w+\.\w+$", r"\d+\s*\d+$", r"^(ab|cd)x*y*$", r"x{1,40}x{1,40}y"):
        with processor_time() as used:
            for text in ("a" * 1000, "1" * 300, "x" * 300, "a" * 100_000):
                on({"type": "string", "pattern": pattern}, text)
        assert used.seconds < 4.0, pattern
    address = f"{'some' * 20}@example.org"
    assert on({"type": "string", "pattern": r"^\w+@\w+\.\w+$"}, address) == ["pattern"]
