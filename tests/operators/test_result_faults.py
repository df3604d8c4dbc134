"""What faults make of results, and the operators that put them on tools."""

import copy
import dataclasses
import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from agentmut.mutation.generation import generate
from agentmut.mutation.tool_faults.answers import (
    ResultForm,
    ServiceError,
    ServiceTimeoutError,
    ToolFailure,
    form_of,
    instead_of_call,
    spoiled,
)
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.mutant import Intent, Mutant, Reach, unreachable_fault
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import OperatorOptions

KINDS = (
    "error", "timeout", "permission_denied", "empty", "truncated", "malformed", "stale", "wrong_entity", "slow",
)  # fmt: skip
TOOLS = (ToolSpec(name="look_up"), ToolSpec(name="find", implemented_by="search"))
CONFIG = AgentConfig(tools=TOOLS)

texts = st.text('abZ019-:. @,"\\{[é\n', max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5000, 5000) | st.floats(0, 1e6, width=32) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
json_containers = st.lists(json_values, max_size=4) | st.dictionaries(texts, json_values, max_size=4)
quick = settings(deadline=None, max_examples=60)


def spoil(kind: str, result: Any) -> Any:
    return spoiled(FaultKind(kind), result, first=None)


# Empty, truncated, malformed


@pytest.mark.parametrize(
    ("result", "nothing"),
    [
        ({"id": 1}, {}),
        ([1, 2], []),
        ((1, 2), ()),
        ("Shipped.", ""),
        ('{"id": 1}', "{}"),
        ('[{"id": 1}]', "[]"),
        ("{broken", ""),
        (3, 0),
        (2.5, 0.0),
        (True, False),
        (None, None),
        (date(2026, 3, 1), None),
    ],
)
def test_an_empty_result_is_of_the_kind_that_the_result_was(result: Any, nothing: Any) -> None:
    assert spoil("empty", result) == nothing
    assert type(spoil("empty", result)) is type(nothing)


@pytest.mark.parametrize(
    ("result", "half"),
    [
        ([1, 2, 3], [1, 2]),
        ((1, 2), (1,)),
        ({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2}),
        ({"orders": [1, 2, 3, 4]}, {"orders": [1, 2]}),
        ([{"id": 7, "status": "sent"}], [{"id": 7}]),
        ("Shipped on Friday.", "Shipped o"),
        ('{"a": 1, "b": 2}', '{"a": 1}'),
        ('{"a":1,"b":2}', '{"a":1}'),
        ('{\n  "a": 1,\n  "b": 2\n}', '{\n  "a": 1\n}'),
    ],
)
def test_the_first_half_of_a_result_is_left(result: Any, half: Any) -> None:
    assert spoil("truncated", result) == half


@pytest.mark.parametrize("result", [[], {}, "", "x", 5, True, None, [3], {"verified": True}, '{ "a" : 1 }'])
def test_what_has_no_halves_is_not_truncated(result: Any) -> None:
    assert spoil("truncated", result) == result


def test_malformed_json_breaks_off_in_the_middle() -> None:
    assert spoil("malformed", {"id": 7, "status": "sent"}) == '{"id": 7, "st,'
    assert spoil("malformed", '["a", "b", "c"]') == '["a", ",'
    assert spoil("malformed", "Shipped.") == '{"result":,'


@quick
@given(json_values)
def test_malformed_text_is_never_json(value: Any) -> None:
    for result in (value, json.dumps(value)):
        with pytest.raises(ValueError):
            json.loads(spoil("malformed", result))


@quick
@given(json_containers, st.sampled_from(["empty", "truncated", "wrong_entity"]))
def test_json_text_stays_json_text_and_says_what_the_value_would(value: Any, kind: str) -> None:
    assert json.loads(spoil(kind, json.dumps(value))) == spoil(kind, value)


@quick
@given(json_containers, st.sampled_from(KINDS[3:]))
def test_a_result_is_not_changed_in_place(value: Any, kind: str) -> None:
    before = copy.deepcopy(value)
    spoiled(FaultKind(kind), value, first=value)
    assert value == before


def test_a_value_that_holds_itself_is_left_as_it_is() -> None:
    knot: dict[str, Any] = {"a": 1}
    knot["self"] = knot
    assert spoil("wrong_entity", knot) is knot


# Wrong entity


