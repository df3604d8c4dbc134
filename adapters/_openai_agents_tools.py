"""Function tools of the OpenAI Agents SDK as a config wants them offered, with their calls passed on by agentmut."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agents import FunctionTool
from agents.tool import maybe_invoke_function_tool_failure_error_function

from agentmut.adapters._change import Offer
from agentmut.calls.answers import decoy_answer
from agentmut.calls.passing import pass_call
from agentmut.tools import ToolSpec
from agentmut.trial import answering, call_place


def spec_of(tool: FunctionTool) -> ToolSpec:
    """What the model is told of a tool."""
    return ToolSpec(name=tool.name, description=tool.description, parameters=tool.params_json_schema)


def offered(offer: Offer, own: FunctionTool | None) -> FunctionTool:
    """The tool as it is offered; `own` is the agent's, None where there is nothing behind it."""
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
        try:
            with answering(place):
                return await pass_call(name, _arguments(text), lambda: invoke(context, text))
        except Exception as error:
            told = own and await maybe_invoke_function_tool_failure_error_function(
                function_tool=own, context=context, error=error
            )
            if told is None:
                raise
            return told

    return call


def _raising(tool: FunctionTool) -> Invoke:
    """The tool's own call, which raises where the SDK would tell the model instead: that is done outside of it."""
    bare = replace(tool, _failure_error_function=None, _use_default_failure_error_function=False)
    return bare.on_invoke_tool


async def _nothing(context: Any, text: str) -> Any:
    return decoy_answer()


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
