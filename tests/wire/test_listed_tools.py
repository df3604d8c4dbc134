"""Tools that a prompt lists, as ReAct agents tell of theirs."""

import pytest

from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.tools_as_functions import listed_tools

ONE = '> Tool Name: find\nTool Description: Find it.\nIn all shops.\nTool Args: {"type": "object"}\n'
TWO = "> Tool Name: buy\nTool Description: \nTool Args: {}\n"
FORMAT = "\nAction: tool name\nAction Input: the input\n"


def test_each_tool_is_found_with_what_is_said_of_it() -> None:
    assert listed_tools(f"You help.\n{ONE}\n{TWO}{FORMAT}") == (
        ToolSpec(name="find", description="Find it.\nIn all shops.", parameters={"type": "object"}),
        ToolSpec(name="buy", description="", parameters={}),
    )


@pytest.mark.parametrize(
    "text", ["", FORMAT, ONE, f"> Tool Name: find\nTool Description: Find.\nTool Args: {{oh}}{FORMAT}"]
)
def test_other_prompts_list_none(text: str) -> None:
    assert listed_tools(text) == ()
