"""A reason quotes the beginning of an answer: wherever it is cut, a secret of the answer is not in it."""

import json

import pytest

from agentmut.recording.redaction import Redactor
from tests.recording.planted import Planted, planted_secrets

REDACTOR = Redactor(())
PLANTED = planted_secrets()


@pytest.mark.parametrize("written", [str, repr, json.dumps], ids=["plain", "repr", "json"])
def test_a_secret_that_is_cut_just_behind_its_end_is_masked(written: type[str]) -> None:
    left = [one for one in PLANTED if any(one.secret in quoted for quoted in quotations(one, written))]
    assert left == []


def quotations(one: Planted, written: type[str]) -> list[str]:
    """The text as it is quoted, cut at the secret's end and at each of the four characters behind it."""
    text = written(f"they said: {one.text}")
    secrets = REDACTOR.secrets_in(text)
    if one.secret not in text:  # it was escaped
        return []
    end = text.index(one.secret) + len(one.secret)
    return [REDACTOR.quoting(text[: end + more] + "...", secrets) for more in range(5)]
