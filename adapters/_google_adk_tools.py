"""Tools of ADK agents as a config wants them offered, with their calls passed on by agentmut."""

import copy
from collections.abc import Callable
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.llm_request import LlmRequest
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.genai.types import FunctionDeclaration

from agentmut.adapters._change import Offer
from agentmut.calls.answers import ResultForm, decoy_answer, form_of
from agentmut.calls.passing import pass_call
from agentmut.tools import ToolSpec
from agentmut.trial import CallPlace, answering, call_place
from agentmut.wire.dialects.gemini import gemini_tools


def as_tool(found: Any) -> Any:
    """What an agent has among its tools, with functions made the tools that ADK makes of them."""
    known = isinstance(found, BaseTool | BaseToolset) or not callable(found) or hasattr(found, "run_async")
    return found if known else FunctionTool(found)


def declaration_of(tool: Any) -> FunctionDeclaration | None:
    """What the model is told of a tool; None for those that the service itself carries out, and for toolsets."""
    if not isinstance(tool, BaseTool):
        return None
    request = LlmRequest()
    request.append_tools([tool])
    groups = request.config.tools or []
    declared = [one for group in groups for one in getattr(group, "function_declarations", None) or []]
    return declared[0] if declared else None


def own_tools(agent: LlmAgent) -> dict[str, Any]:
    """The tools of an agent that its model is told of, by name."""
    found = map(as_tool, agent.tools)
    return {declared.name or "": tool for tool in found if (declared := declaration_of(tool))}


def spec_of(declaration: FunctionDeclaration) -> ToolSpec:
    """The declaration in agentmut's terms."""
    told = declaration.model_dump(mode="json", by_alias=True, exclude_none=True)
    [offered] = gemini_tools.offered({"tools": [{"functionDeclarations": [told]}]})
    assert offered.spec is not None
    return offered.spec


def tool_offered(offer: Offer, own: BaseTool | None) -> BaseTool:
    """The tool as it is offered; `own` is the agent's, None where there is nothing behind it."""
    declared = None if own is None else declaration_of(own)
    if offer.changed or declared is None:
        base = declared or FunctionDeclaration(name=offer.spec.name)
        declared = base.model_copy(
            update={
                "name": offer.spec.name,
                "description": offer.spec.description,
                "parameters": None,
                "parameters_json_schema": dict(offer.spec.parameters),
            }
        )
    return PassedTool(offer.spec, declared, own, changed=offer.changed)


def leading_to(tool: AgentTool, agent: Any) -> AgentTool:
    """The same tool that runs another copy of its agent."""
    fresh = copy.copy(tool)
    fresh.agent = agent
    return fresh


class PassedTool(BaseTool):
    """A tool of the agent, or a decoy, whose calls agentmut passes on."""

    def __init__(
        self, spec: ToolSpec, declared: FunctionDeclaration, own: BaseTool | None, *, changed: bool
    ) -> None:
        super().__init__(
            name=spec.name,
            description=spec.description,
            is_long_running=own is not None and own.is_long_running,
            custom_metadata=own.custom_metadata if own else None,
        )
        self._own = own
        self._own_name = spec.own_name
        self._declared = declared
        self._changed = changed

    def _get_declaration(self) -> FunctionDeclaration:
        return self._declared.model_copy(deep=True)

    async def process_llm_request(self, *, tool_context: Any, llm_request: LlmRequest) -> None:
        """As the agent's own tool does, which may tell the model more than its declaration."""
        if self._own is None or self._changed:
            await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
            return
        await self._own.process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.tools_dict[self.name] = self

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: Any) -> bool:
        """As the agent's own tool wants it."""
        return self._own is not None and await self._own.check_require_confirmation(args, tool_context)

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """The tool's own answer, or what the trial wants in its place."""
        place = CallPlace(call_place().turn, tool_context.agent_name, tool_context.function_call_id)

        async def call() -> Any:
            if self._own is None:
                return decoy_answer(ResultForm.MAPPING)
            return await self._own.run_async(args=args, tool_context=tool_context)

        with answering(place):
            return await pass_call(self._own_name, args, call, _form(self._own))


class PassedToolset(BaseToolset):
    """A toolset whose tools are not known before the run: their calls are traced, and they stay as they are."""

    def __init__(self, own: BaseToolset) -> None:
        super().__init__()
        self._own = own

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        """The tools of the toolset, with their calls passed on."""
        return [_as_it_is(tool) for tool in await self._own.get_tools_with_prefix(readonly_context)]

    async def process_llm_request(self, *, tool_context: Any, llm_request: LlmRequest) -> None:
        """As the toolset does."""
        await self._own.process_llm_request(tool_context=tool_context, llm_request=llm_request)

    def get_auth_config(self) -> Any:
        """As the toolset wants it."""
        return self._own.get_auth_config()

    async def close(self) -> None:
        """Close the toolset."""
        await self._own.close()


def _as_it_is(tool: BaseTool) -> BaseTool:
    declared = declaration_of(tool)
    return tool if declared is None else tool_offered(Offer(spec_of(declared), changed=False), tool)


def _form(own: BaseTool | None) -> ResultForm:
    function: Callable[..., Any] | None = getattr(own, "func", None)
    return form_of(function) if function else ResultForm.MAPPING
