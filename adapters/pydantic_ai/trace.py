"""Steps of calls that reached no tool of a pydantic-ai agent: unknown tools, and wrong arguments."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from pydantic_ai import DeferredToolRequests
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart

from agentmut._base import described
from agentmut.nouns import Step
from agentmut.recording import CallPlace, Trial, call_tool_step

if TYPE_CHECKING:
    from agentmut.adapters.pydantic_ai.tools import ChangedToolset

_UNKNOWN = "Unknown tool name"
"""Part of what pydantic-ai tells a model that called a tool that there is not."""


def note_missed(
    messages: Sequence[ModelMessage],
    offered: "ChangedToolset",
    trial: Trial,
    place: CallPlace,
    error: Exception | None = None,
) -> None:
    """Add steps of the calls in a turn's new messages that reached no tool; `error` ended the turn."""
    for call, told in _calls(messages):
        if not offered.was_asked(call):
            trial.recorder.steps += _steps(call, told, offered, trial, place, error)


def note_put_off(output: Any, offered: "ChangedToolset", trial: Trial, place: CallPlace) -> None:
    """Add steps of the calls that a turn leaves for somebody else to run or approve; they have no result."""
    if isinstance(output, DeferredToolRequests):
        for call in (one for one in (*output.calls, *output.approvals) if not offered.was_asked(one)):
            recorder, where = trial.recorder, place._replace(call_id=call.tool_call_id)
            name = trial.own_name(call.tool_name)
            recorder.note_call(name, _arguments(call), recorder.now(), **where._asdict())


def _calls(messages: Sequence[ModelMessage]) -> Iterator[tuple[ToolCallPart, list[Any]]]:
    """Yield each call, with the message that the model got before the next request; services may repeat ids."""
    for number, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            told = takewhile(lambda one: not isinstance(one, ModelResponse), messages[number + 1 :])
            parts = [part for one in told for part in one.parts]
            yield from ((call, parts) for call in message.parts if isinstance(call, ToolCallPart))


def _steps(
    call: ToolCallPart,
    messages: Sequence[Any],
    offered: "ChangedToolset",
    trial: Trial,
    place: CallPlace,
    error: Exception | None,
) -> Iterator[Step]:
    recorder, reply = trial.recorder, _reply(call, messages)
    if reply is not None:
        text, ago = _text(reply), (datetime.now(UTC) - reply.timestamp).total_seconds()
        if call.tool_name not in offered.told and _UNKNOWN not in text:
            return  # a tool for the output, which is none of the agent's
    elif isinstance(error, UnexpectedModelBehavior) and repr(call.tool_name) in str(error):
        text, ago = described(error.__cause__ or error), 0.0
    else:
        return  # it was not come to
    started = max(0.0, recorder.now() - max(0.0, ago))
    step = call_tool_step(
        trial.own_name(call.tool_name),
        _arguments(call),
        recorder,
        started,
        error=text,
        **place._replace(call_id=call.tool_call_id)._asdict(),
    )
    yield step.model_copy(update={"seconds": 0.0})


def _reply(call: ToolCallPart, parts: Sequence[Any]) -> Any:
    """Return the model's message about a rejected call; versions have it in two kinds of parts."""
    mine = (one for one in parts if getattr(one, "tool_call_id", None) == call.tool_call_id)
    return next((one for one in mine if _is_refusal(one)), None)


def _is_refusal(part: Any) -> bool:
    return part.part_kind == "retry-prompt" or getattr(part, "outcome", None) in ("retried", "failed")


def _text(reply: Any) -> str:
    told = reply.model_response_str if hasattr(reply, "model_response_str") else reply.model_response
    return str(told())


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    try:
        return call.args_as_dict()
    except ValueError:  # no JSON
        return {}