@pytest.mark.parametrize(
    ("result", "other"),
    [
        ("A-1042", "A-4375"),
        ("A-0815", "A-0248"),
        ("Order A-1042 is in transit.", "Order A-4375 is in transit."),
        ("RF-1042-77", "RF-4375-10"),
        ("https://labels.example.com/A-1042", "https://labels.example.com/A-4375"),
        ("189.00 EUR", "412.00 EUR"),
        ("1,204.50", "4,537.83"),
        ("sent 2026-03-28", "sent 2026-04-08"),
        ("2026-12-24T10:30:00Z", "2027-01-04T10:30:00Z"),
        ("at 9:30 or 22:05", "at 14:30 or 03:05"),
        ("in 2026", "in 2027"),
        ("A-2001", "A-5334"),
        ("the 1st of 3", "the 1st of 6"),
        ("Friday", "Friday"),
        ("0", "3"),
        ("2026-99-99", "5359-32-32"),
        ("0000-00-00", "3333-33-33"),
        (189.0, 412.0),
        (-89.9, -22.2),
        (0.71, 0.14),
        (12, 45),
        (0, 3),
        (-7, -1),
        (2.0**-40, 3 * 2.0**-41),
        (True, True),
        (None, None),
        (date(2026, 3, 28), date(2026, 4, 8)),
        (datetime(2026, 3, 28, 10, 30), datetime(2026, 4, 8, 10, 30)),
        (date.max, date(9999, 12, 20)),
        (Decimal("18.50"), Decimal("41.83")),
    ],
)
def test_values_become_those_of_another_entity(result: Any, other: Any) -> None:
    assert spoil("wrong_entity", result) == other
    assert type(spoil("wrong_entity", result)) is type(other)


def test_mail_addresses_become_those_of_other_people() -> None:
    other = spoil("wrong_entity", "Write to mara@example.com.")
    assert other != "Write to mara@example.com."
    assert other.endswith("@example.com.")
    assert all("kim@x.org" not in spoil("wrong_entity", text) for text in ("kim@x.org", "KIM@x.org"))


def test_what_is_nested_changes_and_keys_booleans_and_words_stay() -> None:
    result = {"order_1": {"id": "A-1", "total": 20.0, "paid": True, "items": [("tent", 2), None]}}
    assert spoil("wrong_entity", result) == {
        "order_1": {"id": "A-4", "total": 53.0, "paid": True, "items": [("tent", 5), None]}
    }


class Order(BaseModel):
    id: str
    total: float


@dataclasses.dataclass(frozen=True)
class Parcel:
    number: int
    carrier: str


def test_objects_keep_their_type() -> None:
    assert spoil("wrong_entity", [Order(id="A-1", total=1.5)]) == [Order(id="A-4", total=4.8)]
    assert spoil("wrong_entity", Parcel(12, "Postrider")) == Parcel(45, "Postrider")


