"""No proposed phrase is cut within a group of words, a date, an amount or a name, in English and in German."""

import pytest

from agentmut.insight.word_groups import whole_phrases
from agentmut.language import stated_figures

CASES = [
    ("It is due on 1 June.", ["1 june", "due on 1 june"], ["1", "it is due on 1", "due on 1", "june", "it is"]),
    ("Pay by June 1, 2026, please.", ["june 1, 2026"], ["june 1", "2026", "pay by june 1"]),
    ("You can return the tent within five working days of delivery.",
     ["five working days", "return the tent", "tent within five working days"],
     ["five working", "working days", "return the", "tent within", "return the tent within"]),
    ("It costs 1,200.50 US dollars in total.", ["it costs 1,200.50 us dollars"],
     ["1,200.50", "1,200.50 us", "us dollars"]),
    ("Order A-1042 was brought by the Bank of England.", ["order a-1042", "bank of england"],
     ["a-1042", "order", "bank", "england", "bank of"]),
    ("This tent is not available.", ["this tent is not available"], ["available", "not available", "this tent is"]),
    ("The parcel was picked up by a neighbour.", ["neighbour"], ["picked", "parcel was picked", "picked up by"]),
    ("We sell food, e.g. dried fruit.", ["we sell food"], ["we sell food, e.g", "e.g"]),
    ("1. Open the box.\n2. Read the note.", ["open the box", "read the note"], ["open the", "the"]),
    ("Die Rechnung über 1.234,50 € ist am 1. Juni 2026 fällig.",
     ["1.234,50 €", "rechnung über 1.234,50 €", "1. juni 2026 fällig"],
     ["1", "1.234,50", "am 1", "juni 2026 fällig", "fällig am 1", "rechnung über", "1. juni"]),
    ("Sie können das Zelt innerhalb von fünf Werktagen zurückgeben.",
     ["sie können das zelt", "fünf werktagen zurückgeben"],
     ["fünf", "werktagen", "sie können das", "zelt innerhalb von"]),
    ("Das Zelt ist nicht lieferbar.", ["das zelt ist nicht lieferbar"],
     ["lieferbar", "das zelt ist", "zelt ist nicht"]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "whole", "cut"), CASES, ids=[case[0][:24] for case in CASES])
def test_phrases_are_whole(answer: str, whole: list[str], cut: list[str]) -> None:
    found = whole_phrases(answer)
    assert not set(whole) - found
    assert not set(cut) & found


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It is due on 1 June.", "1 June"),
        ("It was due on 3 Sept. 2026.", "3 Sept. 2026"),
        ("Fällig am 1. Juni 2026.", "1. Juni 2026"),
    ],
)
def test_a_stated_date_is_written_without_the_full_stop_of_its_sentence(text: str, written: str) -> None:
    assert set(stated_figures(text).values()) == {written}


def test_a_figure_behind_a_date_with_its_time_is_written_as_it_stands() -> None:
    found = stated_figures("It starts 2024-05-15T15:00:00 and ends 2024-05-15T16:30:00, in room 2.")
    assert found["number", "2"] == "2"
