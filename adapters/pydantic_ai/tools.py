"""pydantic-ai's toolsets in the form of a config, with their calls passed on by agentmut."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import RunContext, RunUsage
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturn
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import CombinedToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from agentmut.adapters._shared.change import Change, Offer
from agentmut.mutation import decoy_answer
from agentmut.nouns import ToolSpec
from agentmut.recording import answering, call_place, current_trial
from agentmut.trial import pass_call

_PUT_OFF = ("external", "unapproved")
"""The kinds of tools whose calls end the run, for somebody else to carry out or approve."""
_ANYTHING = SchemaValidator(core_schema.dict_schema())


async def tools_of(agent: Any, deps: Any) -> tuple[ToolSpec, ...]:
    """List the tools of every toolset as a model gets them before a run."""
    toolset = CombinedToolset(list(agent.toolsets))
    context = RunContext(deps=deps, model=TestModel(), usage=RunUsage())
    async with toolset:
        tools = await toolset.get_tools(context)
    return tuple(_spec_of(tool.tool_def) for tool in tools.values())


def _spec_of(tool: ToolDefinition) -> ToolSpec:
    return ToolSpec(
        name=tool.name, description=tool.description or "", parameters=tool.parameters_json_schema
    )


@dataclass
class ChangedToolset(WrapperToolset[Any]):
    """The toolset of an agent, with tools removed, renamed, redescribed, added or reordered."""

    change: Change
    told: set[str] = field(default_factory=set)
    """The names that the model was told of in this run; copies of the toolset have them in common."""
    asked: list[ToolCallPart] = field(default_factory=list)
    """The calls that came to a tool; the very parts of messages, as some services give ids more than once."""

    def was_asked(self, call: ToolCallPart) -> bool:
        """Return whether a call reached a tool."""
        return any(one is call for one in self.asked)

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return the tools by the names that the model gets."""
        own = await super().get_tools(ctx)
        offers = self.change.offers(list(own), described=lambda name: _spec_of(own[name].tool_def))
        told = {offer.spec.name: self._tool(offer, own) for offer in offers}
        self.told.update(told)
        return told

    def _tool(self, offer: Offer, own: Mapping[str, ToolsetTool[Any]]) -> ToolsetTool[Any]:
        spec, tool = offer.spec, own.get(offer.spec.own_name)
        if tool is None:
            told = ToolDefinition(
                name=spec.name, parameters_json_schema=dict(spec.parameters), description=spec.description
            )
            return ToolsetTool(toolset=self, tool_def=told, max_retries=1, args_validator=_ANYTHING)
        if tool.tool_def.kind in _PUT_OFF and _has_double(spec.own_name):
            tool = replace(tool, tool_def=replace(tool.tool_def, kind="function"))
        if not offer.changed:
            return replace(tool, toolset=self)
        told = replace(
            tool.tool_def,
            name=spec.name,
            description=spec.description,
            parameters_json_schema=dict(spec.parameters),
            strict=None if spec.parameters == tool.tool_def.parameters_json_schema else False,
        )
        return replace(tool, toolset=self, tool_def=told)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Pass the call on under the agent's own name; the tool is the node of requests to other agents."""
        said = _call_part(ctx, name)
        self.asked += [said] if said else []
        own = next((one.own_name for one in self.change.wanted.tools if one.name == name), name)
        place = call_place()
        inner = place._replace(node=f"{place.node}/{own}", call_id=None)

        rich: list[Any] = []

        async def call() -> Any:
            if tool.args_validator is _ANYTHING:
                return decoy_answer()
            with answering(inner):
                return _bare(await _result(self.wrapped.call_tool(own, tool_args, ctx, tool)), rich)

        with answering(place._replace(call_id=ctx.tool_call_id)):
            given = await pass_call(own, _tool_definition(said, tool_args), call)
        return _with_its_value(rich[0], given) if rich else given


def _has_double(tool: str) -> bool:
    trial = current_trial()
    return trial is not None and tool in trial.doubles


async def _result(call: Awaitable[Any]) -> Any:
    """Return the outcome of a call, or the exception that postpones it, which is no error in the trace."""
    try:
        return await call
    except (CallDeferred, ApprovalRequired) as put_off:
        return put_off


def _bare(result: Any, rich: list[Any]) -> Any:
    """Return the model's part of a richer result, which is kept whole."""
    if isinstance(result, CallDeferred | ApprovalRequired):
        rich.append(result)
        return None
    if isinstance(result, ToolReturn):
        rich.append(result)
        return result.return_value
    return result


def _with_its_value(rich: Any, value: Any) -> Any:
    if not isinstance(rich, ToolReturn):
        raise rich
    return rich if rich.return_value is value else replace(rich, return_value=value)


def _call_part(ctx: RunContext[Any], tool: str) -> ToolCallPart | None:
    """Return the call as the model made it, in its last reply."""
    replies = (message for message in reversed(ctx.messages) if isinstance(message, ModelResponse))
    calls = (part for message in replies for part in message.parts if isinstance(part, ToolCallPart))
    return next((one for one in calls if (one.tool_call_id, one.tool_name) == (ctx.tool_call_id, tool)), None)


def _tool_definition(call: ToolCallPart | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as the model gave them; the fields of a tool's only model parameter come unpacked."""
    given = call.args_as_dict() if call else arguments
    return arguments if given.keys() <= arguments.keys() else given
