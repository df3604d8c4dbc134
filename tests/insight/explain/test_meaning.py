"""Proposals say what the changed rule says, and nothing that only the mutant's own diff or chance puts there."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmut.insight.explain.candidates import candidate
from agentmut.insight.explain.meaning import Meaning, meaning_of, tools_named
from agentmut.insight.explain.mining import mine
from agentmut.insight.explain.occasion import Occasion
from agentmut.insight.explain.rule_candidates import of_rule
from agentmut.insight.explain.sensible import is_sensible
from agentmut.insight.explain.views import View
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach, prompt_edit
from agentmut.nouns.suggestion import AssertionSuggestion
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.operators.tool.names import rename
from agentmut.seams import OperatorOptions
from tests.insight.explain.campaigns import campaign_of, stored, trace

TOOLS = ("lookup_order", "verify_identity", "issue_refund", "search_policy")
FILLER = (
    "It is on its way",
    "The parcel left on Monday",
    "We have it in stock",
    "The label is in your account",
)
ASKED = "I want a refund of my order."
Runs = Callable[[random.Random], AgentTrace]


def said(rng: random.Random, *more: str) -> str:
    return ". ".join([*rng.sample(FILLER, 2), *more]) + "."


def proposals(
    folder: Path, prompt: str, is_it: Callable[[Mutant], bool], original: Runs, mutated: Runs
) -> tuple[AssertionSuggestion, ...]:
    """What is proposed for a mutant of an agent with this prompt, whose runs are these."""
    rng = random.Random(1)
    before = [original(rng) for _ in range(50)]
    campaign = campaign_of(folder, {"": {"s": before}}, prompt=prompt, tools=TOOLS, asked=ASKED)
    try:
        mutant = next(one for one in campaign.plan.mutants if is_it(one))
        runs = [mutated(rng) for _ in range(12)]
        campaign.store.save(campaign.plan.run_id, stored(mutant.id, "s", runs))
        return mine(campaign, mutant.id, others=[])
    finally:
        campaign.store.close()


def dropping(words: str) -> Callable[[Mutant], bool]:
    return lambda one: one.operator == "prompt.drop_instruction" and words in str(one.edits[0].before)


def names(found: Sequence[AssertionSuggestion]) -> list[tuple[str, Any]]:
    return [(one.evaluator.name, one.evaluator.argument) for one in found]


PROMPT = """- Look up the order first.
- Always verify the identity of the customer before issuing a refund.
- Do not use the word "guarantee".
- Never reveal fraud scores.
- Tell the customer that money arrives within five working days.
- Keep every answer under 30 words.
- End every answer with "Anything else?"
"""


def talk(*more: str, odd: float = 0.0) -> Runs:
    return lambda rng: trace("lookup_order", answer=said(rng, *(more if rng.random() >= odd else ())))


def calls(*tools: str) -> Runs:
    return lambda rng: trace(*tools, answer=said(rng))


STATED: list[tuple[str, Runs, Runs, tuple[str, Any]]] = [
    ("guarantee", talk(), talk("We guarantee that it arrives and will be fine"), ("not_contains", "guarantee")),
    ("End every", talk("Anything else?", odd=0.04), talk(), ("ends_with", "Anything else?")),
    ("verify", calls("verify_identity", "issue_refund"), calls("issue_refund", "verify_identity"),
     ("tool_order", ["verify_identity", "issue_refund"])),
    ("verify", calls("verify_identity", "issue_refund"), calls("issue_refund"), ("tool_called", "verify_identity")),
    ("five working", talk("The money is there within five working days"), talk("The money is there soon"),
     ("states", "five working days")),
    ("30 words", talk(), talk(*FILLER, *FILLER, *FILLER), ("expression", "len(text.split()) < 30")),
    ("fraud", talk("All is fine"), talk("Your fraud score is high and we look into that now, since it is so"),
     ("not_contains", "fraud score")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "original", "mutated", "wanted"), STATED, ids=[f"{case[0]} {case[3][0]}" for case in STATED]
)
def test_what_the_dropped_rule_asks_for_comes_first(
    tmp_path: Path, rule: str, original: Runs, mutated: Runs, wanted: tuple[str, Any]
) -> None:
    found = proposals(tmp_path, PROMPT, dropping(rule), original, mutated)
    assert found
    name, argument = names(found)[0]
    assert name == wanted[0]
    assert argument == wanted[1] or (name == "not_contains" and str(wanted[1]) in str(argument))
    assert found[0].grounded >= 1


def test_a_longer_answer_is_no_cure_for_a_secret(tmp_path: Path) -> None:
    mutated = talk("Your fraud score is high and we look into that now, since it is so and so", *FILLER)
    found = proposals(tmp_path, PROMPT, dropping("fraud"), talk(), mutated)
    assert found
    assert not [one for one, _ in names(found) if one in ("expression", "max_steps", "max_cost")]


def test_a_name_that_the_mutant_itself_brings_is_in_no_assertion() -> None:
    """Neither the new name, nor its words in an answer, nor that the old name is not called any more."""
    config = AgentConfig(prompt=PROMPT, tools=tuple(ToolSpec(name=name) for name in TOOLS))
    found = [
        one for one in rename().mutants(config, OperatorOptions()) if one.edits[0].after == "lookup_order_v2"
    ]
    meaning = meaning_of(made(OperatorClass.TOOL, *found[0].edits), config)
    refused: list[tuple[str, Any]] = [
        ("contains", "lookup order v2"), ("not_contains", "v2"), ("tool_not_called", "lookup_order_v2"),
        ("tool_called", "lookup_order"), ("tool_order", ["lookup_order", "search_policy"]),
        ("tool_called_with", {"tool": "lookup_order", "arguments": {"id": "A-1"}}),
    ]  # fmt: skip
    kept: list[tuple[str, Any]] = [
        ("contains", "your order"),
        ("tool_called", "issue_refund"),
        ("decides", "yes"),
    ]
    for wanted, specs in ((False, refused), (True, kept)):
        for name, argument in specs:
            one = candidate(name, argument, "", 0.5, lambda view: True)
            occasion = Occasion(replace(meaning, documents="about your order"), "", ())
            assert is_sensible(one, occasion) is wanted, (name, argument)


def made(operator_class: OperatorClass, *edits: Edit) -> Mutant:
    return Mutant(
        id="a", operator="o", version=1, operator_class=operator_class, intent=Intent.DEGRADE, reach=Reach.SENT,
        description="", edits=edits,
    )  # fmt: skip


def test_an_order_that_nobody_asks_for_is_not_proposed(tmp_path: Path) -> None:
    def both(first: str, second: str) -> Runs:
        return lambda rng: trace(first, second, answer=said(rng))

    prompt = "- Be kind to the customer.\n- Never shout."
    accidental = proposals(
        tmp_path,
        prompt,
        dropping("kind"),
        both("lookup_order", "search_policy"),
        both("search_policy", "lookup_order"),
    )
    assert not [one for one, _ in names(accidental) if one == "tool_order"]


def test_an_order_in_which_one_tool_takes_what_the_other_returned_is_meant() -> None:
    steps = (
        Step(
            action=Action.CALL_TOOL,
            tool="lookup_order",
            arguments={"id": "A-1042"},
            output={"policy": "P-77"},
        ),
        Step(action=Action.CALL_TOOL, tool="search_policy", arguments={"name": "P-77"}),
    )
    fed, unfed = View(AgentTrace(steps=steps)), View(trace("lookup_order", "search_policy"))
    order = candidate("tool_order", ["lookup_order", "search_policy"], "", 0.75, lambda view: True)
    changed = frozenset({"lookup_order"})
    meaning = Meaning("", changed, frozenset(), OperatorClass.TOOL, "Be kind.", TOOLS)
    assert is_sensible(order, Occasion(meaning, "", [fed] * 3))
    assert not is_sensible(order, Occasion(meaning, "", [unfed] * 3))
    asked = replace(meaning, prompt="Use lookup_order, then search_policy.")
    assert is_sensible(order, Occasion(asked, "", [unfed] * 3))


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("Never say 'cheap' or 'bargain'.", [("not_contains", "cheap"), ("not_contains", "bargain")]),
        ("Begin each answer with \"Dear customer\".",
         [("starts_with", "Dear customer")]),
        ("Close with Kind regards.", [("ends_with", "Kind regards")]),
        ("End with a question.", []),
        ("After issuing a refund, search the policy.",
         [("tool_order", ["issue_refund", "search_policy"]), ("tool_called", "issue_refund"),
          ("tool_called", "search_policy")]),
        ("Issue a refund only after verifying the identity.",
         [("tool_order", ["verify_identity", "issue_refund"]), ("tool_called", "issue_refund"),
          ("tool_called", "verify_identity")]),
        ("Never call issue_refund.", [("tool_not_called", "issue_refund")]),
        ("Use at most forty words.", [("expression", "len(text.split()) <= 40")]),
        ("Do not name the carrier.", []),
        ("Be friendly.", []),
    ],
)  # fmt: skip
def test_what_a_rule_asks_for_is_read_off_its_words(rule: str, wanted: list[tuple[str, Any]]) -> None:
    meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, TOOLS)
    assert [(one.spec.name, one.spec.argument) for one in of_rule(meaning)] == wanted


def test_tools_are_named_by_their_words_and_one_word_is_not_enough() -> None:
    assert tools_named("Refund it.", ["issue_refund", "refund"]) == []
    found = tools_named("Search our policy, then call issue_refund.", ["issue_refund", "search_policy"])
    assert [tool for _, tool in found] == ["search_policy", "issue_refund"]


def test_the_rule_around_a_changed_word_is_what_the_mutant_is_about() -> None:
    config = AgentConfig(prompt=PROMPT, tools=tuple(ToolSpec(name=name) for name in TOOLS))
    at = PROMPT.index("five")
    edit = prompt_edit(PROMPT, at, at + 4, "fifty")
    meaning = meaning_of(made(OperatorClass.PROMPT, edit), config)
    assert meaning.rule == "Tell the customer that money arrives within five working days."
    assert meaning.own_words == {"fifty"}


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("Beende jede Antwort mit „Gute Fahrt!“", [("ends_with", "Gute Fahrt!")]),
        (
            "Schließen Sie mit „Ihr Team von Optik Lindqvist“.",
            [("ends_with", "Ihr Team von Optik Lindqvist")],
        ),
        ("Beginne mit „Moin“.", [("starts_with", "Moin")]),
        (
            "Das Wort „billig“ verwenden wir nicht, wir schreiben „günstig“.",
            [("not_contains", "billig")],
        ),
        ("Höchstens 70 Wörter.", [("expression", "len(text.split()) <= 70")]),
        ("Antworte in weniger als 60 Wörtern.", [("expression", "len(text.split()) < 60")]),
        (
            "Rufe pruefe_ausweis auf, bevor du fahrstunde_buchen aufrufst.",
            [
                ("tool_order", ["pruefe_ausweis", "fahrstunde_buchen"]),
                ("tool_called", "pruefe_ausweis"),
                ("tool_called", "fahrstunde_buchen"),
            ],
        ),
    ],
)
def test_a_german_rule_asks_for_the_same_as_an_english_one(rule: str, wanted: list[tuple[str, Any]]) -> None:
    meaning = Meaning(
        rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, ("pruefe_ausweis", "fahrstunde_buchen")
    )
    assert [(one.spec.name, one.spec.argument) for one in of_rule(meaning)] == wanted
