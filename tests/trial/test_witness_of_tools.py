"""Which requests prove that a change of a tool arrived: schemas as services are sent them."""

from typing import Any

import pytest

from agentmut.nouns.config import AgentConfig
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.tools import ToolSpec
from agentmut.trial.witness.witness import Detector

SCHEMA: Any = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "title": "Order", "minLength": 4},
        "reason": {"$ref": "#/$defs/Reason"},
        "speed": {"anyOf": [{"type": "integer", "maximum": 9}, {"type": "null"}]},
    },
    "required": ["order", "reason"],
    "$defs": {"Reason": {"type": "string", "enum": ["late", "damaged"]}},
}
BASE = AgentConfig(tools=(ToolSpec(name="pay", description="Pay back.", parameters=SCHEMA),))


def detector(*edits: tuple[str, Any, Any]) -> Detector:
    made = tuple(
        Edit(pointer=f"/tools/0/{path}", before=before, after=after) for path, before, after in edits
    )
    mutant = Mutant(
        id="m", operator="o", version=1, operator_class=OperatorClass.TOOL, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=made,
    )  # fmt: skip
    return Detector(mutant, BASE)


def sent(name: str = "pay", description: str = "Pay back.", **changes: Any) -> Footprint:
    """A request of a framework that puts references in place and drops titles, with these properties."""
    properties: dict[str, Any] = {
        "order": {"type": "string", "minLength": 4},
        "reason": {"type": "string", "enum": ["late", "damaged"]},
        "speed": {"anyOf": [{"type": "integer", "maximum": 9}, {"type": "null"}]},
    }
    required = changes.pop("required", ["order", "reason"])
    properties |= changes
    found = {key: value for key, value in properties.items() if value is not None}
    schema: Any = {"type": "object", "properties": found, "required": required}
    tool = ToolSpec(name=name, description=description, parameters=schema)
    return Footprint(requests=(RequestShape(text="", tools=(tool,)),))


UNCHANGED = sent()
ORDER = "parameters/properties/order"
REASON = "parameters/$defs/Reason"
CASES: dict[str, tuple[list[tuple[str, Any, Any]], Footprint]] = {
    "a keyword dropped": ([(f"{ORDER}/minLength", 4, None)], sent(order={"type": "string"})),
    "a keyword added": (
        [(f"{ORDER}/maxLength", None, 8)],
        sent(order={"type": "string", "minLength": 4, "maxLength": 8}),
    ),
    "a value dropped behind a reference": (
        [(f"{REASON}/enum/0", "late", None)],
        sent(reason={"type": "string", "enum": ["damaged"]}),
    ),
    "a value added behind a reference": (
        [(f"{REASON}/enum/2", None, "other")],
        sent(reason={"type": "string", "enum": ["other", "late", "damaged"]}),
    ),
    "a bound inside a list": (
        [("parameters/properties/speed/anyOf/0/maximum", 9, 4)],
        sent(speed={"anyOf": [{"type": "integer", "maximum": 4}, {"type": "null"}]}),
    ),
    "one that is not required any more": (
        [("parameters/required/0", "order", None)],
        sent(required=["reason"]),
    ),
    "one more that is required": (
        [("parameters/required/2", None, "speed")],
        sent(required=["speed", "order", "reason"]),
    ),
    "none required": ([("parameters/required", ["order", "reason"], None)], sent(required=[])),
    "a description": ([("description", "Pay back.", "")], sent(description="")),
    "a name": ([("name", "pay", "refund"), ("implemented_by", None, "pay")], sent(name="refund")),
}


@pytest.mark.parametrize(("edits", "arrived"), CASES.values(), ids=CASES)
def test_a_change_is_witnessed_where_it_arrived_and_only_there(
    edits: list[tuple[str, Any, Any]], arrived: Footprint
) -> None:
    found = detector(*edits)
    witness = found.witness(arrived)
    assert witness is not None and witness.seen == 1
    assert found.witness(UNCHANGED) is None
    assert found.carried(UNCHANGED)
    others = [seen for _, seen in CASES.values() if seen != arrived]
    assert [seen for seen in others if found.witness(seen)] == []


def test_a_parameter_and_its_place_among_the_required_ones_are_two_edits() -> None:
    gone = detector((ORDER, SCHEMA["properties"]["order"], None), ("parameters/required/0", "order", None))
    for footprint, seen in ((sent(order=None, required=["reason"]), 2), (sent(required=["reason"]), 1)):
        witness = gone.witness(footprint)
        assert witness is not None and witness.seen == seen
    assert gone.witness(UNCHANGED) is None


def test_another_title_or_line_break_is_no_change_that_could_be_seen() -> None:
    assert detector((f"{ORDER}/title", "Order", "Number")).witness(UNCHANGED) is None
    assert detector(("description", "Pay back.", "Pay\n  back.")).witness(UNCHANGED) is None
