"""Prompts of different shapes are read as a person would read them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentmut.language.prompt.document import PromptDocument, parse

CORPUS = Path(__file__).parents[1] / "testdata" / "prompts"
PROMPTS = sorted(path for path in CORPUS.iterdir() if path.suffix != ".yaml")
every_prompt = pytest.mark.parametrize("path", PROMPTS, ids=lambda path: path.stem)


def read(path: Path) -> tuple[str, dict[str, Any]]:
    expected: dict[str, Any] = yaml.safe_load(path.with_suffix(".yaml").read_text("utf-8"))
    return path.read_text("utf-8"), expected


def texts(document: PromptDocument) -> list[str]:
    return [instruction.text for instruction in document.instructions]


@every_prompt
def test_the_instructions_of_a_real_prompt_are_the_ones_a_person_marked(path: Path) -> None:
    text, expected = read(path)
    assert texts(parse(text, expected["tools"])) == expected["instructions"]


@every_prompt
def test_instructions_know_the_heading_above_them(path: Path) -> None:
    text, expected = read(path)
    headings = {i.text: i.heading for i in parse(text, expected["tools"]).instructions}
    assert {said: headings[said] for said in expected["headings"]} == expected["headings"]


@every_prompt
def test_the_sections_of_a_real_prompt_are_the_ones_a_person_marked(path: Path) -> None:
    text, expected = read(path)
    assert [section.title for section in parse(text, expected["tools"]).sections] == expected["sections"]


@every_prompt
def test_the_examples_of_a_real_prompt_are_the_ones_a_person_marked(path: Path) -> None:
    text, expected = read(path)
    found = [text[example.start : example.end] for example in parse(text, expected["tools"]).examples]
    assert found == expected["examples"]


@every_prompt
def test_protected_text_is_protected_to_its_last_character(path: Path) -> None:
    text, expected = read(path)
    document = parse(text, expected["tools"])
    for fixed in expected["protected"]:
        start = text.index(fixed)
        assert all(document.protects(at, at + 1) for at in range(start, start + len(fixed))), fixed


@every_prompt
def test_windows_line_breaks_change_nothing(path: Path) -> None:
    text, expected = read(path)
    windows = parse(text.replace("\n", "\r\n"), expected["tools"])
    assert [said.replace("\r\n", "\n") for said in texts(windows)] == expected["instructions"]


@every_prompt
def test_cutting_an_instruction_leaves_the_others_as_they_were(path: Path) -> None:
    text, expected = read(path)
    instructions = parse(text, expected["tools"]).instructions
    for index, instruction in enumerate(instructions):
        start, end = instruction.removal
        rest = [i.text for i in (*instructions[:index], *instructions[index + 1 :])]
        assert texts(parse(text[:start] + text[end:], expected["tools"])) == rest, instruction.text


PIECES = ["Never ", "```", "\n- ", "\n\n", "</a>", "<a>", *"ab .!?:;-*#`\"'|<>/{}()[]\n\r\t1.)=~_>é你。"]
anything = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(anything)
def test_any_text_is_a_prompt_and_every_span_gives_back_its_characters(text: str) -> None:
    document = parse(text)
    last = 0
    for i in document.instructions:
        assert text[i.start : i.end] == i.text == i.text.strip() != ""
        assert i.removal.start <= i.start < i.end <= i.removal.end
        assert last <= i.start
        last = i.end
    for span, following in zip(document.protected, document.protected[1:], strict=False):
        assert span.start < span.end <= following.start


@pytest.mark.parametrize(
    "text", ["", "  \n\t\n", "# Only\n## headings", "```\nMust be code.\n```", "{{ prompt }}"]
)
def test_a_prompt_without_sentences_has_no_instructions(text: str) -> None:
    assert parse(text).instructions == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Be kind.", ["Be kind."]),
        ("只回答问题。不要猜测！", ["只回答问题。", "不要猜测！"]),
        ("हमेशा विनम्र रहें। अनुमान न लगाएं।", ["हमेशा विनम्र रहें।", "अनुमान न लगाएं।"]),
        ("**Never lie.** *Be kind.* _Ask._", ["**Never lie.**", "*Be kind.*", "_Ask._"]),
        ('He said "No. Never." to them. Go on.', ['He said "No. Never." to them.', "Go on."]),
        ("See fig. 3 and Sec. 2 first. Then act.", ["See fig. 3 and Sec. 2 first.", "Then act."]),
        ("Ask for it (name, no., etc.). Go on.", ["Ask for it (name, no., etc.).", "Go on."]),
        ("Wait... then answer. Version 2.5 is out.", ["Wait... then answer.", "Version 2.5 is out."]),
        ("- a rule\n\n  more of it\n- b rule", ["a rule", "more of it", "b rule"]),
        ("- wrapped at\nthe margin\n- next", ["wrapped at\nthe margin", "next"]),
        (
            "Sie nehmen Kfz-, Hausrat- und\nHaftpflicht auf.\nSeien Sie knapp.",
            [
                "Sie nehmen Kfz-, Hausrat- und\nHaftpflicht auf.",
                "Seien Sie knapp.",
            ],
        ),  # a German noun has a capital letter
        ("Rules:\n- one thing", ["one thing"]),
        ("> Quoted rules count.\n> Both of them.", ["Quoted rules count.", "Both of them."]),
        ("- [ ] tick me\n- [x] done thing", ["tick me", "done thing"]),
        ("```\nnever closed. Must stay.", []),
        ("<a>Be kind.</a><b>Be brief.</b>", ["Be kind.", "Be brief."]),
        ("a.b\nÜber alles schweigen.\nNever guess.", ["a.b", "Über alles schweigen.", "Never guess."]),
    ],
)
def test_sentences_end_where_they_end(text: str, expected: list[str]) -> None:
    assert texts(parse(text)) == expected


def removed(text: str, said: str) -> str:
    (instruction,) = (i for i in parse(text).instructions if i.text == said)
    return text[: instruction.removal.start] + text[instruction.removal.end :]


@pytest.mark.parametrize(
    ("text", "said", "rest"),
    [
        ("# R\n- a b\n- c d\n", "a b", "# R\n- c d\n"),
        ("# R\n- a b\n- c d", "c d", "# R\n- a b"),
        ("# R\r\n- a b\r\n- c d", "c d", "# R\r\n- a b"),
        ("One aa. Two bb. Three cc.", "One aa.", "Two bb. Three cc."),
        ("One aa. Two bb. Three cc.", "Two bb.", "One aa. Three cc."),
        ("One aa. Two bb. Three cc.", "Three cc.", "One aa. Two bb."),
        ("- One aa. Two bb.\n- Three cc.", "One aa.", "- Two bb.\n- Three cc."),
        ("First para.\n\nSecond para.\n\nThird.", "Second para.", "First para.\n\nThird."),
        ("<r><x>Be kind.</x><x>Be brief.</x></r>", "Be brief.", "<r><x>Be kind.</x></r>"),
        ("<r>\n<x>Be kind.</x>\n<x>Be brief.</x>\n</r>", "Be kind.", "<r>\n<x>Be brief.</x>\n</r>"),
        ("- top rule\n  - sub rule\n", "top rule", "  - sub rule\n"),
        ("Only one.", "Only one.", ""),
    ],
)
def test_a_cut_takes_bullet_line_break_or_blank_along(text: str, said: str, rest: str) -> None:
    assert removed(text, said) == rest


def test_items_of_one_list_form_a_group_and_nested_items_another() -> None:
    groups = {i.text: i.group for i in parse("- a1\n  - b1\n  - b2\n- a2\n\nText here.\n\n- c1").instructions}
    assert groups["a1"] == groups["a2"] != groups["b1"] == groups["b2"]
    assert len(set(groups.values())) == 4


def test_a_stray_brace_does_not_protect_the_paragraphs_after_it() -> None:
    text = "Use { sparingly.\n\nBe polite to everybody.\n\nClose with }."
    assert not parse(text).protects(text.index("polite"), text.index("polite") + 6)


def test_tool_names_are_protected_as_whole_words_only() -> None:
    document = parse("search the web, research nothing", ["search"])
    assert document.protected == ((0, 6),)


def test_a_very_long_paragraph_is_split_like_a_short_one() -> None:
    rules = [f"Rule number {n} says, e.g. on Sec. {n}, be kind to Dr. Who." for n in range(2_000)]
    assert texts(parse(" ".join(rules))) == rules
