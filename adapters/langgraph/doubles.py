"""Tool doubles and faults in LangGraph's tool nodes."""

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt.tool_node import INVALID_TOOL_NAME_ERROR_TEMPLATE
from langgraph.types import Command

from agentmut._base import AdapterError, jsonable
from agentmut.adapters.langgraph.langchain_tools import as_implemented, with_own_tool
from agentmut.adapters.langgraph.version import unknown_version
from agentmut.mutation import Change, ToolFailure, form_of
from agentmut.nouns import UNCALLED, read_tool
from agentmut.recording import Trial, completed, current_trial
from agentmut.trial import ToolDoubleError, check_running, with_fault, with_fault_async


def let_doubles_answer(node: Any) -> None:
    """Wrap the calls of a tool node, so that the current trial's doubles answer them.

    What it runs, the real tool or the double, has the tool's fault, where the trial has one. The framework
    then validates, traces and reports the stand-in exactly as it would the real tool.
    """
    if getattr(node, "_agentmut", False):  # a factory may hand out one graph again and again
        return
    try:
        inner, inner_async = node._wrap_tool_call, node._awrap_tool_call
    except AttributeError:  # not public
        raise AdapterError(unknown_version("what a tool node calls around its tools")) from None

    def wrap(request: Any, execute: Callable[[Any], Any]) -> Any:
        if refusal := _refusal(request, node.tools_by_name):
            return refusal
        request = _with_stand_in(with_own_tool(request, node.tools_by_name))
        return inner(request, execute) if inner else execute(request)

    async def awrap(request: Any, execute: Callable[[Any], Any]) -> Any:
        if refusal := _refusal(request, node.tools_by_name):
            return refusal
        request = _with_stand_in(with_own_tool(request, node.tools_by_name))
        if inner_async:
            return await inner_async(request, execute)
        return await execute(request)

    node._wrap_tool_call, node._agentmut = wrap, True
    if inner_async or not inner:  # with a sync wrapper only, the node calls that one in async runs too
        node._awrap_tool_call = awrap


_withdrawn: ContextVar[frozenset[str]] = ContextVar("agentmut_withdrawn_tools", default=frozenset())


@contextmanager
def withdrawing(names: Iterable[str]) -> Iterator[None]:
    """Remove these tools of the agent, under these names, while it runs."""
    token = _withdrawn.set(frozenset(names))
    try:
        yield
    finally:
        _withdrawn.reset(token)


def _refusal(request: Any, known: Mapping[str, BaseTool]) -> ToolMessage | None:
    """Return a tool node's message for an unknown name, if the tool was removed or renamed.

    The node may have the agent's own tools, and the model may call one that it is not offered, since the prompt
    still speaks of it: that must not work, and must not do what the tool does.
    """
    name, withdrawn = request.tool_call["name"], _withdrawn.get()
    trial = current_trial()
    if name not in withdrawn or trial is None:
        return None
    renamed = [other for other, spec in trial.tools.items() if other not in known and spec.own_name in known]
    others = ", ".join([*renamed, *(other for other in known if other not in withdrawn)])
    content = INVALID_TOOL_NAME_ERROR_TEMPLATE.format(requested_tool=name, available_tools=others)
    return ToolMessage(content, name=name, tool_call_id=request.tool_call["id"], status="error")


def _with_stand_in(request: Any) -> Any:
    trial = current_trial()
    if trial is None or request.tool is None:
        return request
    check_running(trial)
    name = trial.own_name(request.tool_call["name"])
    tool, double = request.tool, trial.doubles.get(name)
    if double is not None:
        tool = _double_tool(tool, double)
    if trial.fault(name) is not None:
        tool = _faulty_tool(tool, request.tool, trial, name)
    return request if tool is request.tool else request.override(tool=tool)


def _faulty_tool(tool: BaseTool, original: BaseTool, trial: Trial, name: str) -> BaseTool:
    """Return a copy of the tool whose calls meet the trial's fault; the tool itself, which is shared, stays whole."""
    form = form_of(_implementation(original))
    within = functools.partial(_in_content, tool)

    @functools.wraps(tool._run)  # its signature tells the framework what to inject
    def run(*args: Any, **kwargs: Any) -> Any:
        with _as_tool_failure(tool):
            found = with_fault(trial, name, lambda: tool._run(*args, **kwargs), form, within)
        return _with_artifact(found)

    @functools.wraps(tool._arun)
    async def arun(*args: Any, **kwargs: Any) -> Any:
        with _as_tool_failure(tool):
            found = await with_fault_async(trial, name, lambda: tool._arun(*args, **kwargs), form, within)
        return _with_artifact(found)

    def _with_artifact(found: Any) -> Any:
        fault = trial.fault(name)
        alone = fault is not None and fault.kind in UNCALLED
        return (found, None) if alone and tool.response_format == "content_and_artifact" else found

    copy = tool.model_copy()
    object.__setattr__(copy, "_run", run)
    object.__setattr__(copy, "_arun", arun)
    return copy


def _implementation(tool: BaseTool) -> Callable[..., Any]:
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    return function if callable(function) else tool._run


def _in_content(tool: BaseTool, change: Change, result: Any) -> Any:
    """Change the part of a tool's result that becomes the message; artifacts and commands stay."""
    if tool.response_format == "content_and_artifact" and isinstance(result, tuple) and len(result) == 2:
        return _changed_content(change, result[0]), result[1]
    if isinstance(result, list) and result and all(isinstance(item, ToolMessage) for item in result):
        return [_in_content(tool, change, item) for item in result]
    if isinstance(result, ToolMessage):
        return result.model_copy(update={"content": _changed_content(change, result.content)})
    return _changed_content(change, result)


def _changed_content(change: Change, content: Any) -> Any:
    """Change the text of content blocks; other blocks stay."""
    if isinstance(content, Command) or (
        isinstance(content, list) and any(isinstance(item, Command) for item in content)
    ):
        return content
    if not (isinstance(content, list) and content and all(map(_is_block, content))):
        return change(content)
    texts = [block["text"] for block in content if block["type"] == "text"]
    rest = [block for block in content if block["type"] != "text"]
    return [{"type": "text", "text": change("\n".join(texts))}, *rest] if texts else content


def _is_block(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    return isinstance(item.get("text"), str) if item.get("type") == "text" else item.get("type") in _BLOCKS


_BLOCKS = frozenset({"image", "image_url", "file", "audio", "video"})


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
    """Return a function that keeps what the model gave, without what the framework injects (state, store, runtime)."""
    names = read_tool(as_implemented(tool)).parameters.get("properties")
    if not isinstance(names, dict):
        return dict
    return lambda arguments: {name: value for name, value in arguments.items() if name in names}


@contextmanager
def _as_tool_failure(tool: BaseTool) -> Iterator[None]:
    """Report failures of stand-ins to the model, where the tool itself reports instead of raising."""
    try:
        yield
    except (ToolDoubleError, ToolFailure) as error:
        raise (ToolException(str(error)) if tool.handle_tool_error else error) from None


def _as_text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(jsonable(result), ensure_ascii=False)
