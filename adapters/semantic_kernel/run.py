"""A run of a Semantic Kernel agent, with the model call behind each of its tool calls."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from semantic_kernel.contents import FunctionCallContent, FunctionResultContent
from semantic_kernel.functions import FunctionResult

from agentmut.adapters.semantic_kernel.tools import ChangedFunction
from agentmut.nouns import Action, Step
from agentmut.recording import (
    CallPlace,
    Recorder,
    Trial,
    answering,
    call_place,
    current_trial,
)
from agentmut.trial import pass_call

HANDOFF = "Handoff"
"""The plugin that a `HandoffOrchestration` gives its agents."""


async def answer_of(agent: Any, text: Any, thread: Any, trial: Trial, turn: int) -> str:
    """Return the agent's answer. The thread keeps the conversation."""
    trial.recorder.nodes.add(agent.name)
    before = len(thread)
    with answering(CallPlace(turn, agent.name)), _coming() as came:
        found = await agent.get_response(messages=text, thread=thread)
        messages = [message async for message in thread.get_messages()]
        note_refused(messages[before:], trial, came)
    return text_of(found.message)


_came: ContextVar[list[FunctionCallContent]] = ContextVar("agentmut_semantic_kernel_calls")


@contextmanager
def _coming() -> Iterator[list[FunctionCallContent]]:
    """Collect the calls that reach a function while an agent is asked; by object, as services reuse ids."""
    token = _came.set([])
    try:
        yield _came.get()
    finally:
        _came.reset(token)


def note_coming() -> list[FunctionCallContent]:
    """Return the calls that reach a function from now on in this task, which belongs to one agent."""
    _came.set([])
    return _came.get()


def text_of(message: Any) -> str:
    """Return the text of a message; if a filter ended the turn with tool results, return the results."""
    results = [str(item.result) for item in message.items if isinstance(item, FunctionResultContent)]
    return "\n".join(results) if results else str(message)


def note_refused(messages: Sequence[Any], trial: Trial, came: Sequence[FunctionCallContent]) -> None:
    """Return failed steps for calls that Semantic Kernel answered itself, as where arguments are missing.

    `came`: the calls that have come to a function.
    """
    items = [item for message in messages for item in message.items]
    for number, call in enumerate(items):
        if not isinstance(call, FunctionCallContent) or any(one is call for one in came):
            continue
        if result := _result(call, items[number:]):
            made = _made(call, items[number + 1 :], trial.recorder)
            trial.recorder.steps.append(_refused(call, result, trial, made))


def _refused(call: FunctionCallContent, result: FunctionResultContent, trial: Trial, made: float) -> Step:
    place = call_place()
    return Step(
        action=Action.CALL_TOOL,
        tool=trial.own_name(call.name or call.function_name),
        arguments=_arguments(call),
        error=str(result.result),
        started=made,
        turn=place.turn,
        node=place.node,
        call_id=call.id,
    )


def _result(call: FunctionCallContent, later: Sequence[Any]) -> FunctionResultContent | None:
    results = (one for one in later if isinstance(one, FunctionResultContent) and one.id == call.id)
    return next(results, None)


def _made(call: FunctionCallContent, later: Sequence[Any], recorder: Recorder) -> float:
    """Return when the model made a call; now, if the wire has not seen it. `later`: its later calls."""
    same = [
        one
        for one in later
        if isinstance(one, FunctionCallContent) and _call_identity(one) == _call_identity(call)
    ]
    node = call_place().node
    made = [
        exchange.started + exchange.seconds
        for exchange in recorder.exchanges
        if exchange.node == node
        for one in (exchange.reply.tool_calls if exchange.reply else ())
        if (one.id, one.arguments) == _call_identity(call)
    ]
    return made[-1 - len(same)] if len(same) < len(made) else recorder.now()


def _call_identity(call: FunctionCallContent) -> tuple[Any, Any]:
    return call.id, call.arguments


def _arguments(call: FunctionCallContent) -> dict[str, Any]:
    try:
        return call.parse_arguments() or {}
    except Exception:  # it is what the model wrote
        return {}


Next = Callable[[Any], Awaitable[None]]


def placing(known: frozenset[str]) -> Callable[[Any, Next], Awaitable[None]]:
    """Return a filter of automatic function calls: what is called within belongs to that call of the model.

    Functions that are none of the `known` ones, since the kernel was given them later, are passed on here.
    """

    async def place_function(context: Any, next: Next) -> None:
        call, function = context.function_call_content, context.function
        _came.get([]).append(call)
        name = function.fully_qualified_name
        with answering(call_place()._replace(call_id=call.id or "")):
            begun = _now()
            if function.plugin_name == HANDOFF and not isinstance(function, ChangedFunction):
                await next(context)
                _note_own(context, begun)
            else:
                await (next(context) if name in known else _passed(name, context, next))

    return place_function


async def _passed(name: str, context: Any, next: Next) -> None:
    async def carry_out() -> Any:
        await next(context)
        return context.function_result.value if context.function_result else None

    value = await pass_call(name, _arguments(context.function_call_content), carry_out)
    if context.function_result is None or context.function_result.value is not value:
        context.function_result = FunctionResult(function=context.function.metadata, value=value)


def _now() -> float:
    trial = current_trial()
    return trial.recorder.now() if trial else 0.0


def _note_own(context: Any, begun: float) -> None:
    """Return the step of a function that an orchestration has added, to hand over or to end the task."""
    if trial := current_trial():
        call = context.function_call_content
        name = context.function.fully_qualified_name
        place = call_place()._replace(call_id=None)  # two agents may be asked the same and give the same id
        trial.recorder.note_call(name, _arguments(call), begun, **place._asdict())
