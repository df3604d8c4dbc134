"""The suggestions that `agentmut suggest --apply` is given by their ids."""

from types import SimpleNamespace
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.usecases.suggestions import chosen

FOUND: Any = SimpleNamespace(
    assertions=tuple(SimpleNamespace(id=id) for id in ("a11", "a22", "b33")), scenarios=()
)
"""Suggestions of which only the ids matter."""


@pytest.mark.parametrize("wanted", [["a11", "b3"], ["a11,b3"], ["a11, b3"], ["a11,", "b33"]])
def test_ids_are_given_one_by_one_or_joined_by_commas(wanted: list[str]) -> None:
    assert [each.id for each in chosen(FOUND, wanted)] == ["a11", "b33"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [(["a11,c"], "no suggestion begins with 'c'"), (["a"], "2 suggestions begin with 'a'")],
)
def test_an_id_that_fits_none_or_several_is_refused(wanted: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=f"{message}. There are: a11, a22, b33."):
        chosen(FOUND, wanted)


def test_commas_alone_name_nothing() -> None:
    with pytest.raises(UsageError, match="--apply needs the ids"):
        chosen(FOUND, [","])
