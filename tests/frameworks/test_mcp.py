"""Tool servers: one under test by itself, and the agents that ask them."""

import asyncio
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from mcp import Client
from pydantic import JsonValue, SecretStr

from agentmut._base.errors import AdapterError, UsageError
from agentmut.adapters._shared import sdk_version as _requirement
from agentmut.adapters.mcp import McpAdapter
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.mutant import Status
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.recording.current import running
from agentmut.recording.trial import ToolChange, Trial
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.trial.mcp import watch
from agentmut.trial.single_run import Case as Attempted
from agentmut.trial.single_run import attempt
from agentmut.usecases.campaigns import measure
from agentmut.usecases.planning import plan
from tests.frameworks.kit import Case, check
from tests.frameworks.mcp_agents import orders

pytestmark = pytest.mark.framework

AGENTS = "tests.frameworks.mcp_agents"
EXAMPLE = Path(__file__).parents[2] / "examples" / "mcp"
PROGRAM = Path(__file__).parents[1] / "testdata" / "mcp" / "server.py"
ORDER = {"type": "string"}
LOOK = ToolSpec(
    name="look_up_order",
    description="Look up an order by its number.",
    parameters={
        "type": "object",
        "properties": {"order_id": ORDER, "question": {"type": "string"}},
        "required": ["order_id"],
    },
)
REFUND = ToolSpec(
    name="issue_refund",
    description="Pay money back to the customer.",
    parameters={
        "type": "object",
        "properties": {"order_id": ORDER, "amount": {"type": "number"}},
        "required": ["order_id", "amount"],
    },
)
CONFIG = AgentConfig(
    prompt="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
    model=ModelConfig(name="sim-large", temperature=0.3),
    context=(Document(name="policy", text="Refunds take five days. Gifts are final."),),
)
WHERE: dict[str, JsonValue] = {
    "tool": "look_up_order",
    "arguments": {"order_id": "A-1042", "question": "Where is this order?"},
}


@dataclass(frozen=True)
class AgentCase(Case):
    """An agent with a server's tools: the function of the factory, under adapter python."""

    def adapter(self) -> Adapter:
        return CallableAdapter.create(AgentSpec(adapter="python", run=self.factory), self.config)


