"""Operators on demand: sound, used only where they are asked for, and without English sentences in other languages."""

import pytest

from agentmut.campaign import Selection, mutants_of
from agentmut.mutation import OperatorCatalogue
from agentmut.mutation.tool_faults.drift import (
    cut_with_mark,
    nested,
    null_value,
    paged,
    renamed_field,
    with_order,
)
from agentmut.nouns import AgentConfig, Document, History, ModelConfig, Origin, ToolSpec
from agentmut.project import MutationSettings
from agentmut.seams.plugins import load, load_all
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions
from agentmut.testing import check_operator

ON_DEMAND = sorted(name for name, kind in load_all("operators").items() if issubclass(kind, OnDemand))
REFUND = ToolSpec(
    name="issue_refund",
    description="Pay an order back. Use cancel_order before it is sent.",
    parameters={
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "state": {"enum": ["paid", "sent"]}},
        "required": ["order_id"],
    },
)
PROMPT = """# Rules

See @rules.md

- If the parcel is late, offer a refund.
- Never issue a refund of an order without a manager; call issue_refund once.
- Always greet the customer.

# Tone

Be polite.
Be brief.
"""
CONFIG = AgentConfig(
    prompt=PROMPT,
    tools=(
        REFUND,
        ToolSpec(
            name="cancel_order",
            description="Cancel an order.",
            parameters={"type": "object", "properties": {"query": {"type": "string"}}},
        ),
    ),
    model=ModelConfig(name="gpt-5.2"),
    history=History.KEPT,
    context=(
        Document(
            name="fees",
            text="# Fees\n\n| kind | fee |\n| --- | --- |\n| late | 5 |\n\nRefunds take 10 days.\n",
        ),
        Document(name="hours", text="We open at nine.\n"),
        Document(name="gifts", text="Gifts are final.\n"),
    ),
)
GERMAN = CONFIG.model_copy(
    update={
        "prompt": "Du hilfst Kunden. Antworte immer freundlich. Erstatte nie ohne Auftrag einer Leitung.\n"
    }
)


def used(settings: MutationSettings | None = None, **selection: object) -> set[str]:
    origin = Origin(config=CONFIG, file="agent.yaml")
    found = mutants_of(origin, Selection(**selection), settings or MutationSettings(), OperatorCatalogue({}))
    return {mutant.operator for mutant in found.mutants} & set(ON_DEMAND)


def descriptions(operator: str, config: AgentConfig = CONFIG) -> list[str]:
    return [one.description for one in load("operators", operator)().mutants(config, OperatorOptions())]


@pytest.mark.parametrize("name", ON_DEMAND)
def test_an_operator_on_demand_is_sound(name: str) -> None:
    check_operator(load("operators", name))


def test_by_default_and_by_class_none_is_used() -> None:
    assert not used()
    assert not used(classes=("prompt",))
    assert not used(operators_named=("tool",))


def test_a_name_or_a_pattern_asks_for_them() -> None:
    assert used(operators_named=("prompt.add_norm",)) == {"prompt.add_norm"}
    assert used(operators_named=("prompt.add_*",)) >= {"prompt.add_norm", "prompt.add_goal"}
    assert used(MutationSettings(operators=("tool.flood",))) == {"tool.flood"}


def test_the_setting_uses_all_of_them() -> None:
    assert used(MutationSettings(incidents=True)) == set(ON_DEMAND)


@pytest.mark.parametrize(
    "name",
    ["prompt.negate", "prompt.change_scope", "prompt.contradict", "prompt.add_norm", "prompt.add_goal",
     "prompt.add_section", "prompt.add_example", "prompt.forbid_tool", "prompt.blur_trigger", "prompt.inject_noise",
     "prompt.inject_distraction", "prompt.inject_contradiction"],
)  # fmt: skip
def test_a_german_prompt_gets_no_english_sentence(name: str) -> None:
    assert descriptions(name) and not descriptions(name, GERMAN)


def test_a_german_prompt_gets_changes_of_structure() -> None:
    assert descriptions("prompt.replace_base", GERMAN) == [
        'leave only what begins with "Antworte immer freundlich."'
    ]


def test_a_rule_moves_to_the_tool_that_it_is_about() -> None:
    (said,) = descriptions("prompt.move_to_tool")
    assert said.endswith("to the description of issue_refund")


def test_prompt_and_tools_come_out_of_step() -> None:
    assert descriptions("prompt.stale_tool_name") == [
        "call the tool issue_refund legacy_issue_refund in the prompt"
    ]
    assert descriptions("tool.rename_parameter") == [
        "issue_refund: call the parameter order_id orderId",
        "issue_refund: call the parameter state state_value",
        "cancel_order: call the parameter query query_value",
    ]


def test_records_of_a_list_all_change_their_shape() -> None:
    orders = [{"order_id": 1, "state": "sent"}, {"order_id": 2, "state": "paid"}]
    assert renamed_field(orders) == [{"orderId": 1, "state": "sent"}, {"orderId": 2, "state": "paid"}]
    assert null_value(orders) == [{"order_id": 1, "state": None}, {"order_id": 2, "state": None}]
    assert nested(orders) == {"data": orders}
    assert paged(orders) == {"items": orders[:1], "next_cursor": "eyJvZmZzZXQiOjF9"}
    assert with_order(orders)[0] == orders[0] and "note" in with_order(orders)[1]


def test_json_text_stays_json_text() -> None:
    assert renamed_field('{"order_id": 1}') == '{"orderId": 1}'
    assert paged('["a", "b"]') == '{"items":["a"],"next_cursor":"eyJvZmZzZXQiOjF9"}'


@pytest.mark.parametrize("result", ["", [], {}, 0, None, "Sent.", [1]])
def test_what_has_no_such_part_stays(result: object) -> None:
    assert renamed_field(result) == result
    assert paged(result) == result
    assert cut_with_mark("") == ""
