"""agentmut between agents and their tool servers: real clients, servers and programs."""

import asyncio
import os
import sys
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from mcp import Client, MCPError, StdioServerParameters, stdio_client

from agentmut import mcp_proxy
from agentmut._base.errors import UsageError
from agentmut.adapters.command import CommandAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.testing import check_adapter
from agentmut.trial.mcp.front import open_tool_doors
from agentmut.trial.on_wire import as_mutant, inside, routed
from agentmut.trial.single_run import Case, Wiring, attempt
from agentmut.trial.witness.witness import Detector
from agentmut.wire.carriers.proxy.gateway import open_gateway
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from tests.frameworks.kit import AT_ONCE
from tests.frameworks.mcp_between import (
    AGENT,
    BETWEEN,
    CALLED,
    DECOY,
    FOUND,
    LOOK,
    REFUND,
    ROOT,
    SERVER,
    Served,
    Started,
    between,
    called,
    exchanged,
    names,
)

pytestmark = [pytest.mark.framework, pytest.mark.process]


WAYS = [
    pytest.param(Started, "legacy", id="stdio"),
    pytest.param(Served, "legacy", id="streamable HTTP, with sessions"),
    pytest.param(Served, "auto", id="streamable HTTP, without sessions"),
]
"""By hand also: clients of mcp 1.30 over both, and servers and clients of 2.0."""


@pytest.mark.parametrize(("way", "mode"), WAYS)
def test_a_renamed_tool_is_called_by_its_new_name_and_known_by_its_own(way: Any, mode: str) -> None:
    (told, wrong, text), trial = between(way, called("find"), REFUND, FOUND, DECOY, mode=mode)
    assert told == ["issue_refund", "find", "look_up_order_v2"]
    assert (wrong, "A-1 was delivered on Monday" in text) == (False, True)
    [step] = trial.recorder.steps
    assert (step.tool, step.arguments, step.error) == ("look_up_order", {"order_id": "A-1"}, None)
    assert step.seconds > 0


@pytest.mark.parametrize(("way", "mode"), WAYS)
def test_a_fault_befalls_the_result(way: Any, mode: str) -> None:
    broken = LOOK.model_copy(update={"fault": ToolFault(kind=FaultKind.MALFORMED)})
    (_, wrong, text), trial = between(way, called("look_up_order"), broken, REFUND, mode=mode)
    assert not wrong and text.startswith('{"result":')
    assert trial.recorder.marks == {"/tools/look_up_order/fault"}


@pytest.mark.parametrize(("way", "mode"), WAYS)
def test_a_double_answers_in_the_place_of_the_server(way: Any, mode: str) -> None:
    def double(order_id: str) -> dict[str, str]:
        return {"id": order_id}

    (_, wrong, text), trial = between(
        way, called("look_up_order"), LOOK, REFUND, mode=mode, look_up_order=double
    )
    assert (wrong, text) == (False, '{"id": "A-1"}')
    assert trial.recorder.steps[0].output == {"id": "A-1"}


@pytest.mark.parametrize(("way", "mode"), WAYS)
def test_a_removed_tool_is_neither_offered_nor_called(way: Any, mode: str) -> None:
    (told, wrong, text), trial = between(way, called("look_up_order"), REFUND, mode=mode)
    assert told == ["issue_refund"]
    assert (wrong, text) == (True, "Unknown tool: look_up_order")
    assert trial.recorder.steps[0].error == "Unknown tool: look_up_order"


def test_a_server_that_dies_during_a_call_is_told_to_the_client_and_the_trace() -> None:
    async def use(client: Client) -> str:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("look_up_order", {"order_id": "crash"})
        return raised.value.message

    said, trial = between(Started, use, LOOK, REFUND, mode="legacy")
    assert said == "the tool server has ended"
    assert "the tool server has ended" in trial.recorder.steps[0].error


