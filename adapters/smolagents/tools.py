"""smolagents tools in the form of a config, with their calls passed on by agentmut."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from smolagents import CodeAgent, FinalAnswerTool, MultiStepAgent, Tool
from smolagents.models import get_tool_json_schema

from agentmut.adapters._shared.change import Offer
from agentmut.adapters.smolagents.calls import Calls
from agentmut.mutation import ResultForm, decoy_answer
from agentmut.nouns import ANSWER, ToolSpec
from agentmut.recording import answering, call_place
from agentmut.trial import pass_call_sync

_FORMS = {"string": ResultForm.TEXT, "object": ResultForm.MAPPING, "any": ResultForm.MAPPING}


def own_tools(agent: MultiStepAgent) -> dict[str, Tool]:
    """Return the tools of an agent by name, without the framework's own tool for the answer."""
    found = agent.tools.values()
    return {tool.name: tool for tool in found if isinstance(tool, Tool) and not _is_final(tool)}


def _is_final(tool: Tool) -> bool:
    return isinstance(tool, FinalAnswerTool) or tool.name == ANSWER


def spec_of(tool: Tool, agent: MultiStepAgent) -> ToolSpec:
    """Return a tool as the model gets it; a `CodeAgent` shows only types and descriptions in its prompt."""
    if isinstance(agent, CodeAgent):
        told = {
            name: {"type": one["type"], "description": one["description"]}
            for name, one in tool.inputs.items()
        }
        parameters: dict[str, Any] = {"type": "object", "properties": told}
    else:
        parameters = get_tool_json_schema(tool)["function"]["parameters"]
    return ToolSpec(name=tool.name, description=tool.description, parameters=parameters)


def offered(offer: Offer, own: Tool | None, agent: MultiStepAgent, ids: Calls) -> Tool:
    """Return the tool as offered; `own` is the agent's tool, None for a decoy."""
    spec = offer.spec
    if own is None:
        return _Decoy(
            spec, lambda inputs: passed_on(spec, inputs, lambda *args, **kwargs: decoy_answer(), ids)
        )
    shown: Any = copy.copy(own)  # of the user's own class, which may say in its own way what it is
    if offer.changed:
        shown.name, shown.description = spec.name, spec.description
        shown.inputs = _inputs(spec.parameters, own, agent)
    shown.is_initialized = True  # `own` sets itself up, once
    form = _FORMS.get(own.output_type, ResultForm.OTHER)
    shown.forward = passed_on(spec, own.inputs, own, ids, form)
    found: Tool = shown
    return found


class _Decoy(Tool):  # type: ignore[misc]  # smolagents has no types
    """A decoy tool."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, spec: ToolSpec, forward: Callable[[Mapping[str, Any]], Callable[..., Any]]) -> None:
        self.name, self.description = spec.name, spec.description
        self.inputs = {
            name: {"type": "any", "description": "", **one} for name, one in _properties(spec.parameters)
        }
        super().__init__()
        self.__dict__["forward"] = forward(self.inputs)


def passed_on(
    spec: ToolSpec,
    inputs: Mapping[str, Any],
    call: Callable[..., Any],
    ids: Calls,
    form: ResultForm = ResultForm.TEXT,
) -> Callable[..., Any]:
    """Return the call of a tool in a trial; code may pass arguments by position."""

    def forward(*args: Any, **kwargs: Any) -> Any:
        arguments = {**dict(zip(inputs, args, strict=False)), **kwargs}
        place = call_place()
        with answering(place._replace(call_id=ids.taken(spec.name, arguments, place.node))):
            return pass_call_sync(spec.own_name, arguments, lambda: call(*args, **kwargs), form)

    return forward


def _properties(parameters: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return list(parameters.get("properties", {}).items())


def _inputs(parameters: Mapping[str, Any], own: Tool, agent: MultiStepAgent) -> dict[str, Any]:
    """Return a schema as a tool's inputs, from which smolagents makes the same schema again."""
    before = spec_of(own, agent).parameters["properties"]
    known = {name: dict(own.inputs.get(name, {})) for name, _ in _properties(parameters)}
    in_code = isinstance(agent, CodeAgent)
    inputs: dict[str, Any] = {}
    for name, schema in _properties(parameters):
        same = isinstance(before, dict) and before.get(name) == schema
        kept = known[name] if same or in_code else {"description": ""}
        inputs[name] = kept if same else {**kept, **schema}
        if not in_code:
            inputs[name] = _as_required(inputs[name], required=name in parameters.get("required", ()))
    return inputs


def _as_required(schema: dict[str, Any], *, required: bool) -> dict[str, Any]:
    rest = {key: value for key, value in schema.items() if key != "nullable"}
    return rest if required else {**rest, "nullable": True}
