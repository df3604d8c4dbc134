"""Secrets in texts within texts: each level of strings in strings is undone, however deep, in linear time."""

import json
import random
from collections.abc import Callable

import pytest

from agentmut.recording.nested_secrets import nested_spans
from agentmut.recording.redaction import MASK, Redactor
from tests.processor import processor_time
from tests.recording.third_list import third_list

REDACTOR = Redactor(())
TEXTS = {
    "TOML": '[db]\napi_key = """q7Xk2LmPz9RtV4bN"""\nhost = "desk"\n',
    "quoted CSV": '"user","password"\n"bob","q7Xk2Lm9"\n"ann","zz9Xk2Lm9"\n',
    "CSV": "user,password\nbob,q7Xk2Lm9\nann,zz9Xk2Lm9\n",
    "YAML": "db:\n  password: q7Xk2Lm9\n",
    "Python": "connect(host='desk', password='q7Xk2Lm9')\n",
}
HOLDERS: dict[str, Callable[[str], object]] = {
    "value": lambda text: {"log": text},
    "item": lambda text: ["a note", text, "another"],
    "value beside others": lambda text: {"note": 'an inch is 1"', "log": text, "level": 3},
}
PHRASE = "abandon ability able about above absent absorb abstract absurd abuse access accident"


def nested(text: str, holder: Callable[[str], object], depth: int) -> str:
    for _ in range(depth):
        text = json.dumps(holder(text))
    return text


@pytest.mark.parametrize("depth", range(6))
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", TEXTS)
def test_no_secret_is_left_at_any_depth(kind: str, holder: str, depth: int) -> None:
    clean = REDACTOR.text(nested(TEXTS[kind], HOLDERS[holder], depth))
    assert MASK in clean
    assert not [secret for secret in ("q7Xk2Lm", "zz9Xk2Lm") if secret in clean]


@pytest.mark.parametrize("depth", range(4))
def test_a_phrase_with_a_word_in_each_line_is_found_behind_escapes(depth: int) -> None:
    text = nested(PHRASE.replace(" ", "\n"), HOLDERS["item"], depth)
    assert not [word for word in PHRASE.split() if word in REDACTOR.text(text)]


def test_what_stands_around_a_nested_secret_stays() -> None:
    text = nested(TEXTS["TOML"], HOLDERS["item"], 3)
    assert REDACTOR.text(text) == text.replace("q7Xk2LmPz9RtV4bN", MASK)


def test_ordinary_nested_texts_stay() -> None:
    text = nested('He said: "the key is under the mat", and the token was \\d+.\n', HOLDERS["value"], 3)
    assert REDACTOR.text(text) == text


def test_a_pair_of_surrogates_moves_no_place() -> None:
    text = nested('\U0001f511 password = """q7Xk2Lm9"""', HOLDERS["value"], 3)
    assert REDACTOR.text(text) == text.replace("q7Xk2Lm9", MASK)


def test_carriers_of_the_third_list_are_found_in_strings_in_strings() -> None:
    texts = {
        kind: make(random.Random(5)) for kind, make in third_list().items() if kind.startswith("password: ")
    }
    left = {
        kind
        for kind, text in texts.items()
        for depth in (2, 3, 4)
        if REDACTOR.text(text) != text and REDACTOR.text(deep := nested(text, HOLDERS["item"], depth)) == deep
    }
    assert left == set()


@pytest.mark.parametrize("part", ['\\"', "\\\\", '"', '\\"key\\\\', '"\\"password ', "\\u0022"])
def test_time_is_linear_in_hostile_texts(part: str) -> None:
    times = []
    for length in (30_000, 120_000):
        text = "password " + part * (length // len(part))
        with processor_time() as used:
            list(nested_spans(text, lambda _: []))
        times.append(used.seconds)
    assert times[1] < 10 * times[0] + 0.05
