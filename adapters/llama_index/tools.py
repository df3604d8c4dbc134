"""LlamaIndex tools in the form of a config, with their calls passed on by agentmut."""

import copy
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata, ToolOutput, adapt_to_async_tool
from llama_index.core.tools.types import DefaultToolFnSchema
from llama_index.core.workflow import Context

from agentmut.adapters._shared.change import Offer
from agentmut.mutation import decoy_answer
from agentmut.nouns import ToolSpec
from agentmut.recording import CallPlace, answering
from agentmut.trial import pass_call

Own = Callable[[dict[str, Any]], Awaitable[ToolOutput]]
Place = Callable[[str, Mapping[str, Any]], CallPlace]
"""Which call of the model it is, by the name that the model knows and the arguments."""


def spec_of(tool: BaseTool) -> ToolSpec:
    """Return a tool as the model gets it."""
    told = tool.metadata
    return ToolSpec(name=told.get_name(), description=told.description, parameters=told.get_parameters_dict())


@dataclass
class _DescribedTool(ToolMetadata):  # type: ignore[misc]  # LlamaIndex is in the second environment
    """A tool's description for the model, with its parameters as a schema where LlamaIndex expects a class."""

    parameters: dict[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        """Return a new copy of the schema, since clients add to it."""
        return copy.deepcopy(self.parameters)


class ToolError(Exception):
    """A tool gave an output that is an error."""

    def __init__(self, output: ToolOutput) -> None:
        super().__init__(output.content)
        self.output = output


def offered(offer: Offer, own: BaseTool | None, place: Place) -> FunctionTool:
    """Return the tool as offered; `own` is the agent's tool, None for a decoy."""
    spec = offer.spec
    told = own.metadata if own is not None else None
    if told is None or offer.changed:
        told = _DescribedTool(
            name=spec.name,
            description=spec.description,
            fn_schema=told.fn_schema if told else DefaultToolFnSchema,
            return_direct=told.return_direct if told else False,
            parameters=dict(spec.parameters),
        )
    call = _passed_on(spec, _nothing(spec) if own is None else _calling(own), place)
    if isinstance(own, FunctionTool) and own.requires_context:
        context = str(own.ctx_param_name)

        async def with_context(agentmut_context: Context, **arguments: Any) -> ToolOutput:
            return await call(arguments, {context: agentmut_context})

        return FunctionTool(async_fn=with_context, metadata=told, async_callback=_unwrapped_output)

    async def without_context(**arguments: Any) -> ToolOutput:
        return await call(arguments, {})

    return FunctionTool(async_fn=without_context, metadata=told, async_callback=_unwrapped_output)


async def _unwrapped_output(output: ToolOutput) -> ToolOutput:
    """Keep a `FunctionTool` from wrapping an output in another output."""
    return output


def _passed_on(
    spec: ToolSpec, own: Own, place: Place
) -> Callable[[dict[str, Any], dict[str, Any]], Awaitable[ToolOutput]]:
    async def call(arguments: dict[str, Any], hidden: dict[str, Any]) -> ToolOutput:
        outputs: list[ToolOutput] = []

        async def carry_out() -> Any:
            outputs.append(await own({**arguments, **hidden}))
            if outputs[-1].is_error:
                raise ToolError(outputs[-1])
            return _plain(outputs[-1])

        try:
            with answering(place(spec.name, arguments)):
                given = await pass_call(spec.own_name, arguments, carry_out)
        except ToolError as error:
            return error.output
        if outputs and given is _plain(outputs[-1]):
            return outputs[-1]
        return ToolOutput(content=str(given), tool_name=spec.name, raw_input=arguments, raw_output=given)

    return call


def _plain(output: ToolOutput) -> Any:
    """Return the tool's own result if the model gets it unchanged; else the model's form of the result."""
    raw, told = output.raw_output, output.content
    return raw if isinstance(raw, str | int | float | list | dict) and str(raw) == told else told


def _calling(tool: BaseTool) -> Own:
    one = adapt_to_async_tool(tool)

    async def call(arguments: dict[str, Any]) -> ToolOutput:
        output: ToolOutput = await one.acall(**arguments)
        return output

    return call


def _nothing(spec: ToolSpec) -> Own:
    async def call(arguments: dict[str, Any]) -> ToolOutput:
        return ToolOutput(content=decoy_answer(), tool_name=spec.name, raw_input=arguments, raw_output=None)

    return call
