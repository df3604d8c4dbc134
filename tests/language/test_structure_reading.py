"""Sections, single examples and emphasis are found with their exact characters."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentmut.language.prompt.document import parse
from agentmut.language.prompt.spans import Span
from agentmut.language.prompt.templates import balanced


def sections(text: str) -> list[tuple[int, str, str]]:
    return [(s.depth, s.title, text[s.start : s.end]) for s in parse(text).sections]


def examples(text: str) -> list[str]:
    return [text[example.start : example.end] for example in parse(text).examples]


def texts(text: str) -> list[str]:
    return [instruction.text for instruction in parse(text).instructions]


def test_a_section_ends_at_the_next_heading_of_its_level_or_above() -> None:
    assert sections("# A\na\n\n## B\nb\n### C\nc\n\n## D\nd\n") == [
        (0, "A", "# A\na\n\n## B\nb\n### C\nc\n\n## D\nd"),
        (1, "B", "## B\nb\n### C\nc"),
        (2, "C", "### C\nc"),
        (1, "D", "## D\nd"),
    ]


def test_headings_that_only_look_like_one_stand_below_those_of_markdown() -> None:
    assert sections("Rules\n=====\nBe kind.\n\n**Tone**\nBe brief.\n\nLimits\n------\nNever guess.\n") == [
        (0, "Rules", "Rules\n=====\nBe kind.\n\n**Tone**\nBe brief.\n\nLimits\n------\nNever guess."),
        (1, "Tone", "**Tone**\nBe brief."),
        (1, "Limits", "Limits\n------\nNever guess."),
    ]


def test_the_element_of_a_tag_is_a_section_and_bounds_the_headings_in_it() -> None:
    assert sections("<a>\n# H\nBe kind.\n</a>\nBe <b>brief</b>.\n<c>Ask. Wait.</c>") == [
        (0, "a", "<a>\n# H\nBe kind.\n</a>"),
        (1, "H", "# H\nBe kind."),
        (0, "c", "<c>Ask. Wait.</c>"),
    ]


def test_a_heading_in_a_block_of_a_template_ends_with_the_block() -> None:
    assert sections("{% if vip %}\n## Gold\nBe fast.\n{% endif %}\nBe kind.\n") == [
        (0, "Gold", "## Gold\nBe fast.")
    ]


@pytest.mark.parametrize(
    "text",
    ["# Only a title", "<a>\nnever closed", "closed only\n</a>", "```\n# A\nb\n```", "`<a>`\nx\n`</a>`"],
)
def test_what_is_no_section(text: str) -> None:
    assert sections(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<example>\nUser: a\n</example>\n<example>b c</example>",
            ["<example>\nUser: a\n</example>", "<example>b c</example>"],
        ),
        ("<beispiel>\nKunde: a\n</beispiel>", ["<beispiel>\nKunde: a\n</beispiel>"]),
        ('<examples>\n<example id="1">\na\n</example>\n</examples>', ['<example id="1">\na\n</example>']),
        (
            "<examples>\nUser: a\nAgent: b\nUser: c\nAgent: d\n</examples>",
            ["User: a\nAgent: b", "User: c\nAgent: d"],
        ),
        ("User: a\nAssistant: b\nUser: c\nAssistant: d", ["User: a\nAssistant: b", "User: c\nAssistant: d"]),
        (
            "User: a\n\nAssistant: b\n\nUser: c\n\nAssistant: d",
            ["User: a\n\nAssistant: b", "User: c\n\nAssistant: d"],
        ),
        (
            "User: a\nAI: b\nUser: c\nAI: d\n\nUser: e\nAI: f",
            ["User: a\nAI: b\nUser: c\nAI: d", "User: e\nAI: f"],
        ),
        ("**User:** a\n**Agent:** b", ["**User:** a\n**Agent:** b"]),
        ("Q: a b?\nA: c d.\n\nQ: e f?\nA: g h.\n\nBe kind.", ["Q: a b?\nA: c d.", "Q: e f?\nA: g h."]),
        (
            "Input:\na b\nOutput:\nc\n\nInput:\nd\nOutput:\ne\n\nGo.",
            ["Input:\na b\nOutput:\nc", "Input:\nd\nOutput:\ne"],
        ),
        (
            "Example 1:\nUser: a\nAgent: b\n\nExample 2:\nUser: c\nAgent: d",
            ["Example 1:\nUser: a\nAgent: b", "Example 2:\nUser: c\nAgent: d"],
        ),
        (
            "Example 1: late -> refund\nExample 2: lost -> resend",
            ["Example 1: late -> refund", "Example 2: lost -> resend"],
        ),
        (
            "## Examples\n### Example 1\na\n\n### Example 2\nb\n\n## Rules\nBe kind.",
            ["### Example 1\na", "### Example 2\nb"],
        ),
        (
            "### Examples\n- a -> b\n  because\n- c -> d\n\n### Rules\n- e",
            ["- a -> b\n  because", "- c -> d"],
        ),
        (
            "## Examples\n\nLate parcel: resend.\n\nBroken: refund.\n",
            ["Late parcel: resend.", "Broken: refund."],
        ),
        ("Examples:\n- a -> b\n- c -> d\n\nBe kind.", ["- a -> b", "- c -> d"]),
        ("Do it. So:\n\nExample:\n```json\n{}\n```\n\nBe kind.", ["Example:\n```json\n{}\n```"]),
        ("Input: the ticket\nOutput: its label\n\nBe kind.", []),
        ("For example: say this. Be kind.", []),
    ],
)  # fmt: skip
def test_examples_of_every_style_are_told_apart(text: str, expected: list[str]) -> None:
    assert examples(text) == expected


def test_what_stands_under_a_heading_of_examples_is_no_instruction() -> None:
    assert texts("## Examples\n- Always say hi -> greet\n\nMust pay.\n\n## Rules\n- Be kind.") == ["Be kind."]
    assert texts("**Examples**\n\n- Always a -> b\n\nBe kind.\n") == ["Be kind."]


def test_comments_and_statements_of_a_template_are_no_text() -> None:
    text = "{# Old:\n\n- Never lie.\n#}\n{% if a %}\nBe kind.\n{% else %}\nbe brief.\n{% endif %}\n"
    assert texts(text + "<!-- no\n- rule -->\n") == ["Be kind.", "be brief."]
    assert texts("{% if a %}Be kind. Be brief.{% endif %}") == ["Be kind.", "Be brief."]
    assert texts("{# never closed\n- Be kind.") == ["{# never closed", "Be kind."]


def test_the_cut_of_a_conditional_sentence_takes_its_statements_along() -> None:
    text = "{% if a %}Be kind.{% endif %} Be brief."
    first, _ = parse(text).instructions
    assert balanced(text, first.removal)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**IMPORTANT:** never lie.", [("**IMPORTANT:** n", "N")]),
        ("CRITICAL RULE: Never lie!!", [("CRITICAL RULE: ", ""), ("!!", ".")]),
        ("You MUST NOT pay, EVER.", [("MUST", "must"), ("NOT", "not"), ("EVER", "ever")]),
        ("**NEVER** say `NOT` or NASA.", [("**", ""), ("NEVER", "Never"), ("**", "")]),
        ("Name it **before** you go.", [("**", ""), ("**", "")]),
        ("You are **Ava**.", []),
        ("**Tone:** be kind.", []),
        ("NEVER LIE.", []),
        ("Say 2 ** 3 ** 4.", []),
    ],
)
def test_emphasis_is_found_and_names_and_labels_are_none(text: str, expected: list[tuple[str, str]]) -> None:
    document = parse(text)
    found = document.emphases(document.instructions[0])
    assert [(text[start:end], plain) for start, end, plain in found] == expected


PIECES = [
    "# A\n", "## B\n", "Example 1:\n", "## Examples\n", "User: hi\n", "Assistant: ho\n", "- a b\n", "\n", "<a>\n",
    "</a>\n", "<example>\n", "</example>\n", "{% if x %}\n", "{% endif %}\n", "```\n", "Be kind. Go on.\n", "| a |\n",
    "**NOT**\n", "x\r\n", "<a>b</a>\n", "{# ", "#}", "IMPORTANT: a",
]  # fmt: skip
layouts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(layouts)
@example("# A\n```\n\n")
@settings(max_examples=60, deadline=None)
def test_sections_nest_and_examples_do_not_overlap(text: str) -> None:
    document = parse(text)
    for one, other in zip(document.sections, document.sections[1:], strict=False):
        assert one.start <= other.start and (other.start >= one.end or other.end <= one.end)
    for shown, following in zip(document.examples, document.examples[1:], strict=False):
        assert shown.end <= following.start
    parts = [(section.start, section.end, section.removal) for section in document.sections]
    parts += [(shown.start, shown.end, shown.removal) for shown in document.examples]
    for first, last, (start, end) in parts:
        said = text[first:last]
        assert said == said.strip() != ""
        assert start <= first < last <= end
        assert not text[start:first].strip() and not text[last:end].strip()


@given(layouts)
@settings(max_examples=60, deadline=None)
def test_emphasis_lies_in_its_instruction_and_outside_protected_text(text: str) -> None:
    document = parse(text)
    for instruction in document.instructions:
        last = instruction.start
        for start, end, _ in document.emphases(instruction):
            assert last <= start < end <= instruction.end and not document.protects(start, end)
            last = end


def test_a_part_of_a_template_is_balanced_only_with_both_ends() -> None:
    text = "{% for a in b %}{% if c %}d{% else %}e{% endif %}{% endfor %}"
    assert balanced(text, Span(0, len(text)))
    assert balanced(text, Span(16, 49))
    assert not balanced(text, Span(0, 49))
    assert not balanced(text, Span(27, 38))
