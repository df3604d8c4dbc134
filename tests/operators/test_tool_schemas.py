"""Operators on what tools take: which parameters, of which type, with which values."""

from importlib.metadata import entry_points
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agentmut._base.pointers import pointer
from agentmut._base.schemas import fault, inlined, parameters
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Intent, Mutant, Reach
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.operator import Operator, OperatorOptions

OPERATORS: dict[str, Operator] = {
    entry.name: entry.load()()
    for entry in entry_points(group="agentmut.operators")
    if entry.value.startswith("agentmut.operators.tool.")
}
ON_SCHEMAS = (
    "tool.describe_parameter_wrongly", "tool.drop_parameter", "tool.make_optional", "tool.make_required",
    "tool.change_type", "tool.drop_enum_value", "tool.add_enum_value", "tool.tighten_bounds",
    "tool.loosen_bounds",
)  # fmt: skip


def config(schema: Any) -> AgentConfig:
    return AgentConfig(tools=(ToolSpec(name="refund", parameters=schema),))


def mutants(id_: str, schema: Any) -> tuple[Mutant, ...]:
    return generate(config(schema), [OPERATORS[id_]], OperatorOptions()).mutants


def schemas(id_: str, schema: Any) -> list[Any]:
    return [mutant.apply(config(schema)).tools[0].parameters for mutant in mutants(id_, schema)]


def parameter(id_: str, stated: Any, name: str = "p") -> list[Any]:
    """What becomes of the only parameter, where it stays."""
    found = schemas(id_, {"type": "object", "properties": {name: stated}})
    return [schema["properties"][name] for schema in found]


def test_operators_on_schemas_degrade_and_matter_where_the_tool_is_called() -> None:
    for id_ in ON_SCHEMAS:
        operator = OPERATORS[id_]
        assert (operator.intent, operator.reach) == (Intent.DEGRADE, Reach.CALLED)
    (first,) = mutants("tool.drop_parameter", TWO)
    assert first.subject == "refund"


TWO = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["order"],
}


def test_a_parameter_that_the_tool_does_not_need_is_dropped() -> None:
    assert schemas("tool.drop_parameter", TWO) == [
        {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    ]
    assert schemas("tool.drop_parameter", {**TWO, "required": ["order", "amount"]}) == []


def test_required_parameters_become_optional_and_optional_ones_required() -> None:
    optional = {"type": "object", "properties": TWO["properties"]}
    assert schemas("tool.make_optional", TWO) == [optional]
    assert schemas("tool.make_required", TWO) == [{**TWO, "required": ["order", "amount"]}]
    assert [schema["required"] for schema in schemas("tool.make_required", optional)] == [
        ["order"],
        ["amount"],
    ]
    empty = {**optional, "required": []}
    assert [schema["required"] for schema in schemas("tool.make_required", empty)] == [["order"], ["amount"]]


NESTED = {
    "type": "object",
    "properties": {
        "to": {"$ref": "#/$defs/Address"},
        "from": {"$ref": "#/$defs/Address"},
        "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "a/b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "$defs": {"Address": {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]}},
}


def test_nested_parameters_are_found_once_with_their_pointers() -> None:
    assert [(pointer(p.path), pointer(p.at), p.required) for p in parameters(NESTED)] == [
        ("/properties/to", "/$defs/Address", False),
        ("/$defs/Address/properties/zip", "/$defs/Address/properties/zip", True),
        ("/properties/from", "/$defs/Address", False),
        ("/properties/items", "/properties/items", False),
        ("/properties/items/items/properties/sku", "/properties/items/items/properties/sku", False),
        ("/properties/a~1b", "/properties/a~1b/anyOf/0", False),
    ]


def test_edits_of_nested_parameters_stand_where_the_parameter_does() -> None:
    found = mutants("tool.change_type", NESTED)
    assert [mutant.edits[0].pointer for mutant in found] == [
        "/tools/0/parameters/$defs/Address/properties/zip/type",
        "/tools/0/parameters/properties/items/type",
        "/tools/0/parameters/properties/a~1b/anyOf/0/type",
    ]


def test_a_schema_that_refers_to_itself_is_gone_through_once() -> None:
    tree = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Node"}, "loop": {"$ref": "#/$defs/Loop"}},
        "$defs": {
            "Node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}},
            "Loop": {"$ref": "#/$defs/Loop"},
        },
    }
    assert [p.name for p in parameters(tree)] == ["root", "child", "loop"]
    assert inlined(tree)["properties"]["root"]["properties"]["child"] == {"$ref": "#/$defs/Node"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "string"}, {"type": "integer"}),
        ({"type": "string", "maxLength": 9, "default": "x"}, {"type": "integer"}),
        (
            {"type": "string", "pattern": r"\d{6}", "description": "d"},
            {"type": "integer", "description": "d"},
        ),
        ({"type": "integer", "minimum": 1, "default": 3}, {"type": "string"}),
        ({"type": "number", "minimum": 1, "default": 3}, {"type": "integer", "minimum": 1, "default": 3}),
        ({"type": "number", "default": 0.5}, {"type": "integer"}),
        ({"type": "boolean", "default": True}, {"type": "string"}),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, {"type": "string"}),
        ({"type": ["string", "null"], "default": None}, {"type": ["integer", "null"], "default": None}),
    ],
)
def test_a_changed_type_takes_what_does_not_fit_it_along(before: Any, after: Any) -> None:
    assert parameter("tool.change_type", before, "id") == [after]


