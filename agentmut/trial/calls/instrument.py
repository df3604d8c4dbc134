"""Calls of plain functions and of frameworks' tools: traced, and possibly replaced by a double or a fault."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar, cast

from agentmut._base import described, jsonable
from agentmut.mutation import ResultForm, form_of
from agentmut.recording import Double, Trial, answering, call_place, completed, current_trial
from agentmut.trial.calls.faulty import Within, check_running, whole, with_fault, with_fault_async

F = TypeVar("F", bound=Callable[..., Any])
Call = Callable[[], Any]
MARK = "__agentmut_tool__"


def tool(function: F) -> F:
    """Trace the calls of `function` inside trials, let scenarios replace it by a double and mutants break it.

    What a fault does to results it does to those of the function or of its double, whichever is called.
    Outside of a trial the function is called as it is. Works for sync and async functions and methods.
    """
    wrapped = _async(function) if inspect.iscoroutinefunction(function) else _sync(function)
    setattr(wrapped, MARK, function.__name__)
    return cast(F, wrapped)


def _sync(function: Callable[..., Any]) -> Callable[..., Any]:
    form = form_of(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trial = current_trial()
        if trial is None:
            return function(*args, **kwargs)
        given = _named(function, args, kwargs)
        return _passed(trial, function.__name__, given, lambda: function(*args, **kwargs), form)

    return call


def _async(function: Callable[..., Any]) -> Callable[..., Any]:
    form = form_of(function)

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        trial = current_trial()
        if trial is None:
            return await function(*args, **kwargs)
        given = _named(function, args, kwargs)
        return await _passed_async(trial, function.__name__, given, lambda: function(*args, **kwargs), form)

    return call


class OpenStep:
    """A tool call in progress, recorded as a step however the call ends. `name` is the agent's own name of the tool."""

    def __init__(self, trial: Trial, name: str, arguments: dict[str, Any]) -> None:
        check_running(trial)
        self._recorder = trial.recorder
        self._started = trial.recorder.now()
        self.name = name
        self.arguments = arguments
        self.double: Double | None = trial.doubles.get(name)
        self.output: Any = None
        self._place = call_place()
        self._inside = answering(self._place._replace(call_id=None))  # of tools that it calls itself

    def stand_in(self) -> Any:
        """Return what the double answers to the call's arguments."""
        assert self.double is not None
        rest = self.arguments.get(VARIADIC, ())
        return self.double(*rest, **{k: v for k, v in self.arguments.items() if k != VARIADIC})

    def __enter__(self) -> "OpenStep":
        self._inside.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside.__exit__(kind, error, trace)
        arguments = {name: jsonable(value) for name, value in self.arguments.items()}
        self._recorder.note_call(
            self.name,
            arguments,
            self._started,
            output=jsonable(self.output),
            error=None if error is None else described(error),
            **self._place._asdict(),
        )


VARIADIC = "*"


def _named(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the call's arguments by name, defaults included, a method's `self` left out.

    What only fits `*args` is under `*`. A call that does not fit is named as far as it goes: the function
    itself will complain.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return {**({VARIADIC: args} if args else {}), **kwargs}
    bound.apply_defaults()
    named: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            named |= value
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            named[name] = value
        elif value:
            named[VARIADIC] = value
    return {name: value for name, value in named.items() if name != "self"}


async def pass_call(
    name: str,
    arguments: Mapping[str, Any],
    call: Callable[[], Awaitable[Any]],
    form: ResultForm = ResultForm.TEXT,
    within: Within = whole,
) -> Any:
    """Return the result of a tool call in the current trial; `name` is the agent's own or the offered name of the tool.

    The trial's double is asked in the place of `call`, with the arguments by name; a fault befalls whichever is
    called. The step is recorded with what `call_place` says. Raises what the call, the double or
    the fault raises, which is for the framework to tell the model; outside of a trial only what `call` does.
    """
    trial = current_trial()
    if trial is None:
        return await call()
    return await _passed_async(trial, trial.own_name(name), dict(arguments), call, form, within)


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
    return _passed(trial, trial.own_name(name), dict(arguments), call, form, within)


async def _passed_async(
    trial: Trial, name: str, arguments: dict[str, Any], call: Call, form: ResultForm, within: Within = whole
) -> Any:
    with OpenStep(trial, name, arguments) as step:

        async def answer() -> Any:
            given = step.stand_in() if step.double else call()
            return await given if inspect.isawaitable(given) else given

        step.output = await with_fault_async(trial, step.name, answer, form, within)
    return step.output


def _passed(
    trial: Trial, name: str, arguments: dict[str, Any], call: Call, form: ResultForm, within: Within = whole
) -> Any:
    with OpenStep(trial, name, arguments) as step:
        step.output = with_fault(
            trial, step.name, lambda: completed(step.stand_in()) if step.double else call(), form, within
        )
    return step.output
