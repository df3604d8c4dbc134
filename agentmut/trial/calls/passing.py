"""Calls of a framework's own tool objects, on their way: traced, answered by doubles, met by faults."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agentmut.mutation import ResultForm
from agentmut.recording import completed, current_trial
from agentmut.trial.calls.faulty import Within, whole, with_fault, with_fault_async
from agentmut.trial.calls.instrument import OpenStep


async def pass_call(
    name: str,
    arguments: Mapping[str, Any],
    call: Callable[[], Awaitable[Any]],
    form: ResultForm = ResultForm.TEXT,
    within: Within = whole,
) -> Any:
    """What a call of a tool gives in the current trial; `name` is the agent's own name of the tool, or the offered one.

    The trial's double is asked in the place of `call`, with the arguments by name; a fault befalls whichever is
    called. The step is recorded with what `call_place` says. Raises what the call, the double or
    the fault raises, which is for the framework to tell the model; outside of a trial only what `call` does.
    """
    trial = current_trial()
    if trial is None:
        return await call()
    with OpenStep(trial, trial.own_name(name), dict(arguments)) as step:

        async def answer() -> Any:
            given = step.stand_in() if step.double else call()
            return await given if inspect.isawaitable(given) else given

        step.output = await with_fault_async(trial, step.name, answer, form, within)
    return step.output


def pass_call_sync(
    name: str,
    arguments: Mapping[str, Any],
    call: Callable[[], Any],
    form: ResultForm = ResultForm.TEXT,
    within: Within = whole,
) -> Any:
    """`pass_call` for a framework that calls tools in blocking code."""
    trial = current_trial()
    if trial is None:
        return call()
    with OpenStep(trial, trial.own_name(name), dict(arguments)) as step:
        step.output = with_fault(
            trial, step.name, lambda: completed(step.stand_in()) if step.double else call(), form, within
        )
    return step.output
