"""The simulator speaks the text of ReAct agents."""

import json
from typing import Any

from agentmut.nouns.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.simulator.service.thoughts import answered

SYSTEM = """Tools:
> Tool Name: find
Tool Description: Find it.
Tool Args: {"type": "object"}

Here is some context to help you answer the question and plan:
Be kind.
- Be brief.


## Output Format
Action: tool name
Action Input: the input
"""
TALK = (
    Message(role=Role.SYSTEM, text=SYSTEM),
    Message(role=Role.USER, text="Find it."),
    Message(role=Role.ASSISTANT, text="Thought: I look.\nAction: find\nAction Input: {'it': 'A-1'}"),
    Message(role=Role.USER, text="Observation: Found."),
    Message(role=Role.ASSISTANT, text="Thought: I know.\nAnswer: Here."),
    Message(role=Role.USER, text="Observation: this is what I say."),
)


def told(said: ModelReply, *messages: Message) -> tuple[ModelRequest, str]:
    """What the simulated model is asked, and what the agent is answered."""
    asked: list[ModelRequest] = []

    def reply(request: ModelRequest, **options: Any) -> ModelReply:
        asked.append(request)
        return said

    given = answered(ModelRequest(model="sim-large", messages=messages), reply, parallel=True)
    assert not given.tool_calls
    return asked[0], given.text


def test_its_steps_are_read_as_calls_and_results() -> None:
    request, _ = told(ModelReply(model="sim-large", text="Hello."), *TALK)
    assert request.system_text == "Be kind.\n- Be brief."
    assert [tool.name for tool in request.tools] == ["find"]
    assert [(m.role, m.text) for m in request.messages[2:]] == [
        (Role.ASSISTANT, ""),
        (Role.TOOL, "Found."),
        (Role.ASSISTANT, "Here."),
        (Role.USER, "Observation: this is what I say."),
    ]
    [call] = request.messages[2].tool_calls
    assert (call.name, json.loads(call.arguments)) == ("find", {"it": "A-1"})
    assert call.id == request.messages[3].tool_call_id


def test_it_is_answered_in_its_own_terms() -> None:
    call = ToolCall(id="1", name="find", arguments='{"it": 1}')
    _, text = told(ModelReply(model="sim-large", tool_calls=(call,), finish_reason="tool_calls"), *TALK[:2])
    assert text.endswith('Action: find\nAction Input: {"it": 1}')
    _, text = told(ModelReply(model="sim-large", text="Hello."), *TALK[:2])
    assert text.endswith("Answer: Hello.")


def test_what_is_no_call_is_left_as_text() -> None:
    said = Message(role=Role.ASSISTANT, text="Thought: I look.\nAction: find\nAction Input: {oh}")
    request, _ = told(ModelReply(model="sim-large", text="Hello."), *TALK[:2], said)
    assert request.messages[-1].tool_calls == ()