@pytest.mark.parametrize(
    "left",
    [
        {"type": "object"},
        {"type": ["string", "integer"]},
        {},
        {"enum": ["a"]},
        {"type": "string", "pattern": "^RL-[0-9]{6}$"},
        {"type": "string", "description": "Such as RL-104233."},
    ],
)
def test_what_has_no_plausible_other_type_keeps_its_own(left: Any) -> None:
    assert parameter("tool.change_type", left, "id") == []


def test_a_text_that_nobody_takes_for_a_number_keeps_its_type() -> None:
    fields: dict[str, Any] = {"customerName": {}, "reason": {}, "grund": {}, "at": {"format": "email"}}
    fields |= {"order": {}, "name_id": {}, "fecha": {"format": "date"}, "size": {"enum": ["1", "2"]}}
    fields |= {"Rechnungsnummer": {}, "sql": {}, "pattern": {}, "localizador": {}}
    schema = {"properties": {name: {"type": "string", **field} for name, field in fields.items()}}
    changed = [mutant.edits[0].pointer.split("/")[-2] for mutant in mutants("tool.change_type", schema)]
    assert changed == ["order", "name_id", "Rechnungsnummer"]


def test_the_last_and_the_middle_one_of_allowed_values_go_but_never_the_default() -> None:
    allowed = {"type": "string", "enum": ["a", "b", "c", "d", "e"]}
    found = parameter("tool.drop_enum_value", allowed)
    assert [schema["enum"] for schema in found] == [["a", "b", "c", "d"], ["a", "b", "d", "e"]]
    found = parameter("tool.drop_enum_value", {**allowed, "default": "c"})
    assert [schema["enum"] for schema in found] == [["a", "b", "c", "d"]]
    assert parameter("tool.drop_enum_value", {"enum": ["only"]}) == []
    assert parameter("tool.drop_enum_value", {"enum": ["one", "two"]}) == [{"enum": ["one"]}]


@pytest.mark.parametrize(
    ("name", "values", "more"),
    [
        ("reason", ["ordered_twice", "no_longer_needed"], ["other"]),
        ("reason", ["damaged", "late"], ["wrong_item"]),
        ("reason", ["too_big", "other"], []),
        ("reason", ["TOO_BIG", "UGLY"], ["OTHER"]),
        ("Priority", ["Low", "Normal", "High"], ["Medium"]),
        ("locale", ["en", "de", "fr"], ["es"]),
        ("art", ["niedrig", "hoch"], ["normal"]),
        ("court", ["UKSC", "EWCA"], []),
        ("template", ["bump", "breakup"], []),
        ("p", [1, 2, 5], [6]),
    ],
)
def test_a_further_value_is_the_next_of_a_known_list(name: str, values: list[Any], more: list[Any]) -> None:
    found = parameter("tool.add_enum_value", {"enum": values}, name)
    assert found == [{"enum": [*values, one]} for one in more]


@pytest.mark.parametrize(
    ("bounds", "tightened"),
    [
        ({"minimum": 0, "maximum": 500}, [{"minimum": 1, "maximum": 500}, {"minimum": 0, "maximum": 250}]),
        ({"minimum": 6, "exclusiveMaximum": 10}, []),
        ({"minimum": 1, "maximum": 365}, [{"minimum": 1, "maximum": 150}]),
        ({"minimum": 1000, "maximum": 300_000},
         [{"minimum": 2000, "maximum": 300_000}, {"minimum": 1000, "maximum": 150_000}]),
        ({"minimum": 1900, "maximum": 2100}, []),
        ({"maximum": 500}, [{"maximum": 250}]),
        ({"maximum": 0.5}, [{"maximum": 0.25}]),
        ({"exclusiveMinimum": 0}, [{"exclusiveMinimum": 1}]),
        ({"minimum": -10}, [{"minimum": -5}]),
        ({"maximum": -10}, [{"maximum": -20}]),
        ({"minLength": 4}, [{"minLength": 8}]),
        ({"minLength": 2, "maxLength": 5}, [{"minLength": 4, "maxLength": 5}]),
        ({"maxItems": 1}, []),
        ({"maxItems": 0}, []),
        ({"minItems": 0}, [{"minItems": 1}]),
        ({"type": "integer", "maximum": 5}, [{"type": "integer", "maximum": 2}]),
        ({"type": "integer", "minimum": 1, "exclusiveMaximum": 1}, []),
    ],
)  # fmt: skip
def test_a_bound_is_tightened_to_a_round_value(bounds: Any, tightened: list[Any]) -> None:
    assert parameter("tool.tighten_bounds", bounds) == tightened


