"""`tool`: makes a plain function visible to agentmut, so that its calls are traced and can be doubled."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from agentmut.trial import Double, Trial, call_tool_step, current_trial
from agentmut.wire.transport import TrialOverError

F = TypeVar("F", bound=Callable[..., Any])
MARK = "__agentmut_tool__"


def tool(function: F) -> F:
    """Trace the calls of `function` inside trials and let scenarios replace it by a double.

    Outside of a trial the function is called as it is. Works for sync and async functions.
    """
    wrapped = _async(function) if inspect.iscoroutinefunction(function) else _sync(function)
    setattr(wrapped, MARK, function.__name__)
    return cast(F, wrapped)


def _sync(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trial = current_trial()
        if trial is None:
            return function(*args, **kwargs)
        step = _OpenStep(trial, function, args, kwargs)
        with step:
            step.output = step.double(**step.arguments) if step.double else function(*args, **kwargs)
        return step.output

    return call


def _async(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        trial = current_trial()
        if trial is None:
            return await function(*args, **kwargs)
        step = _OpenStep(trial, function, args, kwargs)
        with step:
            answer = step.double(**step.arguments) if step.double else function(*args, **kwargs)
            step.output = await answer if inspect.isawaitable(answer) else answer
        return step.output

    return call


class _OpenStep:
    """A tool call in progress; recorded as a step however it ends."""

    def __init__(self, trial: Trial, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        if trial.recorder.closed:
            raise TrialOverError(f"trial {trial.id} is over; this run was abandoned at its timeout")
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        self._recorder = trial.recorder
        self._name = function.__name__
        self._started = trial.recorder.now()
        self.arguments: dict[str, Any] = dict(bound.arguments)
        self.double: Double | None = trial.doubles.get(function.__name__)
        self.output: Any = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        message = None if error is None else f"{type(error).__name__}: {error}"
        arguments = {name: jsonable(value) for name, value in self.arguments.items()}
        step = call_tool_step(
            self._name, arguments, self._recorder, self._started, output=jsonable(self.output), error=message
        )
        self._recorder.steps.append(step)


def jsonable(value: Any) -> Any:
    """The value if JSON can hold it, else a JSON-friendly form of it, at worst its `str`."""
    from pydantic_core import from_json, to_json

    if isinstance(value, str | int | bool | None):
        return value
    try:  # through text: only there are numbers that JSON does not know written as strings
        return from_json(to_json(value, fallback=str, inf_nan_mode="strings"))
    except ValueError:  # bytes or text that UTF-8 does not hold, or an object that contains itself
        return _plain_or_text(value)


def _plain_or_text(value: Any) -> Any:
    from pydantic_core import to_jsonable_python

    try:
        return to_jsonable_python(value, fallback=str)
    except ValueError:
        return str(value)