def test_a_server_that_ends_by_itself_ends_the_program_between_as_it_ended() -> None:
    """While the client's end is open, and so is being read."""

    async def carry_out() -> Any:
        trial, roster = Trial("t.1"), AdmittedTrials()
        async with open_tool_doors(roster) as doors:
            with roster.admitted(trial):
                variables = {**os.environ, "PYTHONPATH": str(ROOT), **doors.variables(trial.id)}
                ends: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
                program = (sys.executable, "-IS", "-c", "import sys; sys.stdin.readline(); sys.exit(3)")
                between = await asyncio.create_subprocess_exec(*BETWEEN, *program, env=variables, **ends)
                assert between.stdin and between.stderr
                between.stdin.write(b"{}\n")
                said = await between.stderr.read()
                code = await between.wait()
                between.stdin.close()
                return code, said

    assert asyncio.run(carry_out()) == (3, b"")


def test_messages_whose_ids_are_none_are_passed_on() -> None:
    odd = {"id": {"a": 1}, "result": {}}
    asked = {"id": [1], "method": "tools/list"}
    right = {"id": 7, "result": {"content": [{"type": "text", "text": "Shipped."}]}}
    told, trial = asyncio.run(
        exchanged(
            (mcp_proxy.CLIENT, asked),
            (mcp_proxy.CLIENT, CALLED),
            (mcp_proxy.SERVER, odd),
            (mcp_proxy.SERVER, right),
        )
    )
    assert odd in told
    assert [step.output for step in trial.recorder.steps] == ["Shipped."]


def test_odd_listings_and_ids_that_are_under_way_end_no_connection() -> None:
    asked, odd = {"id": 1, "method": "tools/list"}, {"id": 1, "result": {"tools": [{"name": ["l"]}]}}
    frames = [(mcp_proxy.CLIENT, one) for one in (asked, CALLED, CALLED)]
    told, trial = asyncio.run(exchanged(*frames, (mcp_proxy.SERVER, odd)))
    assert odd in told
    assert sorted(str(step.error) for step in trial.recorder.steps) == [
        "RefusedError: a call with this id is under way",
        "RefusedError: the tool server has ended",
    ]


def test_a_call_that_the_client_takes_back_ends_there() -> None:
    back = {"method": "notifications/cancelled", "params": {"requestId": 7}}
    _, trial = asyncio.run(
        exchanged((mcp_proxy.CLIENT, CALLED), (mcp_proxy.CLIENT, back), (mcp_proxy.SERVER, {"method": "n"}))
    )
    assert [step.error for step in trial.recorder.steps] == ["RefusedError: the client took the call back"]


def test_a_failed_call_says_so_and_its_step_too() -> None:
    (_, wrong, _), trial = between(Served, called("look_up_order", order_id="A-0"), LOOK, REFUND, mode="auto")
    assert wrong and "Error executing tool" in trial.recorder.steps[0].error


def test_the_front_takes_only_trials_that_are_under_way_and_addresses() -> None:
    import aiohttp

    async def carry_out() -> list[int]:
        roster = AdmittedTrials()
        async with open_tool_doors(roster) as doors, aiohttp.ClientSession() as http:
            with roster.admitted(Trial("t.1")):
                paths = (
                    "/t/other/mcp/http://127.0.0.1:9/mcp",
                    "/t/t.1/mcp/file:///etc/passwd",
                    "/t/t.1/mcp/http://me:secret@127.0.0.1:9/mcp",
                    "/t/t.1/mcp/http://127.0.0.1:9/mcp",
                )
                asked = [await http.post(f"{doors.front}{path}", json={}) for path in paths]
                foreign = await http.post(
                    f"{doors.front}{paths[-1]}", json={}, headers={"Origin": "http://evil.example"}
                )
                return [reply.status for reply in (*asked, foreign)]

    assert asyncio.run(carry_out()) == [404, 404, 400, 502, 403]


def test_without_a_trial_the_server_runs_in_the_place_of_the_program_between() -> None:
    async def carry_out() -> Any:
        arguments = [*BETWEEN[1:], "--", sys.executable, "-IS", str(SERVER)]
        started = StdioServerParameters(command=BETWEEN[0], args=arguments, env={"PYTHONPATH": str(ROOT)})
        async with Client(stdio_client(started), mode="legacy") as client:
            return await names(client)

    assert asyncio.run(carry_out()) == ["look_up_order", "issue_refund"]


# Programs as agents.


