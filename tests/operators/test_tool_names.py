"""Operators on what tools are called and said to do."""

from importlib.metadata import entry_points
from typing import Any

import pytest
from openai import pydantic_function_tool
from pydantic import BaseModel

from agentmut.mutation.generation import DropKind, generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.faults import FaultKind
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Mutant, Reach
from agentmut.nouns.tools import ToolSpec, read_tool
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from agentmut.trial.witness.witness import Detector

OPERATORS: dict[str, Operator] = {
    entry.name: entry.load()()
    for entry in entry_points(group="agentmut.operators")
    if entry.value.startswith("agentmut.operators.tool.")
}


def tools(*names: str, description: str = "Do it.") -> AgentConfig:
    return AgentConfig(tools=tuple(ToolSpec(name=name, description=description) for name in names))


def mutants(id_: str, config: AgentConfig) -> tuple[Mutant, ...]:
    return generate(config, [OPERATORS[id_]], OperatorOptions()).mutants


def new_names(*names: str) -> list[str]:
    config = tools(*names)
    return [
        next(t.name for t in m.apply(config).tools if t.implemented_by)
        for m in mutants("tool.rename", config)
    ]


@pytest.mark.parametrize(
    ("name", "renamed"),
    [
        ("get_order", ["fetch_order", "getOrder", "get_order_v2"]),
        ("getOrder", ["fetchOrder", "get_order", "getOrderV2"]),
        ("look_up_order", ["find_order", "lookUpOrder", "look_up_order_v2"]),
        ("refund", ["refund_v2"]),
        ("shop.refund", ["shop.refund_v2"]),
        ("HTTPGet", ["HTTPGet_v2"]),
        ("x" * 62, []),
    ],
)
def test_a_tool_is_renamed_in_ways_that_people_rename_tools(name: str, renamed: list[str]) -> None:
    assert new_names(name) == renamed


def test_names_that_are_taken_are_left_out() -> None:
    assert new_names("get_order", "fetch_order", "get_order_v2") == [
        "getOrder",
        "fetchOrder", "fetch_order_v2",
        "fetch_order_v2", "getOrderV2", "get_order_v3",
    ]  # fmt: skip


def test_a_renamed_tool_keeps_its_implementation_even_when_renamed_before() -> None:
    config = AgentConfig(tools=(ToolSpec(name="fetch", implemented_by="own"),))
    assert {m.apply(config).tools[0].own_name for m in mutants("tool.rename", config)} == {"own"}


def test_a_decoy_stands_behind_its_model_and_takes_the_same_arguments() -> None:
    schema: Any = {"type": "object", "properties": {"order": {"type": "string"}}}
    config = AgentConfig(
        tools=(ToolSpec(name="find", description="Find it.", parameters=schema), ToolSpec(name="pay"))
    )
    first, second = (mutant.apply(config).tools for mutant in mutants("tool.decoy", config))
    assert [tool.name for tool in first] == ["find", "find_v2", "pay"]
    assert (first[1].description, first[1].parameters) == ("Find it. (new version)", schema)
    assert first[1].fault is not None and first[1].fault.kind is FaultKind.DECOY
    assert [tool.name for tool in second] == ["find", "pay", "pay_v2"]
    assert second[2].description == "(new version)"


def test_a_description_in_another_language_gets_no_english_remark() -> None:
    config = tools("termin_buchen", description="Einen Termin in der Praxis buchen.")
    (decoy,) = mutants("tool.decoy", config)
    assert decoy.apply(config).tools[1].description == "Einen Termin in der Praxis buchen."
    assert mutants("tool.mislead_description", config) == ()
    assert len(mutants("tool.mislead_description", tools("book", description="Book a visit."))) == 1


def test_a_decoy_is_an_old_version_where_there_is_a_new_one() -> None:
    config = tools("find", "find_v2", "find_legacy")
    found = [set(m.apply(config).tool_names) - set(config.tool_names) for m in mutants("tool.decoy", config)]
    assert found == [{"find_v3"}, {"find_legacy_v2"}]


