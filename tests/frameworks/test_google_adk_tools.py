"""Tools of ADK's agents: objects of the user's own, of toolsets, and of MCP servers."""

from typing import Any

import pytest

from agentmut._base.errors import AdapterError
from agentmut.nouns.faults import FaultKind, ToolFault
from tests.frameworks.google_adk_runs import adapter, changed, run
from tests.frameworks.kit import Case, check

pytestmark = pytest.mark.framework

pytest.importorskip("google.adk", reason="google-adk is not installed")
SERVED = "tests.frameworks.google_adk_served_agents"
ASKED = "Where is my order A-1042?"
FOUND = "A-1042 was delivered on Monday."


def test_its_agents_are_run_as_the_kit_demands() -> None:
    check(Case("google_adk", "graph, MCP server", f"{SERVED}:graph", [ASKED], ["look_up_order"]))


def renamed(agent: Any, name: str, **update: Any) -> Any:
    """The agent with one tool less or more told of as something else."""
    told = {"name": "find", "implemented_by": name, **update}
    tools = agent.get_config().tools
    return changed(agent, tools=tuple(t.model_copy(update=told) if t.name == name else t for t in tools))


def test_callbacks_are_given_a_copy_of_the_user_s_own_tool() -> None:
    from tests.frameworks.google_adk_served_agents import AUDITED, SEEN, Audited

    agent = adapter("audited", module=SERVED)
    seen = run(agent, ASKED)
    assert SEEN.pop() == (Audited, "sales", 1)
    assert "Calls are audited." in seen.system[0]
    seen = run(renamed(agent, "look_up_order", description="Finds an order."), ASKED)
    assert SEEN.pop()[:2] == (Audited, "sales") and AUDITED.calls == 0
    assert [(tool.name, tool.description) for tool in seen.told] == [("find", "Finds an order.")]
    assert "Calls are audited." in seen.system[0]
    assert [(step.tool, step.output) for step in seen.trace.tool_calls] == [("look_up_order", FOUND)]


def test_a_tool_that_goes_by_its_own_name_is_called_by_it_under_another() -> None:
    seen = run(renamed(adapter("remote", module=SERVED), "look_up_order"), ASKED)
    assert [tool.name for tool in seen.told] == ["find"]
    assert [step.output for step in seen.trace.tool_calls] == [FOUND]


def test_a_tool_that_resists_is_renamed_and_may_have_the_last_word() -> None:
    seen = run(renamed(adapter("stubborn", module=SERVED), "look_up_order"), ASKED)
    assert [tool.name for tool in seen.told] == ["find"]
    assert seen.trace.output == {"result": FOUND}
    with pytest.raises(AdapterError, match="the tool 'send' cannot tell a model of itself: "):
        adapter("indescribable", module=SERVED)


def test_what_a_run_waits_for_is_its_answer() -> None:
    seen = run(adapter("confirmed", module=SERVED), ASKED)
    assert seen.trace.output == {"waits_for": "adk_request_confirmation", "tool": "look_up_order"}
    assert run(adapter("long_running", module=SERVED), ASKED).trace.output == ""


def test_an_agent_in_mode_task_is_given_its_task() -> None:
    agent = adapter("with_delegate", module=SERVED)
    assert agent.get_config().tool_names == ("look_up_order",)
    seen = run(agent, "Please give me a refund for my order A-1042.")
    assert [(step.tool, step.node) for step in seen.trace.tool_calls] == [("look_up_order", "billing")]


def test_tools_of_a_server_are_called_by_their_own_names_and_end_their_connections() -> None:
    from tests.frameworks.google_adk_served_agents import SERVED as SHARED
    from tests.frameworks.google_adk_served_agents import InProcess

    InProcess.opened.clear()
    agent = adapter("SERVED", module=SERVED)
    assert agent.get_config().tool_names == ("shop_look_up_order", "issue_refund")
    schema = {"type": "object", "properties": {"order_id": {"type": "string", "description": "A-1"}}}
    other = renamed(agent, "shop_look_up_order", description="Finds.", parameters=schema)
    swapped = changed(other, tools=other.get_config().tools[::-1])
    seen = run(swapped, ASKED)
    [refund, found] = seen.told
    assert (refund.name, found.name) == ("issue_refund", "find")
    assert "Finds." in found.description and "A-1" in str(found.parameters["properties"]["order_id"])
    assert [step.output for step in seen.trace.tool_calls] == [FOUND]
    own: Any = SHARED.tools[0]
    assert len(InProcess.opened) == 2 and own._mcp_session_manager not in InProcess.opened
    assert not any(manager._sessions for manager in InProcess.opened)
    run(changed(agent, tools=()), ASKED)


def test_doubles_and_faults_meet_the_tools_of_servers() -> None:
    agent = adapter("served", module=SERVED)
    seen = run(agent, ASKED, doubles={"look_up_order": lambda order_id: f"{order_id} burnt."})
    assert [step.output for step in seen.trace.tool_calls] == ["A-1042 burnt."]
    assert "burnt" in str(seen.trace.output)
    down = [t.model_copy(update={"fault": ToolFault(kind=FaultKind.ERROR)}) for t in agent.get_config().tools]
    seen = run(changed(agent, tools=tuple(down)), ASKED, tools={tool.name: tool for tool in down})
    assert [step.error for step in seen.trace.tool_calls] == ["ServiceError: 503 Service Unavailable"]
    [refused] = run(agent, "Where is my order A-0?").trace.tool_calls
    assert refused.error and "no such order" in refused.error


@pytest.mark.process
def test_a_program_s_tools_are_offered() -> None:
    assert adapter("served_by_a_program", module=SERVED).get_config().tool_names == (
        "issue_refund",
        "look_up_order",
    )
    with pytest.raises(AdapterError, match=r"\(McpToolset\) list no tools: .*no-such-program"):
        adapter("served_by_nobody", module=SERVED)


def test_servers_that_adk_connects_to_otherwise_are_refused_by_its_version() -> None:
    """Trials would share a connection."""
    from agentmut.adapters.google_adk.mcp import separate
    from tests.frameworks.google_adk_served_agents import server

    toolset = server()
    del toolset._mcp_session_manager
    with pytest.raises(AdapterError, match=r"how google-adk \d.* connects to MCP servers; .*route: wire"):
        separate(toolset)


def test_tools_of_a_toolset_are_changed_and_those_that_come_later_are_not() -> None:
    from tests.frameworks.google_adk_served_agents import OPENED, WITH_TOOLSET

    agent = adapter("with_toolset", module=SERVED)
    assert agent.get_config().tool_names == ("look_up_order", "issue_refund", "close_order")
    refund, look_up, close = (agent.get_config().tools[at] for at in (1, 0, 2))
    seen = run(changed(agent, tools=(refund, close, look_up)), ASKED)
    told = [tool.name for tool in seen.told]
    assert told == ["issue_refund", "start_search", "close_order", "look_up_order"]
    assert seen.system[0].count("The shop is open.") == 1
    seen = run(changed(agent, tools=(close,)), ASKED)
    assert [tool.name for tool in seen.told] == ["close_order", "start_search"]
    assert {toolset.closed for toolset in OPENED} == {1}
    run(adapter("WITH_TOOLSET", module=SERVED), ASKED)
    assert WITH_TOOLSET.tools[0].closed == 0  # type: ignore[union-attr]
    with pytest.raises(ConnectionError, match="the shop is closed"):
        run(adapter("with_toolset", module=SERVED, state={"broken": True}), ASKED)
