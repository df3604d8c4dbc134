"""What moves in prompts from run to run, found by comparing texts; the templates are written by hand."""

import datetime as dt
import time
from collections.abc import Callable

import pytest

from agentmut.doctor.moving_parts import MovingPart, moving_spans, template_of
from agentmut.doctor.other_surroundings import SHIFT_SECONDS, shifted

RULES = "Never promise a date. Refund at most 50 euros."
START = dt.datetime(2026, 11, 27, 2, 46, 5)
SHIFT = dt.timedelta(seconds=SHIFT_SECONDS)


@pytest.mark.parametrize(
    ("write", "template"),
    [
        (lambda now: f"It is {now:%Y-%m-%d %H:%M}. {RULES}", "It is {now}. " + RULES),
        (lambda now: f"{RULES} Today is {now:%A, %B %d, %Y}.", RULES + " Today is {date}."),
        (lambda now: f"({now:%I:%M %p}) {RULES}", "({time}) " + RULES),
        (lambda now: f"Now: {now:%Y-%m-%dT%H:%M:%S}+00:00\n{RULES}", "Now: {now}\n" + RULES),
        (lambda now: f"{RULES}\nUnix time {int(now.timestamp())}", RULES + "\nUnix time {time}"),
    ],
)
def test_a_moment_moves_as_a_whole_on_any_day(write: Callable[[dt.datetime], str], template: str) -> None:
    for days in range(0, 800, 37):
        then = START + dt.timedelta(days=days, hours=days % 24)
        found = template_of(write(then), [write(then + SHIFT)])
        assert found.text == template, then


def test_a_user_and_a_date_beside_rules_move_and_the_rules_stay() -> None:
    texts = [
        f"{RULES} The user is {user}, since {date}."
        for user, date in (("Bo", "1 May"), ("Ann Lee", "3 June"))
    ]
    found = template_of(texts[0], texts[1:])
    assert found.text == RULES + " The user is {user}, since {since}."
    assert found.parts == (MovingPart("user", "Bo"), MovingPart("since", "1 May"))


def test_retrieved_text_moves_as_a_whole_though_it_shares_words() -> None:
    one, other = (
        "Refunds take five days.\nThey go to the card.",
        "A parcel takes two days.\nIt comes by post.",
    )
    text = f"{RULES}\n\n# Found\n{one}\n\n# Rules\nBe kind."
    found = template_of(text, [text.replace(one, other)])
    assert found.text == text.replace(one, "{found}")


def test_what_only_another_run_has_moves_too() -> None:
    found = template_of(f"{RULES}\nBe kind.", [f"{RULES}\nThe user is angry.\nBe kind."])
    assert found.parts == (MovingPart("euros", ""),)
    assert found.text == RULES + "\n{euros}Be kind."


def test_equal_texts_have_no_placeholder_and_names_are_not_taken_twice() -> None:
    assert template_of(RULES, [RULES, RULES]) == (RULES, ())
    text = "Be {user}'s friend. The first user: Bo. " + RULES + " The second user: Cy."
    found = template_of(text, [text.replace("Bo", "Al").replace("Cy", "Di")])
    assert found.text == text.replace("Bo", "{user_2}").replace("Cy", "{user_3}")


def test_spans_of_several_runs_are_put_together() -> None:
    assert moving_spans("a 1 b 2 c", ["a 9 b 2 c", "a 1 b 8 c", "a 1 b 2 c"]) == [(2, 7)]
    far = "first 1 and then much later 2 last"
    assert moving_spans(far, [far.replace("1", "9"), far.replace("2", "8")]) == [(6, 7), (28, 29)]


def test_the_clock_is_shifted_and_runs_on_and_comes_back() -> None:
    pytest.importorskip("time_machine")
    before, steady = dt.datetime.now(), time.monotonic()
    with shifted():
        ahead = dt.datetime.now() - before
        assert time.monotonic() - steady < SHIFT_SECONDS
    assert SHIFT <= ahead < SHIFT + dt.timedelta(minutes=5)
    assert dt.datetime.now() - before < dt.timedelta(minutes=5)
