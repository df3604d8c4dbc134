"""ADK tools in the form of a config, with their calls passed on by agentmut."""

import copy
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.genai.types import FunctionDeclaration

from agentmut._base import AdapterError, one_line
from agentmut.adapters._shared.change import Offer
from agentmut.adapters.google_adk.mcp import is_served, text_of, told_of, told_otherwise, whole_of
from agentmut.mutation import ResultForm, decoy_answer, form_of
from agentmut.nouns import ToolSpec
from agentmut.recording import CallPlace, answering, call_place
from agentmut.trial import pass_call
from agentmut.wire.dialects.gemini import gemini_tools


def as_tool(found: Any) -> Any:
    """Return an item of an agent's tools; a function becomes an ADK tool."""
    known = isinstance(found, BaseTool | BaseToolset) or not callable(found) or hasattr(found, "run_async")
    return found if known else FunctionTool(found)


def declaration_of(tool: Any) -> FunctionDeclaration | None:
    """Return a tool's declaration for the model; None for a toolset, and for tools that the service carries out."""
    if not isinstance(tool, BaseTool):
        return None
    request = LlmRequest()
    try:
        request.append_tools([tool])
    except Exception as error:  # pydantic's, of types that have no schema, among others
        raise AdapterError(
            f"the tool {tool.name!r} cannot tell a model of itself: {one_line(error)}"
        ) from error
    return next(iter(_declarations(request)), None)


def is_marker(tool: Any, agent: Any) -> bool:
    """Return whether the tool is only ADK's marker that starts or ends the task of an agent of mode `task`."""
    ends = tool.name == "finish_task" and getattr(agent, "mode", None) == "task"
    return ends or (isinstance(tool, AgentTool) and getattr(tool.agent, "mode", None) == "task")


def spec_of(declaration: FunctionDeclaration) -> ToolSpec:
    """Return the declaration in agentmut's terms."""
    told = declaration.model_dump(mode="json", by_alias=True, exclude_none=True)
    [offered] = gemini_tools.offered({"tools": [{"functionDeclarations": [told]}]})
    assert offered.spec is not None
    return offered.spec


def tool_offered(offer: Offer, own: BaseTool | None) -> BaseTool:
    """Return the tool as offered; `own` is the agent's tool, None for a decoy.

    It is a copy of the agent's own, of the same class: callbacks and plugins of the user's are given it.
    """
    if own is None:
        return _Decoy(offer.spec)
    shown: BaseTool = _copied(own)
    if offer.changed:
        _describe(shown, own, offer.spec)
    behind = shown if offer.spec.name == own.name else _copied(own)  # some find their function by their name
    _set_attributes(
        shown, run_async=_passed_on(offer.spec.own_name, _bound_method(behind, own, "run_async"), own)
    )
    return shown


def leading_to(tool: AgentTool, agent: Any) -> AgentTool:
    """Return the same tool for another copy of its agent."""
    fresh: AgentTool = _copied(tool)
    fresh.agent = agent
    return fresh


def _copied(tool: Any) -> Any:
    """Return a copy, even of a class that prevents copies."""
    try:
        return copy.copy(tool)
    except Exception:  # whatever a class of the user's raises
        fresh = object.__new__(type(tool))
        fresh.__dict__.update(tool.__dict__)
        return fresh


def _set_attributes(tool: Any, **found: Any) -> None:
    """Set attributes of a copy, in a subclass if its class freezes or computes them."""
    for name, value in found.items():
        with suppress(AttributeError):
            object.__setattr__(tool, name, value)
        if getattr(tool, name) != value:
            kind = type(tool)
            fixed = {name: staticmethod(value) if callable(value) else value}
            object.__setattr__(tool, "__class__", type(kind.__name__, (kind,), fixed))


def _bound_method(shown: BaseTool, own: BaseTool, name: str) -> Any:
    """Return a method of a tool, bound to the tool's copy."""
    method = getattr(own, name)
    bound = inspect.ismethod(method) and method.__self__ is own
    return method.__func__.__get__(shown) if bound else method


def _describe(shown: BaseTool, own: BaseTool, spec: ToolSpec) -> None:
    """Change a copy's declaration and its other instructions for the model."""
    _set_attributes(shown, name=spec.name, description=spec.description)
    if is_served(own):
        told_otherwise(shown, spec)
    declared = _redeclared(declaration_of(own), spec)
    tell = _bound_method(shown, own, "process_llm_request")

    async def process_llm_request(*, tool_context: Any, llm_request: LlmRequest) -> None:
        known = _declarations(llm_request)
        await tell(tool_context=tool_context, llm_request=llm_request)
        if not is_served(own):  # that has its own way of telling the same
            _replace(llm_request, known, {own.name, spec.name}, declared)
        llm_request.tools_dict[spec.name] = shown

    _set_attributes(
        shown,
        process_llm_request=process_llm_request,
        _get_declaration=lambda: declared.model_copy(deep=True),
    )


def _redeclared(declared: FunctionDeclaration | None, spec: ToolSpec) -> FunctionDeclaration:
    told = {
        "name": spec.name,
        "description": spec.description,
        "parameters": None,
        "parameters_json_schema": dict(spec.parameters),
    }
    return (declared or FunctionDeclaration(name=spec.name)).model_copy(update=told)


def _declarations(request: LlmRequest) -> list[FunctionDeclaration]:
    groups = request.config.tools or []
    return [one for group in groups for one in getattr(group, "function_declarations", None) or []]


def _replace(
    request: LlmRequest, known: list[FunctionDeclaration], names: set[str], wanted: FunctionDeclaration
) -> None:
    """Replace the declaration that a tool has added to a request by the wanted one."""
    before = set(map(id, known))
    for group in request.config.tools or []:
        told = getattr(group, "function_declarations", None) or []
        for index, one in enumerate(told):
            if id(one) not in before and one.name in names:
                told[index] = wanted.model_copy(deep=True)


Call = Callable[..., Awaitable[Any]]


def _passed_on(name: str, call: Call, own: BaseTool) -> Call:
    """Return a tool's call in a trial: its own answer, or the trial's replacement."""
    served, form = is_served(own), _form(own)

    async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
        whole: list[dict[str, Any]] = []

        async def answer() -> Any:
            found = await call(args=args, tool_context=tool_context)
            return text_of(found, whole) if served else found

        try:
            with answering(_place(tool_context)):
                given = await pass_call(name, args, answer, form)
        except Exception as error:
            if not served:
                raise
            return told_of(error)
        return whole_of(given, whole) if served else given

    return run_async


def _place(context: Any) -> CallPlace:
    return CallPlace(call_place().turn, context.agent_name, context.function_call_id)


class _Decoy(BaseTool):
    """A decoy tool."""

    def __init__(self, spec: ToolSpec) -> None:
        super().__init__(name=spec.name, description=spec.description)
        self._spec = spec

    def _get_declaration(self) -> FunctionDeclaration:
        return _redeclared(None, self._spec)

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """Return a decoy's answer; the trial counts the call."""

        async def answer() -> Any:
            return decoy_answer(ResultForm.MAPPING)

        with answering(_place(tool_context)):
            return await pass_call(self._spec.own_name, args, answer, ResultForm.MAPPING)


def _form(own: BaseTool) -> ResultForm:
    function: Callable[..., Any] | None = getattr(own, "func", None)
    return form_of(function) if function else ResultForm.MAPPING
