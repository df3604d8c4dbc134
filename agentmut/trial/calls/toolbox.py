"""`toolbox`: an agent's own functions by the names that the model is told of."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentmut.mutation import decoy_answer
from agentmut.nouns import AgentConfig, FaultKind, ToolSpec
from agentmut.trial.calls.instrument import MARK, tool
from agentmut.trial.calls.offered import finds_offered_tools, passes_tools

Function = Callable[..., Any]


@finds_offered_tools
@passes_tools
def toolbox(
    config: AgentConfig, functions: Mapping[str, Function] | Iterable[Function]
) -> dict[str, Function]:
    """Return what to call for each tool that `config` offers, by the name that the model calls it by.

    `functions` are the agent's own: a list, or a mapping by the name of the tool. A renamed tool is the
    function it always was; a tool with nothing behind it (a decoy) answers that nothing was found. All of
    them behave as if marked with `agentmut.tool`: their calls are traced under the agent's own names, and
    scenarios can double them. A tool without a function, or that `config` does not offer, is left out: a
    model may call it all the same, so expect a `KeyError`.

    >>> from agentmut.nouns.tools import ToolSpec
    >>> def get_order(order): return f"{order} is on its way"
    >>> offered = ToolSpec(name="fetch_order", implemented_by="get_order")
    >>> toolbox(AgentConfig(tools=(offered,)), [get_order])["fetch_order"]("A-1")
    'A-1 is on its way'
    """
    own = functions if isinstance(functions, Mapping) else {_name(f): f for f in functions}
    found = {spec.name: _function(spec, own) for spec in config.tools}
    return {name: function for name, function in found.items() if function is not None}


def _name(function: Function) -> str:
    return str(getattr(function, MARK, None) or getattr(function, "__name__", type(function).__name__))


def _function(spec: ToolSpec, own: Mapping[str, Function]) -> Function | None:
    if spec.fault is not None and spec.fault.kind is FaultKind.DECOY:
        return _marked(_decoy, spec.name)
    function = own.get(spec.own_name)
    return None if function is None else _marked(function, spec.own_name)


def _decoy(**arguments: Any) -> str:
    return str(decoy_answer())


def _marked(function: Function, name: str) -> Function:
    if hasattr(function, MARK):
        return function
    if getattr(function, "__name__", None) == name:
        return tool(function)
    return tool(_async_named(function, name) if _is_async(function) else _named(function, name))


def _is_async(function: Function) -> bool:
    called = getattr(function, "__call__", None)  # noqa: B004  (an object with an async __call__)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _named(function: Function, name: str) -> Function:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__name__ = name
    return call


def _async_named(function: Function, name: str) -> Function:
    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await function(*args, **kwargs)

    call.__name__ = name
    return call
