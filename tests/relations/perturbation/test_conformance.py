"""All relations of order and wording are what agentmut relies on."""

import pytest
from pydantic import JsonValue

from agentmut.seams.plugins import load, names
from agentmut.testing import check_relation

ARGUMENTS: dict[str, JsonValue] = {
    "perturbation.noise": ["typos", "case"],
    "perturbation.format": "miles",
    "perturbation.added_constraint": "obey",
}
ALL = [name for name in names("relations") if name.startswith(("permutation.", "perturbation."))]


@pytest.mark.parametrize("name", ALL)
def test_the_relation_is_sound(name: str) -> None:
    given = [ARGUMENTS[name]] if name in ARGUMENTS else []
    check_relation(load("relations", name), *given)