def adapter(config: AgentConfig, **options: Any) -> CommandAdapter:
    command = (sys.executable, "-S", str(AGENT), "{input}", *BETWEEN, sys.executable, "-IS", str(SERVER))
    return CommandAdapter.create(
        AgentSpec(adapter="command", command=command, root=str(ROOT), options=options), config
    )


PROMPT = "You help customers.\n\n- Always look up the order before you answer."
CONFIG = AgentConfig(prompt=PROMPT, tools=(LOOK, REFUND))


def mutant(*edits: Edit) -> Mutant:
    return Mutant(
        id="m", operator="o", version=1, operator_class=OperatorClass.TOOL, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=edits,
    )  # fmt: skip


def ran(changes: Mutant | None, **doubles: Any) -> Execution:
    """A trial of the agent whose tools its server has, as the engine runs it."""
    spec = AgentSpec(adapter="command", options={"mcp_tools": True})
    on_wire = routed(adapter(CONFIG, mcp_tools=True), spec)
    agent: Any = as_mutant(on_wire, CONFIG, changes.apply(CONFIG) if changes else CONFIG)

    judged = (EvaluatorSpec(name="contains", argument="x"),)
    case = Case(Scenario(name="s", turns=("Where is my order A-100?",), evaluators=judged), doubles)

    async def carry_out() -> Execution:
        async with open_gateway(os.environ, tool_doors=open_tool_doors) as gateway:
            return await attempt(inside(agent), case, "trial", 0, 20, Wiring(agent.rewriter(), gateway))

    return asyncio.run(carry_out())


@pytest.fixture(autouse=True)
def _simulated(simulator_url: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_thirty_programs_with_a_server_each_stay_apart() -> None:
    """All else that the kit looks at holds too; it was left out here, as each run takes three processes."""
    check_adapter(
        lambda: adapter(CONFIG, mcp_tools=True),
        turns=["Where is my order A-1042?"],
        expect_tools=["look_up_order"],
        only=("run", "steps", "arguments", "outputs", "durations", "concurrency", "errors", "doubles"),
        at_once=AT_ONCE,
    )


def test_a_server_that_is_handed_no_variables_still_belongs_to_the_trial_of_its_agent() -> None:
    """MCP clients hand servers a few variables only: then those of the agent itself say which trial it is."""
    done = ran(None)
    assert done.ending is Ending.ANSWERED, done.reason
    [step] = done.trace.tool_calls
    assert (step.tool, step.arguments) == ("look_up_order", {"order_id": "A-100"})
    assert step.call_id and step.seconds > 0
    assert step.output == "look_up_order: A-100 was delivered on Monday."


def test_what_a_server_tells_of_its_tools_arrives_at_the_model() -> None:
    renamed = mutant(
        Edit(pointer="/tools/0/name", before="look_up_order", after="find"),
        Edit(pointer="/tools/0/implemented_by", before=None, after="look_up_order"),
    )
    done = ran(renamed)
    assert done.ending is Ending.ANSWERED, done.reason
    assert [step.tool for step in done.trace.tool_calls] == ["look_up_order"]
    witness = Detector(renamed, CONFIG).witness(done.footprint)
    assert witness and witness.seen == 1


def test_a_fault_is_met_and_a_double_answers_there() -> None:
    fault = Edit(pointer="/tools/0/fault", before=None, after={"kind": "error", "seconds": 0.0})
    done = ran(mutant(fault))
    assert "ServiceError" in (done.trace.tool_calls[0].error or "")
    assert "/tools/look_up_order/fault" in done.footprint.marks
    doubled = ran(None, look_up_order=lambda order_id: f"{order_id} is lost.")
    assert doubled.trace.tool_calls[0].output == "A-100 is lost."


@pytest.mark.parametrize(
    ("options", "config", "said"),
    [
        ({"mcp": True}, CONFIG, "unknown key 'mcp'"),
        ({"mcp_tools": "yes"}, CONFIG, "is true or false, not 'yes'"),
        ({"mcp_tools": True}, AgentConfig(), r"list the tools of the servers in agent\.config\.tools"),
    ],
)
def test_options_that_are_none_are_refused(options: Any, config: AgentConfig, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        adapter(config, **options)