def test_only_tools_with_a_description_lose_it() -> None:
    config = AgentConfig(
        tools=(ToolSpec(name="a", description="Do it."), ToolSpec(name="b", description=" "))
    )
    (blank,) = mutants("tool.blank_description", config)
    assert [tool.description for tool in blank.apply(config).tools] == ["", " "]


def test_the_copy_of_a_description_that_pydantic_leaves_in_the_schema_goes_with_it() -> None:
    class RefundOrder(BaseModel):
        """Refund an order."""

        order: str

    class LookOrderUp(BaseModel):
        """Look an order up."""

        order: str

    made = [read_tool(pydantic_function_tool(model)) for model in (RefundOrder, LookOrderUp)]
    assert made[0].parameters["description"] == made[0].description == "Refund an order."
    config = AgentConfig(tools=tuple(made))
    for operator, said in (("blank", ""), ("mislead", "Look an order up."), ("swap", "Look an order up.")):
        name = next(name for name in OPERATORS if name.startswith(f"tool.{operator}_description"))
        mutant = next(
            m for m in mutants(name, config) if "/tools/0/description" in {e.pointer for e in m.edits}
        )
        changed = mutant.apply(config).tools[0]
        assert (changed.description, changed.parameters["description"]) == (said, said)
        seen = [RequestShape(text="", system=0, tools=of.tools) for of in (config, mutant.apply(config))]
        witnesses = [Detector(mutant, config).witness(Footprint(requests=(shape,))) for shape in seen]
        assert witnesses[0] is None and witnesses[1] is not None
        assert witnesses[1].seen == witnesses[1].edits == len(mutant.edits)


def test_a_description_of_the_arguments_alone_stays() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}, "description": "What to refund."}
    config = AgentConfig(tools=(ToolSpec(name="a", description="Refund.", parameters=schema),))
    (blank,) = mutants("tool.blank_description", config)
    assert blank.apply(config).tools[0].parameters == schema


def test_each_tool_changes_descriptions_with_the_one_most_like_it_and_each_pair_once() -> None:
    said = {
        "find_order": "Find an order.",
        "refund_order": "Refund an order.",
        "mail": "Send a mail.",
        "log": "",
    }
    config = AgentConfig(tools=tuple(ToolSpec(name=name, description=text) for name, text in said.items()))
    found = mutants("tool.swap_descriptions", config)
    assert [mutant.description for mutant in found] == [
        "swap the descriptions of find_order and refund_order",
    ]
    assert [tool.description for tool in found[0].apply(config).tools] == [
        "Refund an order.", "Find an order.", "Send a mail.", "",
    ]  # fmt: skip


def test_what_the_model_is_told_matters_wherever_it_is_told() -> None:
    told = ("rename", "decoy", "blank_description", "swap_descriptions", "mislead_description")
    assert {OPERATORS[f"tool.{name}"].reach for name in told} == {Reach.SENT}


def test_a_new_tool_in_front_changes_no_id() -> None:
    chosen = [OPERATORS[f"tool.{name}"] for name in ("rename", "decoy", "blank_description")]
    before, after = tools("get_order", "send_mail"), tools("first", "get_order", "send_mail")
    ids = [{m.id for m in generate(config, chosen, OperatorOptions()).mutants} for config in (before, after)]
    assert len(ids[0]) == 10 and ids[0] <= ids[1]


def test_descriptions_that_end_in_a_line_break_are_those_of_other_tools() -> None:
    tools = tuple(
        ToolSpec(name=name, description=f"It can {name}.\n")
        for name in ("refund_order", "find_order", "mail_order")
    )
    for operator in ("tool.mislead_description", "tool.swap_descriptions"):
        made = generate(AgentConfig(tools=tools), [OPERATORS[operator]], OperatorOptions())
        assert made.mutants and not any(each.kind is DropKind.IDENTICAL for each in made.dropped)


def test_the_order_of_tools_is_not_in_the_id_of_swapped_descriptions() -> None:
    tools = tuple(ToolSpec(name=name, description=f"It can {name}.") for name in ("refund", "look", "mail"))
    one, other = (
        {each.id for each in generate(AgentConfig(tools=order), [OPERATORS["tool.swap_descriptions"]],
                                      OperatorOptions()).mutants}
        for order in (tools, tools[::-1])
    )  # fmt: skip
    assert one == other
