"""Agents of smolagents as the simulator reads them: texts that are no calls, however alike, are texts."""

import pytest

from agentmut.nouns.messages import Message, ModelRequest, Role
from agentmut.nouns.tools import ToolSpec
from agentmut.simulator.service.react import form_of
from agentmut.simulator.service.react_history import retold

CALL = "Calling tools:\n[{'id': 'call_1', 'type': 'function', 'function': {'name': 'ring', 'arguments': {'bell': 2}}}]"


def said(*texts: str) -> list[Message]:
    """Messages of the user and the assistant, in turn."""
    roles = (Role.USER, Role.ASSISTANT)
    return [Message(role=roles[place % 2], text=text) for place, text in enumerate(texts)]


def test_a_call_and_its_result_are_read() -> None:
    _, call, result, task = retold(
        said("New task:\nRing.", CALL, "Observation:\nIt rang.\nNew task:\nAgain.")
    )
    assert [(one.name, one.arguments) for one in call.tool_calls] == [("ring", '{"bell": 2}')]
    assert (result.role, result.text, result.tool_call_id) == (Role.TOOL, "It rang.", "call_1")
    assert (task.role, task.text) == (Role.USER, "Again.")


def test_a_call_that_failed_is_told_by_its_error_alone() -> None:
    what = "Error executing tool 'ring' with arguments {'bell': 2}: OSError: stuck"
    error = f"Error:\n{what}\nPlease try again or use another tool"
    [_, call, result] = retold(said(f"New task:\nRing.\n{error}"))
    assert call.tool_calls[0].name == "ring"
    assert result.text == "Error: OSError: stuck"


@pytest.mark.parametrize(
    "text",
    ["Calling tools:\n[", "Calling tools:\n7", "Calling tools:\n[7, {'id': 1}]", "Calling tools:\n{'a'", ""],
)
def test_what_is_no_list_of_calls_is_text(text: str) -> None:
    [_, told] = retold(said("New task:\nRing.", text))
    assert (told.text, told.tool_calls) == (text, ())


def test_a_tool_of_the_same_name_makes_no_agent_of_smolagents() -> None:
    tool = ToolSpec(name="final_answer", description="Send the final answer to the jury.")
    assert form_of(ModelRequest(model="sim-large", messages=(), tools=(tool,))) is None
