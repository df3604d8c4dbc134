"""Inputs before they are run: made of descriptions, rules and the suite; stand-ins; minimising; evaluators."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Dimension
from agentmut.insight.generate.aims import weaknesses
from agentmut.insight.generate.minimise import shrinking
from agentmut.insight.generate.model_proposals import LONGEST, answered_proposals, question
from agentmut.insight.generate.observed import proposed_evaluators
from agentmut.insight.generate.proposal_material import (
    Material,
    arguments_named,
    known_values,
    material,
    whole,
)
from agentmut.insight.generate.proposals import Aim, AimKind, Proposal, beside_inputs, proposals
from agentmut.insight.generate.stand_ins import MADE_UP, stand_ins
from agentmut.insight.generate.user_wording import cases, request, sentences
from agentmut.insight.generate.variations import recombinations, substitutions
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.scenario import EvaluatorSpec, Scenario, ToolDouble
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings

ORDER = {"type": "string", "description": "Order number, such as A-1234"}


def tool(name: str, description: str, **properties: object) -> ToolSpec:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec.model_validate({"name": name, "description": description, "parameters": parameters})


CONFIG = AgentConfig(
    prompt="- Look up the order first.\n- If somebody mentions a lawyer, escalate to a human.",
    tools=(
        tool("lookup_order", "Look up an order: its status.", order_id=ORDER),
        tool("cancel_order", "Cancel an order completely.", order_id=ORDER),
        tool("refund", "Refund.", order_id=ORDER, amount={"type": "number", "minimum": 1, "maximum": 500}),
    ),
)


def scenario(name: str, text: str, **rest: object) -> Scenario:
    judged = (EvaluatorSpec(name="contains", argument="x"),)
    return Scenario.model_validate({"name": name, "turns": (text,), "evaluators": judged, **rest})


def called(*calls: tuple[str, dict[str, str | float]], answer: str = "Done.") -> AgentTrace:
    steps = [Step(action=Action.CALL_TOOL, tool=name, arguments=dict(given)) for name, given in calls]
    return AgentTrace(steps=(*steps, Step(action=Action.RESPOND)), outputs=(answer,))


SUITE = (
    scenario("status", "Where is A-1042? I am mara@example.com."),
    scenario("thanks", "Thank you for the tent."),
)
TRACES = {"status": (called(("lookup_order", {"order_id": "A-1042"})),), "thanks": (called(),)}
KNOWN: Material = material(CONFIG, SUITE, TRACES)
CANCEL = Aim(AimKind.TOOL, "tool cancel_order", tool="cancel_order")


def inputs(aim: Aim, seed: int = 1) -> list[str]:
    return [str(proposal.turns[-1]) for proposal in proposals(aim, KNOWN, (), seed)]


def test_a_tool_is_asked_for_with_values_that_runs_have_shown() -> None:
    found = inputs(CANCEL)
    assert found[0] == "Please cancel an order completely. The order id is A-1042."
    assert found[1] == f"{found[0]} I am mara@example.com."


def test_each_tool_is_asked_for_beside_an_input_and_then_with_each_other_tool() -> None:
    said = [whole(one.turns) for one in beside_inputs(KNOWN)]
    assert said[:4] == [
        "Please look up an order. Where is A-1042? I am mara@example.com.",
        "Please cancel an order completely. Thank you for the tent.",
        "Please refund. Where is A-1042? I am mara@example.com.",
        "Please look up an order. Please cancel an order completely. Thank you for the tent.",
    ]
    assert len(said) == len(set(said)) == 3 * 3
    assert list(beside_inputs(material(CONFIG, (), {}))) == []


def test_a_boundary_is_asked_for_by_its_value() -> None:
    aim = Aim(AimKind.BOUNDARY, "boundary refund.amount maximum", "refund", "amount", 500, has_value=True)
    assert inputs(aim)[0] == "Please refund. The order id is A-1042. The amount is 500."


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("If somebody mentions a lawyer, escalate to a human.", ["I mention a lawyer."]),
        ("Never cancel an order that has shipped.", ["Please cancel an order that has shipped."]),
        ("**Always** verify the identity.", ["Please verify the identity."]),
        ("If the total is above 200 euros, escalate.", ["The total is above 200 euros."]),
        ("If a customer has paid twice, refund one.", ["I have paid twice."]),
        ("You are the assistant of a shop.", []),
        (
            "Get the day before you reschedule an event.",
            ["Please reschedule an event.", "Please get the day."],
        ),
        ("If the user asks about their rent, get the list.", ["I have a question about my rent."]),
        ("After issuing a refund, tell the customer.", []),
        ("End every answer with a greeting.", []),
        ("## Style", []),
    ],
)
def test_a_rule_gives_a_case_in_which_it_applies(rule: str, expected: list[str]) -> None:
    assert list(cases(rule)) == expected


def test_a_tool_without_description_is_asked_for_by_its_name() -> None:
    assert (
        request(ToolSpec(name="list_items"), {"ids": ["a", "b"]}) == "Please list items. The ids are a and b."
    )


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Reads the contents of the file at the given path.", "Please read the contents of the file."),
        ("Cancels the event with the given `event_id`.", "Please cancel the event."),
        (
            "Adds the given `people` to the event with the given `event_id`.",
            "Please add the people to the event.",
        ),
        ("Returns all the unread emails.", "Please give me all the unread emails."),
        ("Escalate the case to a colleague, who takes over.", "Please escalate the case to a colleague."),
        ("Weather of a city.", "I need the weather lookup."),
    ],
)
def test_a_description_becomes_a_request_that_somebody_would_make(description: str, expected: str) -> None:
    assert request(ToolSpec(name="weather_lookup", description=description), {}) == expected


def test_an_identifier_is_one_that_runs_or_inputs_have_shown_never_a_date() -> None:
    cancel = tool("cancel", "Cancel an event.", event_id={"type": "string", "description": "ID of the event"})
    (parameter,) = arguments_named(cancel.parameters)
    suite = (scenario("a", "Move the event of the 24th, on 2024-05-15."),)
    assert known_values(material(AgentConfig(), suite, {}), parameter) == ()
    listed = Step(action=Action.CALL_TOOL, tool="list", output=[{"event_id": "E-7", "day": "24th"}])
    seen = {"a": (AgentTrace(steps=(listed,), outputs=("Done.",)),)}
    assert known_values(material(AgentConfig(), suite, seen), parameter) == ("E-7",)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": r"^\p{L}+$"},
        {"type": "string", "pattern": "a{99999999999}"},
        {"type": "integer", "minimum": 5, "maximum": 1},
        {"enum": []},
        {"type": "number", "minimum": -1.7e308, "maximum": 1.7e308, "multipleOf": 1e-9},
        {"$ref": "#/$defs/nothing"},
    ],
)
def test_an_odd_schema_of_a_parameter_stops_no_proposal(schema: dict[str, object]) -> None:
    odd = tool("greet", "Greet somebody.", whom=schema)
    suite = (scenario("a", "I am Ada, order A-1042."),)
    known = material(AgentConfig(tools=(odd,)), suite, {"a": (called(("greet", {"whom": "Ada"})),)})
    found = list(proposals(Aim(AimKind.TOOL, "tool greet", tool="greet"), known, (), 1))
    assert str(found[0].turns[0]).startswith("Please greet somebody.")


def test_sentences_are_put_together_and_figures_put_at_their_limits() -> None:
    assert "Thank you for the tent. Where is A-1042?" in set(recombinations([str(s.turns[0]) for s in SUITE]))
    assert list(substitutions("Order A-1042 of 24 December")) == [
        "Order A-1043 of 24 December", "Order A-9999 of 24 December", "Order A-1042 of 1 December",
        "Order A-1042 of 28 December",
    ]  # fmt: skip


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000))
def test_proposals_are_the_same_for_the_same_seed(seed: int) -> None:
    anything = Aim(AimKind.ANY, "")
    assert inputs(anything, seed) == inputs(anything, seed)
    assert len(inputs(anything, seed)) > 5


def test_the_weakest_dimension_comes_first_by_its_target() -> None:
    coverage = measure(TRACES, CONFIG, CoverageSettings())
    found = weaknesses(coverage, {}, (), None)
    assert found[0].dimension == "boundary"  # none of its 4, against 1 tool of 3
    assert "state" not in [weak.dimension for weak in found]  # nothing says what leads to another one
    relaxed = weaknesses(coverage, {"boundary": 0.01, "tool": 0.2}, (), None)
    assert "tool" not in [weak.dimension for weak in relaxed]  # 1/3 is more than 0.2
    assert coverage.of(Dimension.TOOL).value == pytest.approx(1 / 3)


def test_tools_that_are_not_declared_safe_get_a_stand_in_though_the_suite_has_really_called_them() -> None:
    doubled = (scenario("a", "x", tools={"refund": ToolDouble(returns=7)}), *SUITE)
    found = stand_ins(CONFIG, doubled, (), TRACES)
    assert found.doubles == {
        "lookup_order": MADE_UP,
        "cancel_order": MADE_UP,
        "refund": ToolDouble(returns=7),
    }
    assert found.made_up == {"lookup_order", "cancel_order"}
    assert stand_ins(CONFIG, SUITE, ("cancel_order",), TRACES).made_up == {"lookup_order", "refund"}
    assert not stand_ins(CONFIG, SUITE, ("all",), TRACES).doubles


def test_a_stand_in_repeats_what_stored_runs_were_answered_those_of_its_own_scenario_first() -> None:
    def answered(output: str) -> AgentTrace:
        step = Step(action=Action.CALL_TOOL, tool="lookup_order", arguments={}, output=output)
        return AgentTrace(steps=(step,), outputs=("Done.",))

    found = stand_ins(CONFIG, SUITE, (), {"status": (answered("late"),), "thanks": (answered("lost"),)})
    assert found.made_up == {"cancel_order", "refund"} and found.replayed == {"lookup_order"}
    assert [found.doubles_for(base)["lookup_order"].returns for base in SUITE] == ["late", "lost"]
    other = stand_ins(AgentConfig(), SUITE, (), {"status": (answered("late"),)})
    # called, though the config has no tools
    assert other.doubles == {"lookup_order": ToolDouble(returns="late")}


def shortest(text: str, same: Callable[[str], bool]) -> tuple[str, int]:
    questions, asked, answer = shrinking(text), 0, None
    try:
        while True:
            shorter = next(questions) if answer is None else questions.send(answer)
            answer, asked = same(shorter), asked + 1
    except StopIteration as ended:
        return ended.value, asked


def test_sentences_and_clauses_that_do_not_matter_are_dropped() -> None:
    text = "Hello there. I like it a lot, but please cancel it. The weather is fine. Bye."
    assert shortest(text, lambda t: "cancel" in t)[0] == "Please cancel it."


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True), st.data())
def test_what_is_left_does_the_same_and_no_sentence_of_it_can_go(
    parts: list[str], data: st.DataObject
) -> None:
    needed = data.draw(st.sets(st.sampled_from(parts), min_size=1))
    text = " ".join(f"It is {part}1{part}." for part in parts)

    def same(shorter: str) -> bool:
        return all(f"{part}1{part}" in shorter for part in needed)

    left, asked = shortest(text, same)
    assert same(left) and len(sentences(left)) == len(needed)
    assert asked <= 4 * len(parts) ** 2


def test_evaluators_say_what_held_in_the_runs_of_the_original() -> None:
    asked = scenario("new", "Please cancel order A-1042.")
    usual = called(("lookup_order", {"order_id": "A-1042"}), ("cancel_order", {"order_id": "A-1042"}),
                   answer="Cancelled: you get 20 euros.")  # fmt: skip
    odd = called(answer="I do not know.")
    found = proposed_evaluators(asked, (*[usual] * 9, odd), CONFIG, 0.8)
    assert [(spec.name, spec.argument) for spec in found] == [
        ("tool_order", ["lookup_order", "cancel_order"]),
        ("tool_called_with", {"tool": "lookup_order", "arguments": {"order_id": "A-1042"}}),
        ("tool_called_with", {"tool": "cancel_order", "arguments": {"order_id": "A-1042"}}),
        ("contains", "20 euros"),
    ]
    assert proposed_evaluators(asked, [odd], CONFIG, 0.8)[0].name == "tool_not_called"
    silent = proposed_evaluators(SUITE[1], [called()], CONFIG, 0.8)
    assert [(spec.name, spec.argument) for spec in silent] == [("max_steps", 2)]


def test_a_models_answer_is_taken_as_text_and_nothing_else() -> None:
    entries = [
        {"for": "tool cancel_order", "input": "Cancel\x1b[31m A-1042 \ud800 please"},
        {"for": "tool cancel_order", "input": "x" * (LONGEST + 1)},
        {"for": "../../etc/passwd", "input": "Hello?"},
        {"input": ["rm"]},
        "noise",
    ]
    answer = f"Sure: {json.dumps({'inputs': entries})} Bye }}"
    # what stands around it is no JSON
    assert list(answered_proposals(answer, KNOWN, [CANCEL], "openai:m")) == []
    found = list(answered_proposals(answer[:-2], KNOWN, [CANCEL], "openai:m"))
    assert [(p.turns, p.aims) for p in found] == [
        (("Cancel [31m A-1042 ? please",), ("tool cancel_order",)), (("Hello?",), ()),
    ]  # fmt: skip
    assert all(isinstance(proposal, Proposal) and proposal.base in SUITE for proposal in found)
    for broken in ("", "[]", '{"inputs": 3}', "{" * 5000, '{"inputs": [[[]]]}'):
        assert list(answered_proposals(broken, KNOWN, [CANCEL], "m")) == []
    assert json.loads(question(KNOWN, [CANCEL]))["not exercised"] == ["tool cancel_order"]
