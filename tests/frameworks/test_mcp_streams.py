"""agentmut between clients and tool servers, where replies come otherwise than one by one in the place of requests."""

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

import httpx2
from mcp import Client
from mcp.client.sse import sse_client
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventStore
from pydantic import JsonValue

from agentmut.adapters.mcp import McpAdapter
from agentmut.mcp_proxy import CLIENT, SERVER
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.tools import ToolSpec
from agentmut.recording.current import running
from agentmut.recording.trial import ToolChange, Trial
from agentmut.seams.protocols.adapter import AgentSpec
from tests.frameworks.mcp_agents import orders
from tests.frameworks.mcp_between import (
    CALLED,
    DECOY,
    FOUND,
    LOOK,
    REFUND,
    Served,
    between,
    called,
    exchanged,
    reached,
)

pytestmark = pytest.mark.framework

BROKEN = LOOK.model_copy(update={"fault": ToolFault(kind=FaultKind.MALFORMED)})
CUT = '{"result":,'


class Older(Served):
    """A server over HTTP+SSE, of protocol version 2024-11-05."""

    path = "/sse"

    def app(self) -> Any:
        return orders().sse_app()


class OverOlder(Older):
    """And a client of it."""

    async def __aenter__(self) -> Any:
        return sse_client(await super().__aenter__())


def test_the_older_transport_is_mutated_too() -> None:
    (told, wrong, text), trial = between(OverOlder, called("find"), REFUND, FOUND, DECOY, mode="legacy")
    assert told == ["issue_refund", "find", "look_up_order_v2"]
    assert (wrong, text) == (False, "A-1 was delivered on Monday.")
    assert [step.tool for step in trial.recorder.steps] == ["look_up_order"]


def test_over_the_older_transport_faults_and_doubles_answer_in_the_stream() -> None:
    async def use(client: Client) -> Any:
        first, second = await asyncio.gather(
            client.call_tool("look_up_order", {"order_id": "A-1"}), client.call_tool("issue_refund", {})
        )
        return [getattr(result.content[0], "text", "") for result in (first, second)]

    said, trial = between(OverOlder, use, BROKEN, REFUND, mode="legacy", issue_refund=lambda: "Paid.")
    assert said[0].startswith(CUT[:10]) and said[1] == "Paid."
    assert trial.recorder.marks == {"/tools/look_up_order/fault"}


def test_a_server_that_speaks_the_older_transport_only_is_tested_by_itself() -> None:
    async def use(address: str) -> Any:
        spec = AgentSpec(adapter="mcp", url=address.partition("/mcp/")[2])
        adapter = await asyncio.to_thread(McpAdapter.create, spec, AgentConfig())
        trial = Trial("alone")
        with running(trial):
            call: JsonValue = {"tool": "look_up_order", "arguments": {"order_id": "A-1"}}
            return (await adapter.run((call,), trial)).outputs

    outputs, _ = reached(Older, use)
    assert outputs == ("A-1 was delivered on Monday.",)


