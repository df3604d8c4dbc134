"""What the operators on the structure of prompts make of small and of odd prompts."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.language.prompt.document import parse
from agentmut.language.prompt.spans import Span
from agentmut.language.prompt.templates import balanced
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Mutant
from agentmut.operators.prompt.conflict import conflicting
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from tests.processor import processor_time

OPERATORS: dict[str, Operator] = {
    entry.name: entry.load()()
    for entry in entry_points(group="agentmut.operators")
    if entry.name.startswith("prompt.")
}
OPTIONS = OperatorOptions()
CORPUS = Path(__file__).parents[1] / "testdata" / "prompts"
PROMPTS = sorted(path for path in CORPUS.iterdir() if path.suffix != ".yaml")


def mutants(name: str, prompt: str) -> tuple[Mutant, ...]:
    return generate(AgentConfig(prompt=prompt), [OPERATORS[f"prompt.{name}"]], OPTIONS).mutants


def made(name: str, prompt: str) -> list[str]:
    return [mutant.apply(AgentConfig(prompt=prompt)).prompt for mutant in mutants(name, prompt)]


def test_a_dropped_section_takes_its_heading_and_its_sections_along() -> None:
    assert made("drop_section", "# A\nBe kind.\n\n## B\nAsk.\n\n| x |\n\n# C\nWait.\n") == [
        "# C\nWait.\n",
        "# A\nBe kind.\n\n# C\nWait.\n",
        "# A\nBe kind.\n\n## B\nAsk.\n\n| x |\n",
    ]


def test_a_dropped_element_takes_its_tags_along() -> None:
    assert made("drop_section", "<a>\nBe kind.\n</a>\n\n<b>\nAsk.\n</b>\n") == [
        "<b>\nAsk.\n</b>\n",
        "<a>\nBe kind.\n</a>\n",
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "# Rules\n- Be kind.\n- Ask.\n",
        "Be kind.\n\nAsk.\n",
        "<a>Be kind.</a>\n<b>Ask.</b>",
        "# A\n# B\nBe kind.",
    ],
)
def test_a_section_that_is_everything_or_one_line_is_not_dropped(prompt: str) -> None:
    assert made("drop_section", prompt) == []


def test_sections_of_the_same_title_have_ids_of_their_own() -> None:
    prompt = "# A\n## Notes\nBe kind.\n# B\n## Notes\nAsk.\n"
    first = [m for m in mutants("drop_section", prompt) if "Notes" in m.description]
    again = [m for m in mutants("drop_section", f"{prompt}# C\nWait.\n") if "Notes" in m.description]
    assert len({m.id for m in first}) == 2
    assert [m.id for m in first] == [m.id for m in again]


def test_one_example_is_dropped_at_a_time() -> None:
    prompt = "Label it.\n\n<example>\nUser: a\n</example>\n<example>\nUser: b\n</example>\n\nBe quick."
    assert made("drop_example", prompt) == [
        "Label it.\n\n<example>\nUser: b\n</example>\n\nBe quick.",
        "Label it.\n\n<example>\nUser: a\n</example>\n\nBe quick.",
    ]
    assert made("drop_example", "Input: the ticket\nOutput: its label\n") == []


@pytest.mark.parametrize(
    ("rule", "rest"),
    [
        ("Never issue a refund unless a manager agrees.", "Never issue a refund."),
        ("Unless the user says otherwise, answer in English.", "Answer in English."),
        ("**Unless asked, do not name a date.**", "**Do not name a date.**"),
        ("Answer all questions (except those about prices) today.", "Answer all questions today."),
        ("Do not share it, except with the owner, and log each access.", "Do not share it and log each access."),
        ("Never discuss anything other than orders.", "Never discuss anything."),
        ("Never pay out without a manager's\n  approval.", "Never pay out."),
        ("Never give legal advice; refer them to a lawyer instead.", "Never give legal advice."),
        ("Mention products, but not prices.", "Mention products."),
        ("Reply at once, unless it is night, in which case wait.", "Reply at once."),
        ("Never reply unless asked and always log it.", "Never reply and always log it."),
        ("Do not call it unless asked; log it.", "Do not call it; log it."),
        ("- Ask unless it is clear", "- Ask"),
    ],
)  # fmt: skip
def test_an_exception_goes_and_a_whole_sentence_stays(rule: str, rest: str) -> None:
    said = f"Be kind.\n\n{rule}\n"
    assert made("drop_exception", said) == [f"Be kind.\n\n{rest}\n"]


@pytest.mark.parametrize(
    "rule",
    [
        "Unless A, B or C applies, close the ticket.",
        "You may share it, unless it is secret, internal or personal.",
        "Requests other than refunds go to a manager.",
        "All tools except `search` are free to use.",
        "Answer without jargon.",
        'Say "not unless you agree" to them.',
        "Use `x unless y` here.",
        "Use the new form instead of the old one.",
        "Do this unless:",
        "Répondez toujours, sauf la nuit, unless vous ne savez pas quoi dire au client de la maison.",
    ],
)
def test_where_an_exception_ends_is_never_guessed(rule: str) -> None:
    assert made("drop_exception", rule) == []


def test_a_prompt_is_cut_behind_whole_instructions() -> None:
    # 39 characters: three quarters are 29.25, a half 19.5, and the sentences end at 9, 19, 29 and 39.
    assert made("truncate", "Aa bb cc. Dd ee ff. Gg hh ii. Jj kk ll.\n") == [
        "Aa bb cc. Dd ee ff. Gg hh ii.",
        "Aa bb cc. Dd ee ff.",
    ]
    assert made("truncate", "Aa bb cc. Dd ee ff.") == ["Aa bb cc."]
    assert made("truncate", "Only one rule that is long. Bye.") == []


def test_a_cut_leaves_no_block_of_a_template_open() -> None:
    prompt = "Be kind.\n{% if a %}\nAsk it all. Wait for it.\n{% endif %}\nThank them for all of it now.\n"
    assert made("truncate", prompt) == ["Be kind."]


@pytest.mark.parametrize(
    "rule",
    [
        "Answer in JSON with the keys `a` and `b`.",
        "Use bullet points.",
        "Reply in one sentence.",
        'End every answer with "Bye".',
        "Format your answer as a table.",
        "Keep answers under 100 words.",
        "Respond only with the label.",
        "Your final answer must be valid JSON.",
        "Wrap the room in <room></room> tags.",
        "Never use emojis.",
    ],
)
def test_a_demand_for_a_form_of_answer_is_dropped(rule: str) -> None:
    assert made("drop_output_format", f"# R\n- Be kind.\n- {rule}\n") == ["# R\n- Be kind.\n"]


@pytest.mark.parametrize(
    "rule",
    [
        "List the CSV files.",
        "Return the item within 30 days.",
        "Give two options.",
        "Begin with the order number.",
        "Use the information in the table.",
        "Answer in the customer's language.",
        "Refer to the JSON file of the order.",
    ],
)
def test_other_rules_are_no_demand_for_a_form(rule: str) -> None:
    assert made("drop_output_format", f"Be kind.\n\n{rule}\n") == []


def test_the_code_that_a_format_announces_goes_with_it() -> None:
    said = 'Be kind.\n\nUse the following format:\n\n```json\n{"a": 1}\n```\n\nAsk.\n'
    assert made("drop_output_format", said) == ["Be kind.\n\n\nAsk.\n"]
    assert made("drop_output_format", 'Be kind.\nReply with JSON in this format:\n{"a":\n 1}\nAsk.\n') == [
        "Be kind.\nAsk.\n"
    ]


def test_all_emphasis_of_a_rule_goes_at_once_and_that_of_others_stays() -> None:
    assert made(
        "remove_emphasis", "- **NEVER** lie!!!\n- IMPORTANT: ask **Ava** first.\n- Go to NASA.\n"
    ) == [
        "- Never lie.\n- IMPORTANT: ask **Ava** first.\n- Go to NASA.\n",
        "- **NEVER** lie!!!\n- Ask **Ava** first.\n- Go to NASA.\n",
    ]


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("You are **Ava**, a support agent of Acme.", "You are **Ava**, a sales representative of Acme."),
        ("You're an expert Python engineer.", "You're a technical writer."),
        ("Act as a patient maths tutor for {name}.", "Act as an exam grader for {name}."),
        ("You are the claims assistant of Harbour.", "You are a helpful assistant of Harbour."),
    ],
)
def test_somebody_else_has_the_same_employer(said: str, other: str) -> None:
    assert made("swap_persona", f"{said} Be kind.") == [f"{other} Be kind."]


@pytest.mark.parametrize("said", ["You book rooms.", "If you are an agent, wait.", "You are in a hurry."])
def test_a_prompt_that_names_no_role_keeps_its_persona(said: str) -> None:
    assert made("swap_persona", said) == []


@pytest.mark.parametrize(
    ("rule", "reverse"),
    [
        ("Always ask first.", "Never ask first."),
        ("**Never** promise a refund.", "**Always** promise a refund."),
        ("Don't share the key.", "Always share the key."),
        ("You must verify the\n  caller.", "You must not verify the caller."),
        ("You must not share keys.", "You may share keys."),
        ("NEVER CLOSE A TICKET", "ALWAYS CLOSE A TICKET"),
        ("Never close a ticket unless asked.", None),
        ("Always be polite and never rude.", None),
        ("Do not answer them.", None),
        ("Do not assign more than one label.", None),
        ("Be kind.", None),
    ],
)
def test_only_what_surely_conflicts_is_reversed(rule: str, reverse: str | None) -> None:
    assert conflicting(rule) == reverse


def test_the_conflicting_version_is_a_last_paragraph() -> None:
    assert made("contradict", "1. Always ask.\r\n2. Be kind.\r\n") == [
        "1. Always ask.\r\n2. Be kind.\r\n\r\nNever ask.\r\n"
    ]


def test_a_bullet_stands_twice_and_steps_do_not() -> None:
    prompt = "- Be kind.\n- First, ask.\n- Be brief:\n  - one line\n1. Wait.\n\nAsk early.\n\n* Say no."
    assert made("duplicate", prompt) == [
        prompt.replace("- Be kind.\n", "- Be kind.\n- Be kind.\n"),
        prompt.replace("  - one line\n", "  - one line\n  - one line\n"),
        prompt + "\n* Say no.",
    ]


def test_demands_and_contradictions_are_paragraphs_of_their_own() -> None:
    prompt = "Be kind.\n\nBe brief.\n"
    assert made("inject_distraction", prompt) == [
        "Be kind.\n\nBe brief.\n\n"
        'End every answer with the sentence "This answer was written by AI and may contain mistakes."\n',
        "Be kind.\n\nAsk at the end of every answer whether it was helpful.\n\nBe brief.\n",
    ]
    assert all(said.startswith("Be kind.\n\nBe brief.\n\n") for said in made("inject_contradiction", prompt))
    assert len(made("inject_contradiction", prompt)) == 2


def test_white_space_changes_at_one_place_outside_code() -> None:
    assert made("whitespace", "```\na\n\n- b\n```\n\n- Be kind.\n- Ask.\n") == [
        "```\na\n\n- b\n```\n\n\n- Be kind.\n- Ask.\n",
        "```\na\n\n- b\n```\n\n* Be kind.\n- Ask.\n",
        "```\na\n\n- b\n```\n\n- Be kind. \n- Ask.\n",
    ]


@pytest.mark.parametrize("path", [p for p in PROMPTS if p.suffix == ".j2"], ids=lambda path: path.stem)
def test_every_mutant_of_a_template_can_still_be_rendered(path: Path) -> None:
    config = AgentConfig(prompt=path.read_text("utf-8"))
    generated = generate(config, OPERATORS.values(), OPTIONS).mutants
    assert generated
    for mutant in generated:
        said = mutant.apply(config).prompt
        assert balanced(said, Span(0, len(said))), mutant.description


CUTS = ("drop_section", "drop_example", "drop_exception", "drop_output_format", "truncate")


@pytest.mark.parametrize("path", PROMPTS, ids=lambda path: path.stem)
def test_a_loss_in_a_real_prompt_leaves_the_other_instructions_as_they_were(path: Path) -> None:
    text = path.read_text("utf-8")
    document = parse(text)
    for mutant in (mutant for name in CUTS for mutant in mutants(name, text)):
        (edit,) = mutant.edits
        start, end = edit.span or (0, 0)
        spared = [i.text for i in document.instructions if i.end <= start or i.start >= end]
        now = [i.text for i in parse(mutant.apply(AgentConfig(prompt=text)).prompt).instructions]
        assert [said for said in now if said in spared] == spared, mutant.description


ODD = [
    "", "  \n\t\n", "Be kind.", "```\nMust be code.\n```", "```\nNever closed. Unless x, y.", "Use {x and {{ y. Ask.",
    "{% if z %} Be kind.", "{# Always. Never!!", "\ud800 Never guess unless \udfff.", "\x00Never\u2028 x\u2029 y",
    "\ufeff# A\n- **b**", "Unless , x", "- ", "#", "<a>", "**", "﷽" * 50, "Always a\rNever b\r\n\rDo not c",
]  # fmt: skip


@pytest.mark.parametrize("prompt", ODD)
@pytest.mark.parametrize("name", OPERATORS)
def test_odd_prompts_are_met_without_error_and_edits_fit(name: str, prompt: str) -> None:
    config = AgentConfig(prompt=prompt)
    generation = generate(config, [OPERATORS[name]], OPTIONS)
    assert all(mutant.apply(config) != config for mutant in generation.mutants)
    assert not any("does not fit" in dropped.reason for dropped in generation.dropped)


PIECES = [
    "Always ask",
    " unless told",
    ", ",
    "and",
    "**NEVER**",
    " except (x)",
    ".",
    "; y instead",
    "\n- ",
    "`c`",
    ' "q"',
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@settings(max_examples=60, deadline=None)
def test_edits_never_cut_protected_text_in_half(text: str) -> None:
    document = parse(text)
    for name in ("drop_exception", "remove_emphasis", "swap_persona", "whitespace"):
        for mutant in mutants(name, text):
            for edit in mutant.edits:
                for offset in edit.span or ():
                    assert not any(start < offset < end for start, end in document.protected)


HOSTILE = [
    "unless ",
    "Never a unless b, ",
    "Always a.\n",
    "**a** ",
    "NEVER a ",
    "- a\n",
    "except (",
    "Reply in two three ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_finding_places_takes_time_in_proportion_to_length(piece: str) -> None:
    config = AgentConfig(prompt=piece * (12_000 // len(piece)))
    with processor_time() as used:
        for operator in OPERATORS.values():
            for _ in operator.mutants(config, OPTIONS):
                pass
    assert used.seconds < 4  # under 0.2 s; anything quadratic takes ten seconds and more


def test_a_prompt_of_a_third_of_a_megabyte_is_met_in_seconds() -> None:
    together = "\n\n".join(path.read_text("utf-8") for path in PROMPTS)
    config = AgentConfig(prompt=f"{together}\n\n" * (333_000 // len(together) + 1))
    with processor_time() as used:
        found = sum(1 for operator in OPERATORS.values() for _ in operator.mutants(config, OPTIONS))
        assert len(config.prompt) >= 333_000 and found > 4_000
    assert used.seconds < 8  # about 1 s on an idle core
