"""The tools of AutoGen's agents, which are in workbenches: read, offered by a config, and passed on."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from autogen_core import CancellationToken
from autogen_core.tools import (
    StaticStreamWorkbench,
    TextResultContent,
    ToolResult,
    ToolSchema,
    Workbench,
)

from agentmut.adapters._shared.change import Change
from agentmut.mutation import decoy_answer
from agentmut.nouns import ToolSpec
from agentmut.recording import TrialOverError, answering, call_place
from agentmut.trial import pass_call


class ToolError(Exception):
    """The error of a tool, whose text is all that a workbench reports."""


async def listed(workbenches: Sequence[Workbench]) -> list[ToolSpec]:
    """Return the tools as models get them. The workbenches are stopped afterwards, since they are not used again."""
    found = []
    for workbench in workbenches:
        try:
            found += [spec_of(schema) for schema in await workbench.list_tools()]
        finally:
            await workbench.stop()
    return found


def spec_of(schema: ToolSchema) -> ToolSpec:
    """Return a tool as the model gets it."""
    parameters: Any = schema.get("parameters") or {"type": "object", "properties": {}}
    return ToolSpec(name=schema["name"], description=schema.get("description", ""), parameters=parameters)


class _OwnTool(NamedTuple):
    """A tool that the agent has."""

    schema: ToolSchema
    workbench: Workbench


class PassingWorkbench(Workbench):
    """One workbench around an agent's own: a change offers the tools, and agentmut passes their calls on.

    Tools are not wrapped one by one, as a workbench may find them only when it is asked. Overrides of a
    `StaticWorkbench` would not do: they do not reach parameters, and a tool that a `StaticStreamWorkbench` renames
    is not found when it is called.
    """

    component_type = "workbench"

    def __init__(self, inner: Sequence[Workbench], change: Change, node: str, *, decoys: bool) -> None:
        self._inner = inner
        self._change = change
        self._node = node
        self._decoys = decoys
        self._offered: dict[str, tuple[str, _OwnTool | None]] = {}
        """By the name that the model is told: the own name of a tool, and what is behind it."""

    def offers(self, name: str) -> bool:
        """Return whether the model got a tool with that name."""
        return name in self._offered

    async def list_tools(self) -> list[ToolSchema]:
        """Return the tools that are on offer now."""
        own = {
            _own_name(schema["name"], self._change): _OwnTool(schema, workbench)
            for workbench in self._inner
            for schema in await workbench.list_tools()
        }
        offers = self._change.offers(
            list(own), decoys=self._decoys, described=lambda name: spec_of(own[name].schema)
        )
        specs = [offer.spec for offer in offers]
        self._offered = {spec.name: (spec.own_name, own.get(spec.own_name)) for spec in specs}
        return [_schema(spec, own.get(spec.own_name)) for spec in specs]

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        """Return the result of a call by the model's name for the tool."""
        if arguments and not isinstance(arguments, dict):
            return _result(name, "The arguments must be a JSON object.", is_error=True)
        own_name, own = self._offered[name]
        call = _Call(own, own_name, arguments or {}, cancellation_token, call_id)
        place = call_place()._replace(node=self._node, call_id=call_id)
        try:
            with answering(place):
                given = await _linked(call.passed_on(), cancellation_token)
        except TrialOverError:
            raise
        except Exception as error:
            return _result(name, str(error), is_error=True)
        return call.result_of(name, given)

    async def start(self) -> None:
        """Start the agent's own."""
        for workbench in self._inner:
            await workbench.start()

    async def stop(self) -> None:
        """Stop the agent's own."""
        for workbench in self._inner:
            await workbench.stop()

    async def reset(self) -> None:
        """Reset the agent's own workbenches."""
        for workbench in self._inner:
            await workbench.reset()

    async def save_state(self) -> Mapping[str, Any]:
        """Return the states of the agent's own workbenches, by their index."""
        return {str(n): await workbench.save_state() for n, workbench in enumerate(self._inner)}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore the states of the agent's own workbenches."""
        for n, workbench in enumerate(self._inner):
            await workbench.load_state(state[str(n)])


@dataclass
class _Call:
    """A tool call on its way to its workbench."""

    own: _OwnTool | None
    name: str
    arguments: Mapping[str, Any]
    token: CancellationToken | None
    call_id: str | None
    _result: ToolResult | None = None

    async def passed_on(self) -> Any:
        """Make the call as the trial wants it: by the workbench, by a double, or with a fault."""
        return await pass_call(self.name, self.arguments, self._carried_out)

    async def _carried_out(self) -> Any:
        if self.own is None:
            return decoy_answer()
        name, workbench = self.own.schema["name"], self.own.workbench
        result = await _result_of(workbench, name, dict(self.arguments), self.token, self.call_id)
        if result.is_error:
            raise ToolError(result.to_text())
        self._result = result
        return result.to_text()

    def result_of(self, name: str, value: Any) -> ToolResult:
        """Return what the agent is given; images and the like are in the tool's own result."""
        if self._result is not None and value == self._result.to_text():
            return self._result.model_copy(update={"name": name})
        return _result(name, str(value), is_error=False)


async def _result_of(workbench: Workbench, name: str, arguments: dict[str, Any], *rest: Any) -> ToolResult:
    """Return a result in the form for an `AssistantAgent`; streaming workbenches have another method."""
    token, call_id = rest
    if not isinstance(workbench, StaticStreamWorkbench):
        return await workbench.call_tool(name, arguments, token, call_id)
    found = [given async for given in workbench.call_tool_stream(name, arguments, token, call_id)]
    assert isinstance(found[-1], ToolResult)
    return found[-1]


async def _linked(call: Any, token: CancellationToken | None) -> Any:
    """Return the result of `call`, which the cancellation token can end.

    An agent whose tool is cancelled waits for it forever. It is told of an error; its next request is cancelled too.
    """
    task = asyncio.ensure_future(call)
    if token is None:
        return await task
    token.link_future(task)
    try:
        return await task
    except asyncio.CancelledError:
        mine = asyncio.current_task()
        if not token.is_cancelled() or (mine and mine.cancelling()):
            raise
        raise ToolError("the run was cut off") from None


def _own_name(live: str, change: Change) -> str:
    """Return a tool's own name; a factory that takes the config may already have renamed the tool."""
    tools = change.wanted.tools
    if any(tool.own_name == live for tool in tools):
        return live
    return next((tool.own_name for tool in tools if tool.name == live), live)


def _schema(spec: ToolSpec, own: _OwnTool | None) -> ToolSchema:
    """Return the tool's schema for the model.

    Compared with the live tool: a factory that takes the config may leave tools alone.
    """
    schema = own.schema if own else None
    if schema is not None and spec_of(schema) == spec.model_copy(
        update={"implemented_by": None, "fault": None}
    ):
        return schema
    parameters = dict(spec.parameters)
    told: Any = {"name": spec.name, "description": spec.description, "parameters": parameters}
    if schema is not None and schema.get("strict") and schema.get("parameters") == parameters:
        told["strict"] = True  # what a mutant makes of a schema need not be a strict one
    return told  # type: ignore[no-any-return]  # a TypedDict, made of a dict


def _result(name: str, text: str, *, is_error: bool) -> ToolResult:
    return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=is_error)
