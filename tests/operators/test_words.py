"""The operators on words: what they make of sentences, and what they leave alone."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.language.prompt.document import parse
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Intent, Reach
from agentmut.seams.protocols.operator import OperatorOptions
from tests.operators.worded import OPERATORS, said
from tests.processor import processor_time

CORPUS = Path(__file__).parents[1] / "testdata" / "prompts"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("You must verify it.", ["You should verify it."]),
        ("You must not share it.", ["You should not share it."]),
        ("You MUST verify it.", ["You SHOULD verify it."]),
        ("You must never guess.", ["You should never guess."]),
        ("You should verify it.", ["You may verify it."]),
        ("She has to verify it.", ["She should verify it."]),
        ("Always verify it.", ["Try to verify it."]),
        ("Order numbers always begin with 7.", ["Order numbers usually begin with 7."]),
        ("**Always** verify it.", ["**Try to** verify it."]),
        ("Never promise it.", ["Avoid promising it."]),
        ("Never promise or offer it.", ["Try not to promise or offer it."]),
        ("**Never** stop it.", ["**Avoid** stopping it."]),
        ("NEVER run it.", ["Avoid running it."]),
        ("Refunds do not include postage.", []),
        ("The user cannot see it.", []),
        ("You cannot share it.", ["You should not share it."]),
        ("It never works.", ["It rarely works."]),
        ("Don't promise it.", ["Avoid promising it."]),
        ("DO NOT PROMISE IT.", ["AVOID PROMISING IT."]),
        ("Only cite sources.", ["Cite sources."]),
        ("You cite only sources.", ["You cite sources."]),
        ("Give exactly 3 ideas.", ["Give about 3 ideas.", "Give 3 ideas."]),
        ("At least two ideas are due.", ["About two ideas are due.", "Two ideas are due."]),
        ("Make sure to sign it.", ["Try to sign it."]),
        ("The number is required.", ["The number is recommended.", "The number is optional."]),
        (
            "Do not share it under any circumstances.",
            [
                "Avoid sharing it under any circumstances.",
                "Do not share it under normal circumstances.",
            ],
        ),
        (
            "If it is late, you must wait.",
            ["If it is late, you should wait."],
        ),
    ],
)
def test_words_that_bind_are_taken_down_a_step_and_then_far(before: str, after: list[str]) -> None:
    assert said("weaken_modality", before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "Escalate if they must travel.",
        "Help guests who always wait.",
        "It is a must-have upgrade.",
        "You are not only kind.",
        "This is the only way.",
        "Use the read-only mode.",
        "They do not need to pay.",
        'Say "you must wait" and `always`.',
        "Use {always} here.",
        "It is almost always late.",
        "Du musst immer warten und nie raten.",
    ],
)
def test_words_that_do_not_bind_stay(prompt: str) -> None:
    assert said("weaken_modality", prompt) == []


def test_only_the_first_two_words_of_an_instruction_are_weakened() -> None:
    assert len(said("weaken_modality", "You must ask, must wait and must thank them.")) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Always verify it.", ["Never verify it."]),
        ("NEVER guess.", ["ALWAYS guess."]),
        ("Do not promise a refund.", ["Promise a refund."]),
        ("Don’t promise a refund.", ["Promise a refund."]),
        ("Ask, but do not insist.", ["Ask, but insist."]),
        ("Verify the order.", ["Do not verify the order."]),
        ("Please verify the order.", ["Please do not verify the order."]),
        ("Be kind.", ["Do not be kind."]),
        ("1. ask for the number", ["1. do not ask for the number"]),
        ("If it is late, apologise.", ["If it is late, do not apologise."]),
        ("If it is late, then offer a coupon.", ["If it is late, then do not offer a coupon."]),
        ("You must verify it.", ["You must not verify it."]),
        ("You must not share it.", ["You must share it."]),
        ("You must always ask.", ["You must never ask."]),
        ("You may share it.", ["You may not share it."]),
        ("You cannot share it.", ["You can share it."]),
        ("They need to sign it.", ["They must not sign it."]),
        ("You are allowed to share it.", ["You are not allowed to share it."]),
        ("Make sure to sign it.", ["Make sure not to sign it."]),
        ("Include the price.", ["Do not include the price.", "Exclude the price."]),
        ("Answer the question.", ["Do not answer the question."]),
    ],
)
def test_an_instruction_becomes_its_contrary(before: str, after: list[str]) -> None:
    assert said("negate", before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "May is the best month.",
        "It opens in May.",
        "Return requests are rare.",
        "Order numbers have six digits.",
        "Make sure it works.",
        "Ensure it works.",
        "Contact: the front desk.",
        "You are a kind helper.",
        "Do not hesitate to ask.",
        "Do **not** ask.",  # would leave "Do  ask"
        "A tin can holds it.",
        "Frage nach dem Datum.",
    ],
)
def test_what_has_no_plain_contrary_stays(prompt: str) -> None:
    assert said("negate", prompt) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Reject more than 5 items.", ["Reject less than 5 items."]),
        ("Reject totals above 5 euros.", ["Reject totals below 5 euros."]),
        ("Reject totals above $500.", ["Reject totals below $500."]),
        ("Reject totals over **500**.", ["Reject totals under **500**."]),
        ("Give at least three ideas.", ["Give at most three ideas."]),
        ("Give three ideas at most.", ["Give three ideas at least."]),
        ("Answer within 30 days.", ["Answer after 30 days."]),
        ("Close it after thirty days.", ["Close it within thirty days."]),
        ("Keep the minimum of 5.", ["Keep the maximum of 5."]),
        ("Serve people of 18 or older.", ["Serve people of 18 or younger."]),
        ("Escalate if total > 500.", ["Escalate if total < 500."]),
        ("Escalate if total >= $1,000.", ["Escalate if total <= $1,000."]),
        ("No more than 5 words.", ["No less than 5 words."]),
        ("Take the highest offer.", ["Take the lowest offer."]),
        ("Take the cheapest flight.", []),
        ("Refund up to $50.", ["Refund over $50."]),
        ("Name up to 3 options.", ["Name at least 3 options."]),
        ("It must not exceed 5 MB.", ["It must not stay under 5 MB."]),
    ],
)
def test_a_comparison_is_turned_round(before: str, after: list[str]) -> None:
    assert said("flip_comparator", before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "See the rules above.",
        "Go over the list.",
        "Wait after the call.",
        "Use <answer> tags.",
        'Say "at least 3" and `x > 5`.',
        "Write more than one answer.",
        "Always be more than happy to help.",
        "Mindestens 5 Tage, nicht mehr als 10 bis 12.",
    ],
)
def test_what_compares_nothing_stays(prompt: str) -> None:
    assert said("flip_comparator", prompt) == []


def test_all_but_the_paraphrase_count_in_the_score() -> None:
    kept = [name for name, operator in OPERATORS.items() if operator.intent is Intent.PRESERVE]
    assert kept == ["paraphrase"]
    assert {operator.reach for operator in OPERATORS.values()} == {Reach.SENT}


PROMPTS = [path for path in sorted(CORPUS.iterdir()) if path.suffix != ".yaml"]


@pytest.mark.parametrize("path", PROMPTS, ids=lambda path: path.stem)
def test_nothing_protected_in_a_real_prompt_is_touched(path: Path) -> None:
    config = AgentConfig(prompt=path.read_text("utf-8"))
    document = parse(config.prompt)
    found = generate(config, OPERATORS.values(), OperatorOptions()).mutants
    assert bool(found) == (path.stem not in ("reisen_german", "hotel_french"))
    for mutant in found:
        (edit,) = mutant.edits
        assert edit.span and not document.protects(*edit.span)
        within = [i for i in document.instructions if i.start <= edit.span[0] and edit.span[1] <= i.end]
        assert len(within) == 1
        after = parse(mutant.apply(config).prompt)
        assert len(after.protected) == len(document.protected)


SOUP = """
must not never always only at least 5 customers before after first all If you , . ( ) " ` { } * - May can verify
do n't above > 10 % $ once then until every # é 's
"""
WORDS = st.sampled_from([*SOUP.split(), "\n"])


@given(st.lists(WORDS, max_size=30).map(" ".join))
@settings(max_examples=60, deadline=None)
def test_any_text_is_mutated_without_harm(prompt: str) -> None:
    config = AgentConfig(prompt=prompt)
    document = parse(prompt)
    found = generate(config, OPERATORS.values(), OperatorOptions())
    assert not [dropped for dropped in found.dropped if "does not fit" in dropped.reason]
    for mutant in found.mutants:
        (edit,) = mutant.edits
        assert edit.span and not document.protects(*edit.span)


@pytest.mark.parametrize("piece", ["if must ", "before ask if ", "1 1, ", "not ", "always verify all 5 if "])
def test_an_endless_sentence_takes_no_time(piece: str) -> None:
    config = AgentConfig(prompt=piece * (100_000 // len(piece)))
    with processor_time() as used:
        generate(config, OPERATORS.values(), OperatorOptions())
        longest_read = AgentConfig(prompt=(piece * 2_000)[:1_990])
        generate(longest_read, OPERATORS.values(), OperatorOptions())
    assert used.seconds < 10  # about 0.2 s
