"""Function tools of the OpenAI Agents SDK in the form of a config, with their calls passed on by agentmut."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agents import FunctionTool
from agents.tool import maybe_invoke_function_tool_failure_error_function

from agentmut.adapters._shared.change import Offer, ToolRefusedError
from agentmut.adapters.openai_agents.handoffs import arguments
from agentmut.adapters.openai_agents.mcp import refusals
from agentmut.mutation import decoy_answer
from agentmut.nouns import ToolSpec
from agentmut.recording import answering, call_place
from agentmut.trial import pass_call


def spec_of(tool: FunctionTool) -> ToolSpec:
    """Return a tool as the model gets it."""
    return ToolSpec(name=tool.name, description=tool.description, parameters=tool.params_json_schema)


def offered(offer: Offer, own: FunctionTool | None) -> FunctionTool:
    """Return the tool as offered; `own` is the agent's tool, None for a decoy."""
    spec = offer.spec
    if own is None:
        return FunctionTool(
            name=spec.name,
            description=spec.description,
            params_json_schema=dict(spec.parameters),
            on_invoke_tool=_passed_on(spec.own_name, _nothing, None),
            strict_json_schema=False,
        )
    told: dict[str, Any] = {}
    if offer.changed:
        told = {
            "name": spec.name,
            "description": spec.description,
            "params_json_schema": dict(spec.parameters),
        }
        strict = own.strict_json_schema and spec.parameters == own.params_json_schema
        told["strict_json_schema"] = strict  # what a mutant makes of a schema need not be a strict one
    return replace(own, **told, on_invoke_tool=_passed_on(spec.own_name, _raising(own), own))


Invoke = Callable[[Any, str], Any]


def _passed_on(name: str, invoke: Invoke, own: FunctionTool | None) -> Invoke:
    async def call(context: Any, text: str) -> Any:
        place = call_place()._replace(call_id=context.tool_call_id)
        parts: list[dict[str, Any]] = []

        async def answer() -> Any:
            return _text_of(await invoke(context, text), parts)

        try:
            with answering(place):
                given = await pass_call(name, arguments(text), answer)
        except ToolRefusedError as refused:
            return refused.told
        except Exception as error:
            told = own and await maybe_invoke_function_tool_failure_error_function(
                function_tool=own, context=context, error=error
            )
            if told is None:
                raise
            return told
        return {**parts[0], "text": given} if parts and isinstance(given, str) else given

    return call


def _text_of(output: Any, parts: list[dict[str, Any]]) -> Any:
    """Return the text of an answer with a single part, as MCP servers give it; the part is kept for the SDK."""
    if isinstance(output, dict) and output.keys() == {"type", "text"}:
        parts.append(output)
        return output["text"]
    return output


def _raising(tool: FunctionTool) -> Invoke:
    """Return the tool's own call, which raises an error where the SDK would report it to the model."""
    bare = replace(tool, _failure_error_function=None, _use_default_failure_error_function=False)

    async def invoke(context: Any, text: str) -> Any:
        with refusals() as said:
            output = await bare.on_invoke_tool(context, text)
        if said:
            raise ToolRefusedError(said[-1], output)
        return output

    return invoke


async def _nothing(context: Any, text: str) -> Any:
    return decoy_answer()
