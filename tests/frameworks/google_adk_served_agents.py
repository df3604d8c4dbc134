"""Agents of ADK whose tools are objects of the user's own, of toolsets, or of MCP servers."""

import sys
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.adk.tools.mcp_tool.mcp_session_manager import MCPSessionManager
from google.adk.workflow import START, Workflow
from google.genai.types import FunctionDeclaration
from mcp import StdioServerParameters
from mcp.client._memory import InMemoryTransport

from tests.frameworks.google_adk_agents import MODEL, issue_refund, look_up_order
from tests.frameworks.mcp_orders import orders

INSTRUCTION = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."
NOWHERE = StdioConnectionParams(server_params=StdioServerParameters(command="no-such-program-of-agentmut"))


def agent(*tools: Any, **options: Any) -> LlmAgent:
    return LlmAgent(name="desk", model=MODEL, instruction=INSTRUCTION, tools=list(tools), **options)


class Audited(FunctionTool):
    """A user's own kind of tool, which tells the model more than its declaration."""

    __slots__ = ("owner",)

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self.owner = "sales"
        self.calls = 0

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        self.calls += 1
        return await super().run_async(args=args, tool_context=tool_context)

    async def process_llm_request(self, *, tool_context: Any, llm_request: Any) -> None:
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions(["Calls are audited."])


class Remote(BaseTool):
    """It finds what it runs by its own name, and declares itself in a request."""

    def __init__(self) -> None:
        super().__init__(name="look_up_order", description="Look up an order by its number.")

    def _get_declaration(self) -> FunctionDeclaration:
        parameters = {"type": "object", "properties": {"order_id": {"type": "string"}}}
        return FunctionDeclaration(
            name="look_up_order", description=self.description, parameters_json_schema=parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return {"look_up_order": look_up_order}[self.name](**args)


class Stubborn(Audited):
    """It can be neither copied nor renamed in the ordinary way."""

    @property
    def name(self) -> str:
        return "look_up_order"

    @name.setter
    def name(self, name: str) -> None:
        pass

    def __getstate__(self) -> Any:
        raise TypeError("it holds a connection")


def ended(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> None:
    tool_context.actions.skip_summarization = True


def stubborn() -> LlmAgent:
    """A callback has its tool's answer be the last word."""
    return agent(Stubborn(look_up_order), after_tool_callback=ended)


def indescribable() -> LlmAgent:
    def send(connection: InProcess) -> None:
        """Its argument has no schema."""

    return agent(send)


SEEN: list[Any] = []
AUDITED = Audited(look_up_order)


def audited() -> LlmAgent:
    """Its callback is made for the user's own kind of tool."""

    def note(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> None:
        SEEN.append((type(tool), tool.owner, tool.calls))

    return agent(AUDITED, after_tool_callback=note)


def remote() -> LlmAgent:
    return agent(Remote())


def confirmed() -> LlmAgent:
    """Somebody has to agree to its calls."""
    return agent(FunctionTool(look_up_order, require_confirmation=True))


def start_search(order_id: str) -> None:
    """Look up an order by its number, later."""


def long_running() -> LlmAgent:
    return agent(LongRunningFunctionTool(start_search))


def with_delegate() -> LlmAgent:
    """It gives another agent a task, which ADK has it do by a tool that is none."""
    billing = LlmAgent(
        name="billing",
        description="Handles refunds.",
        model=MODEL,
        instruction="- Always look up the order.",
        tools=[look_up_order],
        mode="task",
    )
    return LlmAgent(name="front", model=MODEL, instruction="Give refunds to billing.", sub_agents=[billing])


class InProcess(MCPSessionManager):
    """Connections to a server in the same process."""

    opened: list["InProcess"] = []  # noqa: RUF012

    def _create_client(self, *args: Any, **kwargs: Any) -> Any:
        self.opened.append(self)
        return InMemoryTransport(orders)


def server(**options: Any) -> McpToolset:
    toolset = McpToolset(connection_params=NOWHERE, **options)
    toolset._mcp_session_manager = InProcess(NOWHERE)
    return toolset


def served() -> LlmAgent:
    """Its tools are those of a server."""
    return agent(server())


def graph() -> Workflow:
    """A graph of two agents; the first one's tools are those of a server."""
    finder = LlmAgent(
        name="finder", model=MODEL, instruction=INSTRUCTION, tools=[server()], output_key="found"
    )
    writer = LlmAgent(name="writer", model=MODEL, instruction="Write to customers: {found}")
    return Workflow(name="graph", edges=[(START, finder, writer)])


SERVED = agent(server(tool_name_prefix="shop", tool_filter=["look_up_order"]), issue_refund)


def served_by_a_program() -> LlmAgent:
    """Its tools are those of a program, over stdio."""
    program = Path(__file__).with_name("mcp_orders.py")
    parameters = StdioServerParameters(command=sys.executable, args=["-I", str(program)])
    return agent(McpToolset(connection_params=StdioConnectionParams(server_params=parameters, timeout=60)))


def served_by_nobody() -> LlmAgent:
    return agent(McpToolset(connection_params=NOWHERE))


class Orders(BaseToolset):
    """A user's own toolset, which has a tool more once a run has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = 0

    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        if "broken" in readonly_context.state and readonly_context.invocation_id != "agentmut":
            raise ConnectionError("the shop is closed")
        tools = [FunctionTool(look_up_order), FunctionTool(issue_refund)]
        later = readonly_context.invocation_id != "agentmut"
        return [*tools, LongRunningFunctionTool(start_search)] if later else tools

    async def process_llm_request(self, *, tool_context: Any, llm_request: Any) -> None:
        llm_request.append_instructions(["The shop is open."])

    async def close(self) -> None:
        """ADK goes on where this raises."""
        self.closed += 1
        raise RuntimeError("it is closed")


OPENED: list[Orders] = []


def close_order(order_id: str) -> str:
    """Close an order."""
    return f"{order_id} is closed."


def with_toolset() -> LlmAgent:
    OPENED.append(Orders())
    return agent(OPENED[-1], close_order)


WITH_TOOLSET = agent(Orders())
