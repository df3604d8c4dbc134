"""Words, stems, modality, positions and synonyms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmut._base.text_position import position
from agentmut.language.prompt.document import parse
from agentmut.language.prompt.modality import Modality, modality
from agentmut.language.prompt.spans import Span, inside, merged, overlaps, splits
from agentmut.language.vocabulary.synonyms import synonyms
from agentmut.language.vocabulary.uses import reads_as_english
from agentmut.language.vocabulary.words import stems, words


@given(st.text(max_size=80))
def test_words_stand_where_they_say(text: str) -> None:
    assert all(text[word.start : word.end] == word.text for word in words(text))


def test_stems_meet_across_inflection_case_apostrophes_and_tool_names() -> None:
    assert (
        stems("Refunding the customer’s orders")
        == stems("customer's ORDER refunds")
        == stems("refund_order_customer")
    )


def test_stems_leave_out_words_that_say_nothing_about_the_subject() -> None:
    assert stems("You must never do this before they have it") == frozenset()


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Never promise a refund.", Modality.FORBID),
        ("Don’t guess.", Modality.FORBID),
        ("Answers may not exceed three lines.", Modality.FORBID),
        ("No refunds after 30 days.", Modality.FORBID),
        ("You should never apologise.", Modality.FORBID),
        ("You must verify the customer.", Modality.MUST),
        ("ALWAYS be polite.", Modality.MUST),
        ("Only offer refunds if the customer cannot wait.", Modality.MUST),
        ("It is required that you log it.", Modality.MUST),
        ("Not only verify, but refund.", Modality.MUST),
        ("You should usually ask.", Modality.SHOULD),
        ("If possible, answer in French.", Modality.SHOULD),
        ("Prefer short answers.", Modality.SHOULD),
        ("You can offer a coupon.", Modality.MAY),
        ("You do not need to verify regulars.", Modality.MAY),
        ("Optionally add a link.", Modality.MAY),
        ("Use no more than 50 words.", Modality.IMPERATIVE),
        ("When you cannot find it, say so.", Modality.IMPERATIVE),
        ("You are a support agent.", Modality.IMPERATIVE),
        ("", Modality.IMPERATIVE),
    ],
)
def test_modality_reads_the_main_clause(said: str, expected: Modality) -> None:
    assert modality(said) is expected


@pytest.mark.parametrize(
    "said",
    [
        'End with "What can I do?"',
        "Say “you must wait” at the end.",
        "Say «never».",
    ],
)
def test_modality_does_not_read_quotations(said: str) -> None:
    assert modality(said) is Modality.IMPERATIVE


@pytest.mark.parametrize(
    ("offset", "line", "column"), [(0, 1, 1), (3, 1, 4), (5, 2, 1), (9, 3, 1), (10, 3, 2)]
)
def test_a_position_counts_lines_and_columns_from_one(offset: int, line: int, column: int) -> None:
    assert position("one\r\ntwo\nx", offset) == (line, column)


@pytest.mark.parametrize("offset", [-1, 4])
def test_a_position_outside_the_text_is_refused(offset: int) -> None:
    with pytest.raises(ValueError, match="outside a text of 3 characters"):
        position("one", offset)


def replaced(prompt: str, *tool_names: str) -> list[str]:
    document = parse(prompt, tool_names)
    return [
        prompt[: found.start] + found.text + prompt[found.end :]
        for instruction in document.instructions
        for found in synonyms(document, instruction, tool_names)
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Verify the order.", "Check the order."),
        ("You must have verified it.", "You must have checked it."),
        ("ALWAYS VERIFY IT.", "ALWAYS CHECK IT."),
        ("Begin when they have begun.", "Start when they have begun."),
        ("Await the answer.", "Wait for the answer."),
        ("Give a concise answer.", "Give a brief answer."),
        ("Respond within a day.", "Reply within a day."),
        ("Write to them regarding the order.", "Write to them about the order."),
    ],
)
def test_a_synonym_takes_the_place_of_a_word_in_its_form(before: str, after: str) -> None:
    assert replaced(before)[0] == after


@pytest.mark.parametrize(
    "prompt",
    [
        "Wait for a receive window.",  # a noun after a determiner
        "It is fine, provided that they ask.",
        "Be user friendly.",
        "Use a semi-polite form.",
        "Give an appropriate answer.",  # "an suitable"
        'Call `verify` and {verify} at https://x.example/verify and say "verify".',
        "Vérifier und verify für Größe.",
        "veRify it.",
        "Use SELECT statements alone.",
    ],
)
def test_no_synonym_where_it_would_read_wrongly(prompt: str) -> None:
    assert replaced(prompt) == []


def test_words_of_tool_names_keep_their_wording() -> None:
    assert replaced("Verify the order.", "verify_identity") == []


@pytest.mark.parametrize(
    "text",
    [
        "Du bist ein hilfreicher Assistent und beantwortest jede Frage der Kunden in einem kurzen Satz.",
        "Tu es un assistant de voyage et tu ne donnes jamais le prix avant de poser une question.",
        "Rufe zuerst auf, bevor du einen Schaden meldest.",
        "Es liegt in 2 Tagen bereit.",
        "Pide el localizador antes de cancelar.",
        "No ofrezcas bonos ni compensaciones.",
        "Demandez la date et ne donnez pas de prix.",
        "Eres un asistente y siempre respondes con una frase corta a las preguntas de los clientes.",
    ],
)
def test_other_languages_are_not_read_as_english(text: str) -> None:
    assert not reads_as_english(text)


def test_an_english_sentence_with_foreign_names_is_read_as_english() -> None:
    assert reads_as_english(
        "Always ask the guests of the Café Zürich for their table number before you answer them."
    )


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)).map(lambda s: Span(s[0], s[0] + s[1])))


@given(spans, st.integers(0, 40), st.integers(0, 8))
def test_span_questions_agree_with_counting_characters(raw: list[Span], start: int, length: int) -> None:
    held = merged(raw)
    characters = {c for span in raw for c in range(*span)}
    probe = Span(start, start + length)
    assert {c for span in held for c in range(*span)} == characters
    assert overlaps(held, probe) == bool(characters & set(range(*probe))) or length == 0
    assert splits(held, start) == any(span.start < start < span.end for span in held)
    assert (
        list(inside(held, probe)) == [s for s in held if set(range(*s)) & set(range(*probe))] or length == 0
    )
