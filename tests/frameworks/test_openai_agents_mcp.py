"""Agents of the OpenAI Agents SDK with MCP servers: connected, offered, called and disconnected."""

import asyncio

import pytest

from agentmut._base.errors import AdapterError
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.recording.trial import Trial
from tests.frameworks.kit import Case, check
from tests.frameworks.openai_agents_runs import adapter, first_tool, ran, run

pytestmark = pytest.mark.framework

pytest.importorskip("agents", reason="openai-agents is not installed")
SERVED = "tests.frameworks.openai_agents_served_agents"


def test_its_agents_are_run_as_the_kit_demands() -> None:
    question = "Where is my order A-1042?"
    check(Case("openai_agents", "MCP server", f"{SERVED}:served", [question], ["look_up_order"], limit=3))


def test_tools_of_servers_are_offered_and_called_by_the_names_that_the_sdk_gives_them() -> None:
    from tests.frameworks.openai_agents_served_agents import OPENED

    agent = adapter(f"{SERVED}:served_and_said")
    assert [tool.name for tool in agent.get_tools()] == [
        "mcp_orders__look_up_order",
        "mcp_orders__issue_refund",
        "look_up_order",
    ]
    trace = run(agent)
    failed, found = trace.tool_calls
    assert (failed.tool, failed.arguments) == ("mcp_orders__look_up_order", {"order_id": "A-0"})
    assert failed.error and "there is no such order" in failed.error
    assert (found.output, found.error) == ("A-1 was delivered on Monday.", None)
    assert found.call_id == "call-mcp_orders__look_up_order-2-0"
    assert trace.output == "Monday."
    assert len({id(server) for server in OPENED}) == len(OPENED) >= 3
    assert [server.open for server in OPENED] == [0] * len(OPENED)  # every connection is closed


@pytest.mark.process
def test_a_program_s_tool_is_called_by_its_own_name_under_another() -> None:
    agent = first_tool(adapter(f"{SERVED}:served_by_a_program"), name="find", implemented_by="look_up_order")
    [step] = run(agent).tool_calls
    assert (step.tool, step.output) == ("look_up_order", "A-1 was delivered on Monday.")


def test_doubles_and_faults_meet_the_tools_of_servers() -> None:
    agent = adapter(f"{SERVED}:served_and_said")
    double = Trial("one", doubles={"mcp_orders__look_up_order": lambda order_id: f"{order_id} is lost."})
    assert [step.output for step in run(agent, trial=double).tool_calls] == ["A-0 is lost.", "A-1 is lost."]
    empty = first_tool(agent, fault=ToolFault(kind=FaultKind.EMPTY))
    trial = Trial("one", tools={tool.name: tool for tool in empty.get_config().tools if tool.fault})
    assert run(empty, trial=trial).tool_calls[1].output == ""
    assert trial.recorder.marks


def test_a_run_that_is_cut_short_ends_its_connections() -> None:
    from tests.frameworks.openai_agents_served_agents import OPENED

    agent = adapter(f"{SERVED}:hanging_and_served")
    trial = Trial("one")
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(ran(agent, trial=trial), 0.3))
    assert [step.tool for step in trial.recorder.steps] == ["never_answers"]
    assert OPENED[-1].open == 0


@pytest.mark.process
@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (
            "served_by_one_for_all",
            "gives the same MCP server each time: orders. .*builds agent and servers anew",
        ),
        ("served_by_nobody", r"the MCP servers of the agent \(nobody\) list no tools: .*no-such-program"),
    ],
)
def test_servers_that_no_trial_could_have_are_refused(factory: str, said: str) -> None:
    with pytest.raises(AdapterError, match=said):
        adapter(f"{SERVED}:{factory}")