class Kept(EventStore):
    """Of a server that has all that it said."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        from mcp.server.streamable_http import EventMessage

        stream = self.events[int(last_event_id) - 1][0]
        for number, (of, message) in enumerate(self.events, 1):
            if of == stream and number > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


class Resumed(Served):
    """A server that hangs up during each call; the client comes back for the result."""

    def app(self) -> Any:
        server = MCPServer("orders")

        @server.tool()
        async def look_up_order(order_id: str, context: Context[Any, Any]) -> str:
            """Look up an order by its number."""
            close = context.request_context.close_sse_stream
            assert close
            await close()
            await asyncio.sleep(0.05)
            return f"{order_id} was delivered on Monday."

        return server.streamable_http_app(event_store=Kept(), retry_interval=10)


@pytest.mark.parametrize(("tool", "text"), [(LOOK, "A-1 was delivered"), (BROKEN, CUT[:10])])
def test_what_a_client_asks_for_again_is_mutated_too(tool: Any, text: str) -> None:
    (_, wrong, said), trial = between(Resumed, called("look_up_order"), tool, mode="legacy")
    assert not wrong and said.startswith(text)
    assert [(step.tool, step.error) for step in trial.recorder.steps] == [("look_up_order", None)]
    assert trial.recorder.steps[0].seconds > 0.04


# What a server says that is no result yet.


def test_what_a_server_has_to_be_told_first_is_not_mutated_and_no_step() -> None:
    wants = {**SAID, "result": {"resultType": "input_required", "inputRequests": {"a": {"order": 7}}}}
    trial = Trial("t.1", tools={"look_up_order": BROKEN}, tool_change=ToolChange((LOOK,), (BROKEN,)))
    told, _ = asyncio.run(exchanged((CLIENT, CALLED), (SERVER, wants), trial=trial))
    assert told == [wants]
    assert trial.recorder.steps == []


def test_a_call_whose_result_comes_later_cannot_be_broken_and_that_is_said() -> None:
    trial = Trial("t.1", tools={"look_up_order": BROKEN}, tool_change=ToolChange((LOOK,), (BROKEN,)))
    later = {**CALLED, "params": {"name": "look_up_order", "arguments": {}, "task": {"ttl": 60}}}
    [said], _ = asyncio.run(exchanged((CLIENT, later), trial=trial))
    assert "call look_up_order without a task" in said["error"]["message"]


def test_a_tool_whose_name_no_header_can_have_is_called() -> None:
    class Large(Served):
        def app(self) -> Any:
            server = MCPServer("shop")
            server.add_tool(lambda: "L", name="größe", description="The size.")
            return server.streamable_http_app()

    size, renamed = ToolSpec(name="größe"), ToolSpec(name="maß", implemented_by="größe")
    (_, wrong, text), _ = between(Large, called("maß"), renamed, before=(size,), mode="auto")
    assert (wrong, text) == (False, "L")


# Batches.

LISTED = {"jsonrpc": "2.0", "id": 8, "method": "tools/list"}
PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}
SAID = {"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "Shipped."}]}}
TOLD = {"jsonrpc": "2.0", "id": 8, "result": {"tools": [{"name": "look_up_order", "inputSchema": {}}]}}


def test_each_message_of_a_batch_is_mutated_and_the_replies_come_as_one() -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    trial = Trial("t.1", tools={"look_up_order": BROKEN}, tool_change=ToolChange((LOOK,), (FOUND, BROKEN)))
    pong = {"jsonrpc": "2.0", "id": 9, "result": {}}
    told, _ = asyncio.run(
        exchanged(
            (CLIENT, [{**CALLED, "jsonrpc": "2.0"}, LISTED, notice, PING]),
            (SERVER, pong),
            (SERVER, [TOLD, SAID]),
            trial=trial,
        )
    )
    [replies] = told
    by_id = {reply["id"]: reply["result"] for reply in replies}
    assert by_id[9] == {} and len(replies) == 3
    assert by_id[7]["content"][0]["text"].startswith(CUT[:10])
    assert [tool["name"] for tool in by_id[8]["tools"]] == ["look_up_order"]
    assert [step.output for step in trial.recorder.steps] == [by_id[7]["content"][0]["text"]]


def test_what_a_client_takes_back_of_a_batch_holds_up_no_other_reply() -> None:
    back = {"method": "notifications/cancelled", "params": {"requestId": 9}}
    told, _ = asyncio.run(
        exchanged((CLIENT, [LISTED, PING]), (CLIENT, back), (SERVER, {**TOLD, "result": {"tools": []}}))
    )
    assert told == [[{**TOLD, "result": {"tools": []}}]]


@pytest.mark.parametrize("json_response", [True, False])
def test_batches_over_http_are_split_too(json_response: bool) -> None:
    class Stateless(Served):
        def app(self) -> Any:
            return orders().streamable_http_app(stateless_http=True, json_response=json_response)

    call = {**CALLED, "jsonrpc": "2.0", "params": {"name": "find", "arguments": {"order_id": "A-1"}}}
    accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26"}

    async def use(address: str) -> Any:
        async with httpx2.AsyncClient(headers=accept) as http:
            reply = await http.post(address, json=[call, LISTED, PING])
            notice = await http.post(
                address, json=[{"jsonrpc": "2.0", "method": "notifications/initialized"}]
            )
            lines = [line for line in reply.text.splitlines() if line.startswith("data: {")]
            return [json.loads(line[6:]) for line in lines], notice.status_code

    (replies, status), trial = reached(Stateless, use, REFUND, FOUND)
    by_id = {reply["id"]: reply["result"] for reply in replies}
    assert status == 202 and by_id[9] == {} and len(replies) == 3
    assert by_id[7]["content"][0]["text"] == "A-1 was delivered on Monday."
    assert [tool["name"] for tool in by_id[8]["tools"]] == ["issue_refund", "find"]
    assert [step.tool for step in trial.recorder.steps] == ["look_up_order"]


@pytest.mark.parametrize("ends", ["no server", "stream"])
def test_a_call_of_a_batch_that_is_never_answered_is_a_step_and_told(ends: str) -> None:
    class Silent(Served):
        def app(self) -> Any:
            async def answer(scope: Any, receive: Any, send: Any) -> None:
                if scope["type"] == "lifespan":
                    while (message := await receive())["type"].startswith("lifespan."):
                        await send({"type": f"{message['type']}.complete"})
                headers = [(b"content-type", b"text/event-stream")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                await send({"type": "http.response.body", "body": b": nothing\n\n"})

            return answer

    async def use(address: str) -> Any:
        gone = address.rpartition(":")[0] + ":9/mcp"
        async with httpx2.AsyncClient() as http:
            reply = await http.post(address if ends == "stream" else gone, json=[CALLED])
        return [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")]

    ([told], trial) = reached(Silent, use, LOOK)
    assert told["id"] == 7 and told["error"]["message"]
    [step] = trial.recorder.steps
    assert step.tool == "look_up_order" and told["error"]["message"] in (step.error or "")
