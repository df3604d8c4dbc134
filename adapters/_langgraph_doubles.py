"""Tool doubles in LangGraph's tool nodes."""

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from agentmut.adapters._langchain_tools import as_implemented, with_own_tool
from agentmut.doubles import ToolDoubleError
from agentmut.plain import jsonable
from agentmut.threads import completed
from agentmut.tools import read_tool
from agentmut.trial import current_trial


def let_doubles_answer(node: Any) -> None:
    """Put a wrapper before the node's own ones that runs the current trial's double, where there is one.

    The framework then validates, traces and reports the double exactly as it would the real tool.
    """
    if getattr(node, "_agentmut", False):  # a factory may hand out one graph again and again
        return
    inner, inner_async = node._wrap_tool_call, node._awrap_tool_call

    def wrap(request: Any, execute: Callable[[Any], Any]) -> Any:
        request = _with_double(with_own_tool(request, node.tools_by_name))
        return inner(request, execute) if inner else execute(request)

    async def awrap(request: Any, execute: Callable[[Any], Any]) -> Any:
        request = _with_double(with_own_tool(request, node.tools_by_name))
        if inner_async:
            return await inner_async(request, execute)
        return await execute(request)

    node._wrap_tool_call, node._agentmut = wrap, True
    if inner_async or not inner:  # with a sync wrapper only, the node calls that one in async runs too
        node._awrap_tool_call = awrap


def _with_double(request: Any) -> Any:
    trial = current_trial()
    double = trial.doubles.get(trial.own_name(request.tool_call["name"])) if trial else None
    if double is None or request.tool is None:
        return request
    return request.override(tool=_double_tool(request.tool, double))


def _double_tool(tool: BaseTool, double: Callable[..., Any]) -> BaseTool:
    known = _known(tool)

    def call(**arguments: Any) -> str:
        with _as_tool_failure(tool):
            return _as_text(completed(double(**known(arguments))))

    async def acall(**arguments: Any) -> str:
        with _as_tool_failure(tool):
            result = double(**known(arguments))
            return _as_text(await result if inspect.isawaitable(result) else result)

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        func=call,
        coroutine=acall,
        handle_tool_error=tool.handle_tool_error,
        handle_validation_error=tool.handle_validation_error,
    )


def _known(tool: BaseTool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Leaves what the model gave, without what the framework injects (state, store, runtime)."""
    names = read_tool(as_implemented(tool)).parameters.get("properties")
    if not isinstance(names, dict):
        return dict
    return lambda arguments: {name: value for name, value in arguments.items() if name in names}


@contextmanager
def _as_tool_failure(tool: BaseTool) -> Iterator[None]:
    """A tool that reports its failures to the model instead of raising lets its double do so too."""
    try:
        yield
    except ToolDoubleError as error:
        raise (ToolException(str(error)) if tool.handle_tool_error else error) from None


def _as_text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(jsonable(result), ensure_ascii=False)
