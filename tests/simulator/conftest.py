"""A tool loop around the simulator, in process: what an agent framework does, without one."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from agentmut.simulator.behave import reply
from agentmut.tools import ToolSpec
from agentmut.wire.messages import Message, ModelRequest, Role

MAX_REPLIES = 12


class Talk(NamedTuple):
    """What came of a conversation."""

    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...]

    @property
    def tools(self) -> list[str]:
        return [name for name, _ in self.calls]


def converse(
    prompt: str,
    *turns: str,
    tools: Sequence[ToolSpec] = (),
    results: Mapping[str, Any] | None = None,
    model: str = "sim-large",
    trial: str = "t",
    seed: int = 0,
) -> Talk:
    messages = [Message(role=Role.SYSTEM, text=prompt)]
    calls: list[tuple[str, dict[str, Any]]] = []
    for turn in turns:
        messages.append(Message(role=Role.USER, text=turn))
        for _ in range(MAX_REPLIES):
            request = ModelRequest(model=model, messages=tuple(messages), tools=tuple(tools))
            answer = reply(request, seed=seed, trial=trial)
            messages.append(Message(role=Role.ASSISTANT, text=answer.text, tool_calls=answer.tool_calls))
            for call in answer.tool_calls:
                calls.append((call.name, json.loads(call.arguments)))
                result = (results or {}).get(call.name, {"ok": True})
                said = result if isinstance(result, str) else json.dumps(result)
                messages.append(Message(role=Role.TOOL, text=said, tool_call_id=call.id))
            if not answer.tool_calls:
                break
        else:
            raise AssertionError(f"the model does not come to an end: {calls}")
    return Talk(messages[-1].text, tuple(calls))


def share_of_trials(passes: Callable[[str], bool], trials: int) -> float:
    return sum(passes(f"trial {number}") for number in range(trials)) / trials


@pytest.fixture(name="converse", scope="session")
def _converse() -> Callable[..., Talk]:
    return converse


@pytest.fixture(scope="session")
def share() -> Callable[..., float]:
    return share_of_trials