CASES = (
    Case(
        "mcp",
        "a server by itself",
        f"{AGENTS}:orders",
        [WHERE, {"list_tools": True}],
        ["look_up_order"],
        config=CONFIG,
    ),
    AgentCase(
        "mcp",
        "an agent with a server's tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=CONFIG.model_copy(update={"tools": (LOOK, REFUND)}),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


# A server by itself.


def made(**spec: Any) -> McpAdapter:
    return McpAdapter.create(AgentSpec(adapter="mcp", **spec), AgentConfig())


def ran(adapter: Adapter, *turns: Any, timeout: float = 10, **doubles: Any) -> Execution:
    scenario = Scenario(name="s", turns=turns, evaluators=(EvaluatorSpec(name="contains", argument="x"),))
    return asyncio.run(attempt(adapter, Attempted(scenario, doubles), "t", 0, timeout))


def outputs(adapter: McpAdapter, *turns: Any, **doubles: Any) -> list[Any]:
    done = ran(adapter, *turns, **doubles)
    assert done.ending is Ending.ANSWERED, done.reason
    return list(done.trace.outputs)


def with_tool(adapter: McpAdapter, **changes: Any) -> McpAdapter:
    """The server with its first tool changed."""
    first, *rest = adapter.get_config().tools
    tools = (first.model_copy(update=changes), *rest)
    return adapter.with_config(adapter.get_config().model_copy(update={"tools": tools}))


def test_a_call_gives_the_text_of_its_result_and_a_failed_one_says_so() -> None:
    adapter = made(factory=f"{AGENTS}:orders")
    missing = {"tool": "look_up_order", "arguments": {"order_id": "A-0"}}
    found, refused, unknown = outputs(adapter, WHERE, missing, {"tool": "look_down"})
    assert found == "A-1042 was delivered on Monday."
    assert "Error executing tool look_up_order" in refused["error"]
    assert "look_down" in unknown["error"]


def test_its_steps_have_the_arguments_the_turn_and_the_error() -> None:
    trace = ran(
        made(factory=f"{AGENTS}:orders"), WHERE, {"tool": "look_up_order", "arguments": {"order_id": "A-0"}}
    ).trace
    first, second = trace.tool_calls
    assert (first.tool, first.arguments, first.turn) == ("look_up_order", WHERE["arguments"], 0)
    assert second.turn == 1 and "Error executing" in (second.error or "")


def test_a_tool_under_another_name_is_gone_for_those_who_call_it_by_its_own() -> None:
    renamed = with_tool(made(factory=f"{AGENTS}:orders"), name="find", implemented_by="look_up_order")
    by_own, by_new, listed = outputs(renamed, WHERE, {**WHERE, "tool": "find"}, {"list_tools": True})
    assert by_own == {"error": "Unknown tool: look_up_order"}
    assert by_new == "A-1042 was delivered on Monday."
    assert [tool["name"] for tool in listed] == ["find", "issue_refund"]


def test_a_call_that_no_longer_fits_the_schema_is_not_made() -> None:
    adapter = made(factory=f"{AGENTS}:orders")
    narrowed = {**adapter.get_tools()[0].parameters, "properties": {"order_id": {"type": "integer"}}}
    [said] = outputs(with_tool(adapter, parameters=narrowed), WHERE)
    assert (
        "the arguments do not fit the schema of look_up_order: 'A-1042' is not of type 'integer'"
        in said["error"]
    )


def test_a_call_that_never_fitted_is_for_the_server_to_refuse() -> None:
    adapter = made(factory=f"{AGENTS}:orders")
    changed = with_tool(adapter, parameters={"type": "object", "required": ["ticket"]})
    [said] = outputs(changed, {"tool": "look_up_order", "arguments": {"order_id": 7}})
    assert "do not fit the schema" not in said["error"]


def test_a_result_that_is_also_structured_says_the_same_twice() -> None:
    async def asked() -> Any:
        after = REFUND.model_copy(update={"fault": ToolFault(kind=FaultKind.TRUNCATED)})
        trial = Trial("t", tools={after.name: after}, tool_change=ToolChange((REFUND,), (after,)))
        async with Client(orders()) as client:
            with running(trial):
                await watch(client).list_tools()
                return await client.call_tool("issue_refund", {"order_id": "A-1", "amount": 2.0})

    result = asyncio.run(asked())
    assert result.structured_content == {"order": "A-1"}
    assert '"paid"' not in result.content[0].text


@pytest.mark.process
def test_a_program_is_started_for_each_trial() -> None:
    adapter = made(command=(sys.executable, "-IS", str(PROGRAM)))
    assert [tool.name for tool in adapter.get_tools()] == ["look_up_order", "issue_refund"]
    [said] = outputs(adapter, {"tool": "look_up_order", "arguments": {"order_id": "A-7"}})
    assert said == "look_up_order: A-7 was delivered on Monday."
    crashed = ran(adapter, {"tool": "look_up_order", "arguments": {"order_id": "crash"}})
    assert crashed.ending is Ending.RAISED
    assert "hung up during a call of look_up_order" in crashed.reason


@pytest.mark.process
def test_a_server_that_hangs_is_left_to_its_end() -> None:
    adapter = made(command=(sys.executable, "-IS", str(PROGRAM)))
    hanging = {"tool": "look_up_order", "arguments": {"order_id": "hang"}}
    done = ran(adapter, hanging, timeout=0.3)
    assert done.ending is Ending.TIMEOUT
    assert not done.abandoned


# Agents that watch their servers.


def test_what_is_watched_is_as_it_was_outside_of_trials() -> None:
    async def asked() -> Any:
        async with Client(orders()) as client:
            assert watch(watch(client)) is client
            names = [tool.name for tool in (await client.list_tools()).tools]
            return names, (await client.call_tool("look_up_order", {"order_id": "A-1"})).content

    names, [text] = asyncio.run(asked())
    assert names == ["look_up_order", "issue_refund"]
    assert text.text == "A-1 was delivered on Monday."


def test_only_clients_can_be_watched() -> None:
    with pytest.raises(TypeError, match=r"takes an mcp\.ClientSession or an mcp\.Client, not a MCPServer"):
        watch(orders())


def test_only_calls_of_servers_that_are_watched_can_be_broken() -> None:
    config = CONFIG.model_copy(update={"tools": (LOOK,)})
    watching, other = (
        CallableAdapter.create(AgentSpec(adapter="python", run=run), config)
        for run in (f"{AGENTS}:desk", "json:dumps")
    )
    assert watching.doubled_tools() == {"look_up_order"}
    assert other.doubled_tools() == frozenset()


# Bad input.


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({}, "needs one of agent.command"),
        ({"factory": "a:b", "url": "http://127.0.0.1:1/mcp"}, "it has factory and url"),
        ({"command": ("no-such-server",)}, "there is no program 'no-such-server'"),
        ({"url": "localhost:8000"}, "it does not begin with http"),
        ({"url": "http://"}, "'http://' is no address of a tool server: it has no host. Give all of it"),
        ({"url": "http:///mcp"}, "it has no host"),
        ({"url": "http://127.0.0.1/m cp"}, "it has a blank"),
        ({"url": "http://me:secret@h:99999/mcp"}, "'http://h:99999/mcp' is no address.*Port out of range"),
        ({"command": ("true",), "headers": {"A": SecretStr("b")}}, "headers are for agent.url"),
        ({"factory": f"{AGENTS}:STEPS"}, "expected an mcp.server.MCPServer"),
    ],
)
def test_a_server_that_is_not_named_rightly_is_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(**spec)


