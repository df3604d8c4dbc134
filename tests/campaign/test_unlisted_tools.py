"""A run says which tools its agent calls that the project file does not list: no mutant changes them."""

from typing import Any

import pytest

from agentmut.usecases.campaigns import measure
from tests.campaign.conftest import AGENT

CALLS = """
from agentmut import tool


@tool
def look_up(word):
    return word


_run = run


async def run(config, input):
    look_up("x")
    return await _run(config, input)
"""
STATISTICS = {"baseline": 10, "n_max": 10, "delta": 0.5}
LISTED = [
    {"name": "look_up", "description": "Look a word up.", "parameters": {"type": "object", "properties": {}}}
]
BOTH = ["prompt.drop_instruction", "model.raise_temperature"]


@pytest.mark.parametrize(
    ("operators", "tools", "told"), [(BOTH, None, True), (BOTH, LISTED, False), (BOTH[:1], None, False)]
)
def test_tools_that_are_called_and_not_listed_are_named(
    projects: Any, operators: list[str], tools: Any, told: bool
) -> None:
    config = {
        "prompt": "prompt.md",
        "model": {"name": "m", "temperature": 0.5},
        **({"tools": tools} if tools else {}),
    }
    projects.write(
        ("alpha",), agent=AGENT + CALLS, statistics=STATISTICS,
        mutation={"operators": [*operators, *(["tool.remove"] if tools else [])]}, agent_section={"config": config},
    )  # fmt: skip
    notes = " ".join(measure(projects.load()).notes)
    assert ("no mutant changes a tool: look_up. List them" in notes) is told
