"""What each operator makes of small configs."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

import pytest

from agentmut.mutation.controls import Identity, destroyed_mutant, identity_mutant
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from agentmut.trial.witness.witness import Detector

OPERATORS: dict[str, Operator] = {
    entry.name: entry.load()() for entry in entry_points(group="agentmut.operators")
}
every_operator = pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
NO_OPTIONS = OperatorOptions()


def mutants(id_: str, config: AgentConfig, options: OperatorOptions = NO_OPTIONS) -> tuple[Mutant, ...]:
    return generate(config, [OPERATORS[id_]], options).mutants


def prompts(id_: str, prompt: str, *tools: ToolSpec) -> list[str]:
    config = AgentConfig(prompt=prompt, tools=tools)
    return [mutant.apply(config).prompt for mutant in mutants(id_, config)]


def tool(name: str, description: str = "") -> ToolSpec:
    return ToolSpec(name=name, description=description)


def test_there_are_operators_of_every_class() -> None:
    assert {id_.split(".")[0] for id_ in OPERATORS} >= {"prompt", "tool", "model", "context"}


@every_operator
def test_an_operator_is_what_its_registration_says(operator: Operator) -> None:
    assert isinstance(operator, Operator)
    assert OPERATORS[operator.id] is operator
    assert operator.id.split(".")[0] == operator.operator_class.value
    assert operator.why.endswith(".") and "\n" not in operator.why


@every_operator
def test_the_examples_of_an_operator_hold(operator: Operator) -> None:
    examples = list(operator.examples())
    assert examples
    for example in examples:
        first = generate(example.config, [operator], example.options).mutants[0]
        assert first.apply(example.config) == example.first
        assert first.apply(example.config) != example.config


@every_operator
def test_an_empty_config_has_no_mutants(operator: Operator) -> None:
    assert list(operator.mutants(AgentConfig(), NO_OPTIONS)) == []


def test_losses_count_in_the_score_and_rewordings_in_robustness() -> None:
    preserving = {id_ for id_, operator in OPERATORS.items() if operator.intent is Intent.PRESERVE}
    assert preserving == {
        "prompt.synonym", "prompt.reorder_instructions", "prompt.inject_noise", "tool.reorder",
        "context.inject_noise", "context.permute", "context.duplicate_document",
        "model.lower_temperature", "model.drop_seed",
        "prompt.duplicate", "prompt.whitespace", "prompt.paraphrase", "orchestration.serialise_branches",
    }  # fmt: skip


def test_each_instruction_is_dropped_once() -> None:
    assert prompts("prompt.drop_instruction", "# R\n- Be polite.\n- Never guess. Ask.\n") == [
        "# R\n- Never guess. Ask.\n",
        "# R\n- Be polite.\n- Ask.\n",
        "# R\n- Be polite.\n- Never guess.\n",
    ]


def test_the_only_instruction_can_be_dropped() -> None:
    assert prompts("prompt.drop_instruction", "Be polite.") == [""]


def test_the_first_word_with_a_synonym_is_replaced_once_per_instruction() -> None:
    assert prompts("prompt.synonym", "Politely decline it. Verify it. Wait.") == [
        "Courteously decline it. Verify it. Wait.",
        "Politely decline it. Check it. Wait.",
    ]


def test_neighbours_of_one_list_trade_places() -> None:
    assert prompts("prompt.reorder_instructions", "1. Aa\n2. Bb\n\nRead.\n\n- Cc\n- Dd\n") == [
        "1. Bb\n2. Aa\n\nRead.\n\n- Cc\n- Dd\n",
        "1. Aa\n2. Bb\n\nRead.\n\n- Dd\n- Cc\n",
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "Only one rule.",
        "Ask for the number. Then look it up.",
        "Never name a date. Send a link instead.",
        "Ask for the number. Check it twice.",
        "First, ask for the number. Look up the order.",
        "You are an agent. Be polite.",
        "## Steps\n1. Ask for the number\n2. Look up the order",
        "- Ask for the number\n  - politely\n- Look up the order",
        "Rules: 1. Ask early. 2. Look up the order.",
        "Be kind.\n\nBe brief.",
    ],
)
def test_order_that_carries_meaning_is_left_alone(prompt: str) -> None:
    assert prompts("prompt.reorder_instructions", prompt) == []


def test_a_rule_that_the_next_one_leans_on_keeps_its_place() -> None:
    assert prompts("prompt.reorder_instructions", "Be kind. Be quick. Ask for a number. Then look up.") == [
        "Be quick. Be kind. Ask for a number. Then look up."
    ]


def test_noise_is_a_paragraph_of_its_own_at_the_end_or_in_the_middle() -> None:
    noisy = prompts("prompt.inject_noise", "Be polite.\r\n\r\nBe brief.\r\n")
    assert len(noisy) == 4
    assert noisy[0].startswith("Be polite.\r\n\r\nBe brief.\r\n\r\nThis prompt was moved") and noisy[
        0
    ].endswith(".\r\n")
    assert noisy[1].startswith("Be polite.\r\n\r\nLast reviewed in June") and noisy[1].endswith(
        ".\r\n\r\nBe brief.\r\n"
    )


def test_noise_never_lands_inside_a_code_block() -> None:
    prompt = "Reply so:\n```\none\n\ntwo\n```\n"
    assert all(noisy.startswith(prompt) for noisy in prompts("prompt.inject_noise", prompt))


THREE = (
    tool("find_order", "Find an order by its number."),
    tool("send_mail", "Send a mail to a customer."),
    tool("refund_order", "Refund an order."),
)


def test_each_tool_is_removed_once_and_named_as_subject() -> None:
    config = AgentConfig(tools=THREE)
    found = mutants("tool.remove", config)
    assert [mutant.subject for mutant in found] == ["find_order", "send_mail", "refund_order"]
    assert [mutant.apply(config).tool_names for mutant in found][1] == ("find_order", "refund_order")
    assert all(mutant.reach is Reach.CALLED for mutant in found)


def test_tools_are_reversed_and_rotated() -> None:
    config = AgentConfig(tools=THREE)
    assert [mutant.apply(config).tool_names for mutant in mutants("tool.reorder", config)] == [
        ("refund_order", "send_mail", "find_order"),
        ("send_mail", "refund_order", "find_order"),
    ]
    assert mutants("tool.reorder", AgentConfig(tools=THREE[:1])) == ()


def test_a_description_is_that_of_the_tool_most_like_it() -> None:
    config = AgentConfig(tools=THREE)
    first, _, last = (mutant.apply(config).tools for mutant in mutants("tool.mislead_description", config))
    assert first[0].description == "Refund an order."
    assert last[2].description == "Find an order by its number."


@pytest.mark.parametrize("tools", [(tool("send_mail", "Send."),), (tool("send_mail"), tool("find"))])
def test_a_tool_without_a_neighbour_to_be_mixed_up_with_is_called_out_of_use(tools: Any) -> None:
    config = AgentConfig(tools=tools)
    said = mutants("tool.mislead_description", config)[0].apply(config).tools[0].description
    assert said == "Deprecated: use send_mail_v2 instead."


def test_models_come_from_the_project_file_without_the_current_one() -> None:
    config = AgentConfig(model=ModelConfig(name="m", temperature=0.5))
    options = OperatorOptions(swap_models=("m", "a"), downgrade_models=("b", "m", "c"))
    assert [m.apply(config).model.name for m in mutants("model.swap", config, options)] == ["a"]
    assert [m.apply(config).model.name for m in mutants("model.downgrade", config, options)] == ["b", "c"]
    assert mutants("model.swap", config, options)[0].apply(config).model.temperature == 0.5


def test_a_document_is_cut_at_a_sentence_or_line_within_the_fraction() -> None:
    text = "Aa bb cc dd. Ee ff gg hh.\nIi jj kk ll mm. Nn oo pp qq. Rr ss tt uu vv ww. Xx yy zz."
    config = AgentConfig(context=(Document(name="d", text=text), Document(name="one", text="One sentence.")))
    found = mutants("context.truncate", config)
    assert [mutant.apply(config).context[0].text for mutant in found] == [
        "Aa bb cc dd. Ee ff gg hh.\nIi jj kk ll mm.",
        "Aa bb cc dd.",
    ]
    assert {(mutant.subject, mutant.reach) for mutant in found} == {("d", Reach.CARRIED)}


def test_a_document_is_not_cut_inside_its_code() -> None:
    text = "Do it so:\n```\none two three\nfour five six\nseven eight nine\n```\nThat is all. Bye."
    config = AgentConfig(context=(Document(name="d", text=text),))
    kept = {mutant.apply(config).context[0].text for mutant in mutants("context.truncate", config)}
    assert kept == {"Do it so:\n"}


def test_irrelevant_documents_stand_first_or_last() -> None:
    config = AgentConfig(context=(Document(name="policy", text="Refunds."),))
    names = [[d.name for d in m.apply(config).context] for m in mutants("context.inject_noise", config)]
    assert names == [["careers", "policy"], ["policy", "cookie-notice"]]


def test_documents_are_given_in_reverse_order() -> None:
    config = AgentConfig(context=tuple(Document(name=name, text=name) for name in "abc"))
    (permuted,) = mutants("context.permute", config)
    assert [document.name for document in permuted.apply(config).context] == ["c", "b", "a"]


def test_the_identity_control_changes_nothing() -> None:
    config = AgentConfig(prompt="Be polite.", tools=THREE)
    assert identity_mutant(config).apply(config) == config
    assert identity_mutant(config).operator_class is OperatorClass.CONTROL


def test_an_identity_control_may_add_a_blank_line_or_a_comment() -> None:
    config = AgentConfig(prompt="Be polite.\nAsk.\n")
    blank, comment = (identity_mutant(config, kind) for kind in (Identity.WHITESPACE, Identity.COMMENT))
    assert blank.apply(config).prompt == "Be polite.\n\nAsk.\n"
    assert comment.apply(config).prompt == "Be polite.\nAsk.\n\n\n<!-- reviewed -->\n"
    assert len({blank.id, comment.id, identity_mutant(config).id}) == 3
    assert identity_mutant(AgentConfig(), Identity.COMMENT).edits == ()


def test_an_identity_control_needs_no_proof_of_its_delivery() -> None:
    config = AgentConfig(prompt="Be polite.\nAsk.\n")
    seen = Footprint(requests=(RequestShape(text="Be polite. Ask."),))
    for kind in Identity:
        assert Detector(identity_mutant(config, kind), config).witness(seen)
        assert not Detector(identity_mutant(config, kind), config).witness(Footprint())


def test_the_destroyed_control_leaves_only_the_model() -> None:
    model = ModelConfig(name="m")
    config = AgentConfig(
        prompt="Be polite.", tools=THREE, model=model, context=(Document(name="d", text="t"),)
    )
    assert destroyed_mutant(config).apply(config) == AgentConfig(model=model)
    assert destroyed_mutant(AgentConfig(model=model)).edits == ()
    kept = destroyed_mutant(config, lambda mutant: "the service keeps its prompt")
    assert (kept.edits, kept.description) == ((), "the service keeps its prompt")


def controls() -> Iterator[Mutant]:
    yield identity_mutant(AgentConfig(prompt="p"))
    yield destroyed_mutant(AgentConfig(prompt="Be polite."))


def test_controls_have_ids_that_hold_for_every_campaign() -> None:
    ids = [control.id for control in controls()]
    assert ids == [control.id for control in controls()] and len(set(ids)) == 2
    assert destroyed_mutant(AgentConfig(prompt="Other.")).id == ids[1]