def test_each_bound_is_dropped_once() -> None:
    bounds = {"minimum": 0, "maximum": 500, "minLength": 1}
    assert parameter("tool.loosen_bounds", bounds) == [
        {"maximum": 500, "minLength": 1},
        {"minimum": 0, "maximum": 500},
        {"minimum": 0, "minLength": 1},
    ]


def described(**said: str) -> Any:
    return {
        "type": "object",
        "properties": {n: {"type": "string", "description": d} for n, d in said.items()},
    }


def wrongly(schema: Any) -> list[str]:
    return [str(mutant.edits[0].after) for mutant in mutants("tool.describe_parameter_wrongly", schema)]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("How long, in days.", "How long, in hours."),
        ("Day as YYYY-MM-DD.", "Day as DD/MM/YYYY."),
        ("Weight (kilograms)", "Weight (pounds)"),
        ("Celsius, as measured.", "Fahrenheit, as measured."),
    ],
)
def test_a_parameter_is_described_in_another_unit(said: str, wrong: str) -> None:
    assert wrongly(described(p=said)) == [wrong]


def test_a_parameter_without_a_unit_is_described_as_the_next_of_its_kind() -> None:
    schema = described(order="Number of the order.", note="A note.", customer="Who asks.")
    schema["properties"]["note"]["type"] = "integer"
    assert wrongly(schema) == ["Who asks.", "Number of the order."]
    assert wrongly(described(order="Number of the order.", other="")) == []


names = st.sampled_from(["order", "amount", "a/b", "x~y", "0", "type", "required", "enum"])
values: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda **k: {"type": "string", **k}, enum=st.just(["a", "b", "c"])),
    st.builds(lambda **k: {"type": "string", **k}, minLength=st.integers(0, 9), description=st.just("In days.")),
    st.builds(lambda **k: {"type": "integer", **k}, minimum=st.integers(-9, 9), maximum=st.integers(10, 99)),
    st.builds(lambda **k: {"type": "number", **k}, default=st.sampled_from([0.5, 2]), minimum=st.integers(-3, 3)),
    st.just({"type": ["boolean", "null"], "default": None}),
    st.just({"anyOf": [{"type": "integer", "maximum": 7}, {"type": "null"}], "default": None}),
    st.just({"$ref": "#/$defs/Shared"}),
    st.just({"enum": [1, None, "x"]}),
)  # fmt: skip


def objects(properties: Any) -> st.SearchStrategy[Any]:
    """Objects that require their first properties, or all of them, or say nothing of it."""

    def build(found: dict[str, Any], needed: int | None) -> Any:
        stated = {} if needed is None else {"required": list(found)[:needed]}
        return {"type": "object", "properties": found, **stated}

    return st.builds(
        build,
        st.dictionaries(names, properties, max_size=4),
        st.none() | st.integers(min_value=0, max_value=4),
    )


nested = st.recursive(
    values,
    lambda inner: objects(inner) | inner.map(lambda item: {"type": "array", "items": item}),
    max_leaves=5,
)
SHARED = {"type": "object", "properties": {"zip": {"type": "string", "maxLength": 8}}, "required": ["zip"]}
whole = objects(nested).map(lambda schema: {**schema, "$defs": {"Shared": SHARED}})


@given(whole)
@settings(max_examples=25, deadline=None)
def test_every_mutant_has_a_valid_schema_and_the_edits_fit(schema: Any) -> None:
    Draft202012Validator.check_schema(schema)
    generation = generate(config(schema), [OPERATORS[id_] for id_ in ON_SCHEMAS], OperatorOptions())
    assert [dropped for dropped in generation.dropped if "does not fit" in dropped.reason] == []
    for mutant in generation.mutants:
        changed = mutant.apply(config(schema)).tools[0].parameters
        assert fault(changed) is None, mutant.description


@given(whole, whole)
@settings(max_examples=15, deadline=None)
def test_ids_survive_a_new_tool_and_a_new_parameter(schema: Any, other: Any) -> None:
    before = config(schema)
    more = {**schema, "properties": {"first": {"type": "object"}, **schema["properties"]}}
    tools = (ToolSpec(name="other", parameters=other), ToolSpec(name="refund", parameters=more))
    chosen = [OPERATORS[id_] for id_ in ON_SCHEMAS if id_ != "tool.describe_parameter_wrongly"]
    kept = {m.id for m in generate(before, chosen, OperatorOptions()).mutants if not _bare(m)}
    assert kept <= {m.id for m in generate(AgentConfig(tools=tools), chosen, OperatorOptions()).mutants}


def _bare(mutant: Mutant) -> bool:
    """The keyword `required` comes or goes as a whole: that is another edit once there is a further entry."""
    return any(edit.path[-1] == "required" for edit in mutant.edits)


def test_bounds_beyond_the_range_of_numbers_are_left_alone() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 10**400}}}
    assert [schema["properties"]["n"] for schema in schemas("tool.tighten_bounds", schema)] == [
        {"type": "integer", "minimum": 1, "maximum": 10**400}
    ]
    largest = {"type": "object", "properties": {"n": {"type": "number", "minimum": 1e308}}}
    assert not mutants("tool.tighten_bounds", largest)
