"""Numbers with units, dates and identifiers, read the same in every notation."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.language.extractors.decisions import decisions
from agentmut.language.extractors.figures import figures, stated_figures
from agentmut.language.extractors.json_fields import json_in
from agentmut.language.quantities.quantities import quantities
from agentmut.language.vocabulary.number_words import large_value_of, word_of
from tests.processor import processor_time


def numbers(text: str) -> set[str]:
    return set(figures(text).numbers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("five days", {"5 days"}),
        ("a 30-day window", {"30 days"}),
        ("$1,200.00", {"1200 dollars"}),
        ("1200 dollars", {"1200 dollars"}),
        ("USD 1,200", {"1200 dollars"}),
        ("1.200,50 €", {"1200.5 euros"}),
        ("$20k or 1.5 million euros", {"20000 dollars", "1500000 euros"}),
        ("3-5 business days", {"3 business days", "5 business days"}),
        ("three to five working days", {"3 business days", "5 business days"}),
        ("between five and ten per cent", {"5 percent", "10 percent"}),
        ("one hundred and twenty dollars", {"120 dollars"}),
        ("10km, 6.2 mi, 2 hrs and 30 min", {"10 kilometers", "6.2 miles", "2 hours", "30 minutes"}),
        ("2 in stock, 3 in wide, 10 m away", {"2", "3", "10 meters"}),
        ("-5 °C at 20%", {"-5 degrees celsius", "20 percent"}),
        ("1. First wait\n2. Then pay 5 euros", {"5 euros"}),
        ("It scored 87.", {"87"}),
        ("one of them, the 2nd one", set()),
    ],
)
def test_a_number_is_read_with_its_unit_in_any_notation(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "text", ["3 March 2026", "2026-03-03", "March 3rd, 2026", "the 3rd of March 2026", "3 Mar. 2026", "03/03/2026",
             "2026/3/3", "3.3.2026"]
)  # fmt: skip
def test_a_date_is_the_same_in_every_format(text: str) -> None:
    assert figures(f"It arrives on {text}.").dates == {"2026-03-03", "3 March"}
    assert not numbers(f"It arrives on {text}.")


def test_a_date_without_its_year_is_part_of_the_full_one() -> None:
    assert figures("on 3 March").dates < figures("on 2026-03-03").dates


def test_a_date_that_nobody_can_tell_stays_as_it_is() -> None:
    assert figures("on 03/04/2026").dates == {"3/4/2026"}
    assert figures("on 13/04/2026").dates == {"2026-04-13", "13 April"}


def test_times_of_day_are_read_on_24_hours() -> None:
    assert figures("at 6:30 pm, 18:30 or 6 p.m. or 12 am").dates == {"18:30", "18:00", "00:00"}


def test_identifiers_are_told_from_numbers_and_case_does_not_matter() -> None:
    text = "Order #1042 (sku kb-204, ref ORD_7): 3 items, mail a.b@shop.example, 2,500 dollars, 48210377"
    found = figures(text)
    assert found.ids == {"1042", "KB-204", "ORD_7", "a.b@shop.example", "48210377"}
    assert found.numbers == {"3 items", "2500 dollars"}


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 999), st.sampled_from(["day", "euro", "hour", "item"]))
def test_a_number_in_words_is_the_number_in_figures(value: int, unit: str) -> None:
    assert large_value_of(word_of(value)) == value
    assert numbers(f"It is {word_of(value)} {unit}s.") == numbers(f"It is {value} {unit}s.") != set()


@settings(deadline=None, max_examples=60)
@given(st.decimals(0, 10**7, places=2))
def test_an_amount_is_the_same_with_and_without_groups_and_zeros(amount: Decimal) -> None:
    grouped, plain = f"${amount:,.2f}", f"{amount.normalize():f} dollars"
    assert [quantity.value for quantity in quantities(grouped)] == [amount]
    assert numbers(f"Pay {grouped} now") == numbers(f"Pay {plain} now")


@pytest.mark.parametrize(
    "piece", ["a-", "1,", "1", "2026-", "x@y.", "12 ", "May ", "twenty-", "not can ", "[{", "#1a-"]
)
def test_long_odd_texts_are_read_quickly(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    with processor_time() as used:
        figures(text), decisions(text), json_in(text)
    assert used.seconds < 6


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_any_text_can_be_read_and_no_figure_stands_at_a_blank(text: str) -> None:
    assert all(written.strip() for written in stated_figures(text).values())