@quick
@given(json_values)
def test_the_wrong_entity_has_the_same_shape(value: Any) -> None:
    def shape(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: shape(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [shape(inner) for inner in item]
        return item if isinstance(item, bool) or item is None else type(item)

    assert shape(spoil("wrong_entity", value)) == shape(value)


@quick
@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_no_number_is_its_own_other_and_different_ones_stay_different(one: int, two: int) -> None:
    others = spoil("wrong_entity", one), spoil("wrong_entity", two)
    assert others[0] != one
    assert (others[0] == others[1]) == (one == two)
    assert len(str(others[0])) == len(str(one))


@quick
@given(st.text("0129٣²-:.,@TZa ", max_size=16))
def test_any_text_has_another(text: str) -> None:
    other = spoil("wrong_entity", text)
    telling = any(character in "0129" for character in text)
    assert (other != text) or not telling


def test_a_long_text_is_searched_in_linear_time() -> None:
    text = "a" * 400_000 + "1"
    assert spoil("wrong_entity", text) == "a" * 400_000 + "4"


# Instead of the call


def test_a_refusal_has_the_form_that_callers_expect() -> None:
    denied = FaultKind.PERMISSION_DENIED
    assert instead_of_call(denied, ResultForm.TEXT) == "Error: 403 Forbidden: permission denied"
    assert instead_of_call(denied, ResultForm.MAPPING) == {"error": "403 Forbidden: permission denied"}
    with pytest.raises(PermissionError, match="permission denied"):
        instead_of_call(denied, ResultForm.OTHER)


def test_failures_are_raised_as_services_do() -> None:
    with pytest.raises(ServiceError, match="503"):
        instead_of_call(FaultKind.ERROR, ResultForm.TEXT)
    with pytest.raises(TimeoutError) as raised:
        instead_of_call(FaultKind.TIMEOUT, ResultForm.TEXT)
    assert isinstance(raised.value, ServiceTimeoutError | ToolFailure)


def test_a_decoy_has_nothing() -> None:
    assert instead_of_call(FaultKind.DECOY, ResultForm.TEXT) == "Nothing was found."
    assert instead_of_call(FaultKind.DECOY, ResultForm.MAPPING) == {"results": []}


def annotated(annotation: Any) -> Any:
    def tool() -> Any: ...

    tool.__annotations__["return"] = annotation
    return tool


@pytest.mark.parametrize(
    ("annotation", "form"),
    [
        (str, "text"),
        ("str", "text"),
        ("str | None", "text"),
        (str | None, "text"),
        (dict[str, Any], "mapping"),
        ("dict[str, str]", "mapping"),
        ("typing.Mapping[str, str]", "mapping"),
        (Any, "mapping"),
        (Order, "other"),
        (int, "other"),
        (list[str], "other"),
    ],
)
def test_the_form_of_results_is_read_off_the_annotation(annotation: Any, form: str) -> None:
    assert form_of(annotated(annotation)) == form


def test_without_an_annotation_a_mapping_is_expected() -> None:
    assert form_of(lambda: 1) is ResultForm.MAPPING


# Operators


def mutants(kind: str, config: AgentConfig = CONFIG, **options: Any) -> tuple[Mutant, ...]:
    operator = Catalogue.from_group("operators").load(f"tool.result_{kind}")()
    return generate(config, [operator], OperatorOptions(**options)).mutants


@pytest.mark.parametrize("kind", KINDS)
def test_each_tool_has_one_mutant_of_each_fault(kind: str) -> None:
    found = mutants(kind)
    faults = [[tool.fault.kind if tool.fault else None for tool in m.apply(CONFIG).tools] for m in found]
    assert faults == [[kind, None], [None, kind]]
    assert [mutant.subject for mutant in found] == ["look_up", "search"]  # whatever the model calls them
    assert {mutant.intent for mutant in found} == {Intent.DEGRADE}
    assert {mutant.reach for mutant in found} == {Reach.REPEATED if kind == "stale" else Reach.CALLED}


def test_a_fault_changes_nothing_that_the_model_is_told() -> None:
    for kind in KINDS:
        for mutant in mutants(kind):
            told = [tool.to_openai() for tool in mutant.apply(CONFIG).tools]
            assert told == [tool.to_openai() for tool in TOOLS]


def test_how_slow_a_slow_tool_is_can_be_chosen() -> None:
    (mutant, _) = mutants("slow", slow_seconds=1.5)
    assert mutant.apply(CONFIG).tools[0].fault == ToolFault(kind=FaultKind.SLOW, seconds=1.5)
    assert mutant.description == "look_up returns its result 1.5 s late"
    assert mutant.id != mutants("slow")[0].id


def test_a_fault_needs_a_tool_whose_calls_can_be_intercepted() -> None:
    first, second = mutants("error")
    assert unreachable_fault(first, CONFIG, lambda: frozenset({"look_up"})) == ""
    assert (
        unreachable_fault(second, CONFIG, lambda: frozenset({"find"}))
        == "calls of search cannot be intercepted"
    )


def test_the_agent_is_not_asked_for_its_tools_where_nothing_goes_wrong_with_them() -> None:
    (mutant, _) = generate(
        CONFIG, [Catalogue.from_group("operators").load("tool.remove")()], OperatorOptions()
    ).mutants

    def ask() -> frozenset[str]:
        raise AssertionError("asked")

    assert unreachable_fault(mutant, CONFIG, ask) == ""


@pytest.mark.parametrize(
    ("kind", "subjects"),
    [
        ("stale", ["look_up"]),
        ("truncated", ["look_up"]),
        ("wrong_entity", ["look_up"]),
        ("error", ["issue_refund", "urlaub_beantragen", "look_up"]),
    ],
)
def test_what_a_changing_tool_says_is_not_cached_paged_or_mixed_up(kind: str, subjects: list[str]) -> None:
    tools = (ToolSpec(name="issue_refund"), ToolSpec(name="urlaub_beantragen"), TOOLS[0])
    operator = Catalogue.from_group("operators").load(f"tool.result_{kind}")()
    found = generate(AgentConfig(tools=tools), [operator], OperatorOptions()).mutants
    assert [mutant.subject for mutant in found] == subjects
