"""Secrets of carriers whose finding depends on what stands around them: labels, lists, repr, JSON within JSON."""

import json
import random
from collections.abc import Callable

import pytest

from agentmut.recording.cut_secrets import without_cut_secrets
from agentmut.recording.redaction import Redactor
from tests.recording.third_list import third_list

REDACTOR = Redactor(())
LIST = third_list()
KINDS = (
    "password: username,password\nann,{}",
    "password: user | password\nann | {}",
    "password: user\tpassword\nann\t{}",
    "password: redis-cli -a {} ping",
    "base64 of a token in an address",
    "a token over two lines",
)
BEFORE = ("", "rude: ", "no page of ", "hello\n", "user | mail\nann | a1b2c3d4\n\n")
BEHIND = ("", "\nreply", "\n\nYour one-time password is: Tr0ub4dor&3x")
SHAPES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda text: json.dumps({"a": text}),
    "JSON within JSON": lambda text: json.dumps({"x": json.dumps({"a": text})}),
    "a list": lambda text: json.dumps({"l": [text, "x", {"m": text}]}),
    "an error": lambda text: f"LookupError({text!r})",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_whatever_stands_around(kind: str, shape: str) -> None:
    one, other = (LIST[kind](random.Random(seed)) for seed in (3, 1000))
    secrets = [run for run in one.replace("\n", " ").split() if run not in other and len(run) > 7]
    assert secrets
    for before in BEFORE:
        for behind in BEHIND:
            kept = REDACTOR.text(SHAPES[shape](f"{before}{one}{behind}"))
            assert not [secret for secret in secrets if secret in kept], (before, behind)


def test_a_cut_quotation_of_a_divided_secret_has_neither_part() -> None:
    quoted = r"output: 'key = \'ghp_hZVKr4rLJ6a8\' + \'q7Xk2LmPz..."
    secret = "ghp_hZVKr4rLJ6a8' + 'q7Xk2LmPz9RtV4bN"
    assert without_cut_secrets(quoted, [secret], "[r]") == r"output: 'key = \'[r]\' + \'[r]..."