@pytest.mark.process
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"command": ("sh", "-c", "echo no key >&2; exit 3")}, "could not be asked for its tools.*no key"),
        (
            {"url": "http://127.0.0.1:9/mcp"},
            "server of agent.url could not be asked for its tools.*See that it runs",
        ),
        ({"factory": f"{AGENTS}:empty"}, "offers no tools"),
        ({"factory": f"{AGENTS}:broken"}, "raised RuntimeError: no database"),
        ({"factory": f"{AGENTS}:name"}, "returned a str; expected an mcp.server.MCPServer"),
    ],
)
def test_a_server_that_cannot_be_asked_says_why(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(AdapterError, match=said):
        made(**spec)


@pytest.mark.parametrize(
    "turn", ["Where is A-1?", {"tool": 1}, {"tool": "a", "with": {}}, {"tool": "a", "arguments": []}]
)
def test_a_turn_that_is_no_call_is_told(turn: Any) -> None:
    done = ran(made(factory=f"{AGENTS}:orders"), turn)
    assert done.ending is Ending.UNBUILDABLE
    assert 'has to be {"tool": NAME, "arguments": {...}} or {"list_tools": true}' in done.reason


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, r"requires the package mcp\. Install it with: pip install 'agentmut\[mcp\]'"),
        ({"mcp": "1.30.0"}, r"made for mcp 2\.0 and later, below 3\.0; found 1\.30\.0"),
        ({"mcp": "3.0.1"}, r"found 3\.0\.1\. Install one that fits.*adapter command"),
    ],
)
def test_another_version_is_refused(found: dict[str, str], said: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(_requirement, "version_of", lambda package: found)
    with pytest.raises(AdapterError, match=said):
        made(factory=f"{AGENTS}:orders")


# The example, which is what `agentmut init --framework mcp` writes.


@pytest.mark.whole
def test_its_example_tells_a_broken_server_from_a_sound_one(tmp_path: Path, monkeypatch: Any) -> None:
    project = tmp_path / "mcp"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    monkeypatch.syspath_prepend(project)
    named = ("tool.remove", "tool.blank_description")
    result = measure(project, selection=Selection(operators_named=named))
    statuses = {name: {m.status for m in result.mutants if m.operator == name} for name in named}
    assert statuses == {
        "tool.remove": {Status.KILLED},
        "tool.blank_description": {Status.KILLED, Status.SURVIVED},
    }


def test_a_plan_of_a_server_speaks_of_no_tokens_and_no_price(tmp_path: Path, monkeypatch: Any) -> None:
    project = tmp_path / "mcp"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    monkeypatch.syspath_prepend(project)
    foretold = plan(project, selection=Selection(operators_named=("tool.remove",)))
    said = " ".join(foretold.assumptions)
    assert "runs ask no model, so they have no price" in said
    assert "token" not in said and "budget.prices" not in said
    assert foretold.worst.usd == 0
