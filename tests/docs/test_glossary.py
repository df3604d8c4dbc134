"""The glossary names every status, intent and class, and the readability check finds what it bans."""

from agentmut.nouns import Intent, OperatorClass, Status
from tests.readability import MOST_WORDS, ROOT, found_in_page, found_in_source, sentences, too_long

PAGE = (ROOT / "docs" / "glossary.md").read_text()
ELSEWHERE = {"equivalent", "ignored", "error", "higher_order"}
"""Words that only a result file or the user's own list has."""


def test_the_glossary_has_every_status_intent_and_class() -> None:
    words = {word.value.replace("_", " ") for word in (*Status, *Intent)} | {
        word.value for word in OperatorClass
    }
    assert {word for word in words - ELSEWHERE if word not in PAGE} == set()


def test_a_banned_construction_is_found_in_docstrings_and_pages_with_its_line() -> None:
    source = 'def f():\n    """Return the trials.\n\n    None of them counts. Those that failed do."""\n'
    found = list(found_in_source(source, "a.py"))
    assert [(each.place, each.text[:10]) for each in found] == [("a.py:2", "Those that")]
    page = "# A\n\n```sh\nThose of the code\n```\n\nRuns are kept. Those of today are listed.\n"
    assert [each.place for each in found_in_page(page, "a.md")] == ["a.md:7"]


def test_riddles_of_one_word_are_found() -> None:
    texts = [
        "Return a number; 0 for what is none.",
        "Most trials share theirs with others.",
        "Besides, it ends.",
        "Mutants end as not_applied.",
    ]
    assert [len(list(found_in_source(f'"""{text}"""', "a.py"))) for text in texts] == [1, 1, 1, 1]


def test_a_long_sentence_of_a_page_is_seen_as_one_sentence() -> None:
    page = "# A\n\nRun `a b c d` and\nwait. Then [read](a.md) it:\n\n- one item.\n\n```sh\ncode here\n```\n"
    assert list(sentences(page)) == ["Run CODE and wait.", "Then read it:", "- one item."]
    assert MOST_WORDS <= 34
    assert not list(too_long(f"{'word ' * (MOST_WORDS - 1)}word.\n", "a.md"))
    assert [each.place for each in too_long(f"{'word ' * MOST_WORDS}word.\n", "a.md")] == ["a.md"]


def test_a_list_of_code_counts_as_one_word_and_a_name_in_small_letters_begins_a_sentence() -> None:
    assert list(sentences("It has `a`, `b` and `c d`, `e`. pytest runs it, e.g. twice.\n")) == [
        "It has CODE and CODE.",
        "pytest runs it, e.g. twice.",
    ]


def test_a_sentence_with_its_noun_is_left_alone() -> None:
    assert not list(found_in_source('"""Trials of today are listed, and those of yesterday."""', "a.py"))
