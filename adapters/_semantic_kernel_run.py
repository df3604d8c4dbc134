"""An agent of Semantic Kernel is asked; which of its calls was for which call of the model is noted."""

from collections.abc import Awaitable, Callable
from typing import Any

from semantic_kernel.contents import FunctionCallContent, FunctionResultContent

from agentmut.adapters._semantic_kernel_tools import Offered
from agentmut.trace import Action, Step
from agentmut.trial import (
    CallPlace,
    Recorder,
    Trial,
    answering,
    call_place,
    call_tool_step,
    current_trial,
)

HANDOFF = "Handoff"
"""The plugin that a `HandoffOrchestration` gives its agents."""


async def answer_of(agent: Any, text: Any, thread: Any, trial: Trial, turn: int) -> str:
    """What the agent says. The thread goes on with it."""
    recorder = trial.recorder
    recorder.nodes.add(agent.name)
    before, steps = len(thread), len(recorder.steps)
    with answering(CallPlace(turn, agent.name)):
        found = await agent.get_response(messages=text, thread=thread)
        messages = [message async for message in thread.get_messages()]
        note_refused(messages[before:], trial, steps)
    return text_of(found.message)


def text_of(message: Any) -> str:
    """The text of a message; of one that ends a turn with results of tools, by a filter of the user's, those."""
    results = [str(item.result) for item in message.items if isinstance(item, FunctionResultContent)]
    return "\n".join(results) if results else str(message)


def note_refused(messages: list[Any], trial: Trial, before: int) -> None:
    """Calls that Semantic Kernel answered itself, as for arguments that are missing, are failed steps.

    `before`: how many steps there were when the agent was asked, as some services give ids again.
    """
    recorder, place = trial.recorder, call_place()
    mine = [step for step in recorder.steps[before:] if step.node == place.node]
    known = {step.call_id for step in mine}
    led = {step.tool for step in mine if step.call_id is None}
    items = [item for message in messages for item in message.items]
    told = {item.id: str(item.result) for item in items if isinstance(item, FunctionResultContent)}
    for call in items:
        if not isinstance(call, FunctionCallContent) or call.name in led:
            continue
        if call.id in told and call.id not in known:
            step = Step(
                action=Action.CALL_TOOL,
                tool=trial.own_name(call.name or call.function_name),
                arguments=_arguments(call),
                error=told[call.id],
                started=_made(call.id, recorder),
                turn=place.turn,
                node=place.node,
                call_id=call.id,
            )
            recorder.steps.append(step)


def _made(call_id: str | None, recorder: Recorder) -> float:
    """When the model had made a call; now, where the wire has not seen it."""
    for exchange in reversed(recorder.exchanges):
        if exchange.reply and any(call.id == call_id for call in exchange.reply.tool_calls):
            return exchange.started + exchange.seconds
    return recorder.now()


def _arguments(call: FunctionCallContent) -> dict[str, Any]:
    try:
        return call.parse_arguments() or {}
    except Exception:  # it is what the model wrote
        return {}


async def place_function(context: Any, next: Callable[[Any], Awaitable[None]]) -> None:
    """A filter of automatic function calls: what is called within belongs to that call of the model."""
    call = context.function_call_content
    with answering(call_place()._replace(call_id=call.id or "")):
        begun = _now()
        await next(context)
        if context.function.plugin_name == HANDOFF and not isinstance(context.function, Offered):
            _note_own(context, begun)


def _now() -> float:
    trial = current_trial()
    return trial.recorder.now() if trial else 0.0


def _note_own(context: Any, begun: float) -> None:
    """A call of what an orchestration has added: to hand over, or to end the task."""
    if trial := current_trial():
        call = context.function_call_content
        name = context.function.fully_qualified_name
        place = call_place()._replace(call_id=None)  # two agents may be asked the same and give the same id
        step = call_tool_step(name, _arguments(call), trial.recorder, begun, **place._asdict())
        trial.recorder.steps.append(step)
