"""The tools of AutoGen's agents, which are in workbenches: read, offered as a config wants them, and passed on."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autogen_core import CancellationToken
from autogen_core.tools import (
    StaticStreamWorkbench,
    TextResultContent,
    ToolResult,
    ToolSchema,
    Workbench,
)

from agentmut.adapters._change import Offer
from agentmut.calls.answers import decoy_answer
from agentmut.calls.passing import pass_call
from agentmut.tools import ToolSpec
from agentmut.trial import TrialOverError, answering, call_place

Offers = Callable[[Sequence[str]], list[Offer]]
"""What is offered of the tools of those names."""


class ToolError(Exception):
    """What a tool has raised: a workbench tells its text only."""


async def listed(workbenches: Sequence[Workbench]) -> list[ToolSpec]:
    """What models are told of the tools. The workbenches are stopped: they are not used any more."""
    found = []
    for workbench in workbenches:
        try:
            found += [spec_of(schema) for schema in await workbench.list_tools()]
        finally:
            await workbench.stop()
    return found


def spec_of(schema: ToolSchema) -> ToolSpec:
    """What the model is told of a tool."""
    parameters: Any = schema.get("parameters") or {"type": "object", "properties": {}}
    return ToolSpec(name=schema["name"], description=schema.get("description", ""), parameters=parameters)


class PassingWorkbench(Workbench):
    """The workbenches of an agent as one: its tools are offered by `offers`, their calls are passed on by agentmut.

    Tools are not wrapped one by one, as a workbench may find them only when it is asked. Overrides of a
    `StaticWorkbench` would not do: they do not reach parameters, and a tool that a `StaticStreamWorkbench` renames
    is not found when it is called.
    """

    component_type = "workbench"

    def __init__(self, inner: Sequence[Workbench], offers: Offers, node: str) -> None:
        self._inner = inner
        self._offers = offers
        self._node = node
        self._offered: dict[str, tuple[Offer, Workbench | None]] = {}

    async def list_tools(self) -> list[ToolSchema]:
        """The tools as they are offered now."""
        own = {
            schema["name"]: (schema, workbench)
            for workbench in self._inner
            for schema in await workbench.list_tools()
        }
        offers = self._offers(list(own))
        self._offered = {o.spec.name: (o, own.get(o.spec.own_name, (None, None))[1]) for o in offers}
        return [_schema(offer, own.get(offer.spec.own_name, (None, None))[0]) for offer in offers]

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        """The result of a call by the name that the model was told."""
        offer, workbench = self._offered[name]
        call = _Call(workbench, offer.spec.own_name, arguments or {}, cancellation_token, call_id)
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
        """Reset the agent's own."""
        for workbench in self._inner:
            await workbench.reset()

    async def save_state(self) -> Mapping[str, Any]:
        """The states of the agent's own, by their place."""
        return {str(n): await workbench.save_state() for n, workbench in enumerate(self._inner)}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Give the agent's own their states."""
        for n, workbench in enumerate(self._inner):
            await workbench.load_state(state[str(n)])


class _Call:
    """A call of a tool of a workbench on its way."""

    def __init__(
        self,
        workbench: Workbench | None,
        name: str,
        arguments: Mapping[str, Any],
        token: CancellationToken | None,
        call_id: str | None,
    ) -> None:
        self._workbench = workbench
        self._name = name
        self._arguments = arguments
        self._token = token
        self._call_id = call_id
        self._own: ToolResult | None = None

    async def passed_on(self) -> Any:
        return await pass_call(self._name, self._arguments, self._carried_out)

    async def _carried_out(self) -> Any:
        if self._workbench is None:
            return decoy_answer()
        self._own = await _result_of(
            self._workbench, self._name, dict(self._arguments), self._token, self._call_id
        )
        text = self._own.to_text()
        if self._own.is_error:
            raise ToolError(text)
        return text

    def result_of(self, name: str, given: Any) -> ToolResult:
        """What the agent is given; images and the like are in the tool's own result."""
        if self._own is not None and given == self._own.to_text():
            return self._own.model_copy(update={"name": name})
        return _result(name, str(given), is_error=False)


async def _result_of(workbench: Workbench, name: str, arguments: dict[str, Any], *rest: Any) -> ToolResult:
    """As an `AssistantAgent` asks for it: workbenches that stream have a way of their own."""
    token, call_id = rest
    if not isinstance(workbench, StaticStreamWorkbench):
        return await workbench.call_tool(name, arguments, token, call_id)
    found: Any = None
    async for found in workbench.call_tool_stream(name, arguments, token, call_id):
        pass
    assert isinstance(found, ToolResult)
    return found


async def _linked(call: Any, token: CancellationToken | None) -> Any:
    """The result of `call`, which ends when the token says so.

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


def _schema(offer: Offer, own: ToolSchema | None) -> ToolSchema:
    if own is not None and not offer.changed:
        return own
    spec, parameters = offer.spec, dict(offer.spec.parameters)
    told: Any = {"name": spec.name, "description": spec.description, "parameters": parameters}
    if own is not None and own.get("strict") and own.get("parameters") == parameters:
        told["strict"] = True  # what a mutant makes of a schema need not be a strict one
    return told


def _result(name: str, text: str, *, is_error: bool) -> ToolResult:
    return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=is_error)
