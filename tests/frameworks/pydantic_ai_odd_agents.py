"""Agents of pydantic-ai that answer from a script, and some that an adapter has to refuse."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, CallDeferred, DeferredToolRequests, ModelRetry, RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturn,
)
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset

from tests.frameworks.pydantic_ai_agents import issue_refund, look_up_order

Script = Callable[[list[ModelMessage], AgentInfo], ModelResponse]


def said(*replies: str | Sequence[ToolCallPart]) -> FunctionModel:
    """A model that gives those replies, one after the other, in each run."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = sum(isinstance(message, ModelResponse) for message in messages)
        given = replies[done % len(replies)]
        return ModelResponse(parts=[TextPart(given)] if isinstance(given, str) else list(given))

    return FunctionModel(reply)


def told(describe: Script | None = None) -> FunctionModel:
    """A model that answers with what it was told: system prompts, instructions, tools, settings."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompts = [
            str(part.content)
            for message in messages
            for part in message.parts
            if isinstance(part, SystemPromptPart)
        ]
        tools = ", ".join(tool.name for tool in info.function_tools)
        settings = sorted((info.model_settings or {}).items())
        return ModelResponse(
            parts=[TextPart(f"system={prompts} instructions={info.instructions!r} tools={tools} {settings}")]
        )

    return FunctionModel(reply)


def call(tool: str, number: int = 1, **arguments: Any) -> ToolCallPart:
    """A call of a tool."""
    return ToolCallPart(tool, arguments, tool_call_id=f"call-{number}")


# Prompts.


def prompted() -> Agent[Any, str]:
    """One with a system prompt, a function that adds to it, and no instructions."""
    agent = Agent(told(), system_prompt="- Be kind.")

    @agent.system_prompt
    def more() -> str:
        return "It is Monday."

    return agent


def mixed() -> Agent[Any, str]:
    """One with system prompts, instructions, and a function that makes more of them."""
    agent = Agent(told(), system_prompt="You are a desk.", instructions=["- Be kind.", "- Be brief."])

    @agent.instructions
    def more() -> str:
        return "It is Monday."

    return agent


def unprompted() -> Agent[Any, str]:
    """One without any prompt."""
    return Agent(told())


# Calls of tools.


def confused() -> Agent[Any, str]:
    """It calls a tool that there is not, and one without its argument."""
    return Agent(
        said(
            [call("no_such_tool", 1)],
            [call("look_up_order", 2, order="A-1")],
            [call("look_up_order", 3, order_id="A-1")],
            "Sorry.",
        ),
        tools=[look_up_order],
        retries=3,
    )


def confused_again() -> Agent[Any, str]:
    """As a model of a service that counts the calls of each reply anew."""
    return Agent(
        said(
            [call("look_up_order", order_id="A-1")],
            [call("no_such_tool")],
            [call("look_up_order", order="A-1")],
            [call("look_up_order", order_id="A-2")],
            "Sorry.",
        ),
        tools=[look_up_order],
        retries=3,
    )


def lost() -> Agent[Any, str]:
    """It calls its tool wrongly until its retries are used up."""
    return Agent(said([call("look_up_order", 1, order="A-1")]), tools=[look_up_order], retries=0)


def insistent() -> Agent[Any, str]:
    """Its tool asks for another attempt."""
    agent = Agent(
        said([call("refund", 1, amount=1)], [call("refund", 2, amount=9)], "Done."), deps_type=type(None)
    )

    @agent.tool_plain
    def refund(amount: float) -> str:
        """Pay back."""
        if amount < 5:
            raise ModelRetry("more than that")
        return "paid"

    return agent


class Order(BaseModel):
    """An order."""

    order_id: str
    gift: bool = False


def ordering() -> Agent[Any, str]:
    """Two calls at once of a tool that takes a model and gives one."""
    agent = Agent(
        said([call("check", 1, order_id="A-1"), call("check", 2, order_id="A-2", gift=True)], "Checked.")
    )

    @agent.tool_plain
    def check(order: Order) -> Order:
        """Check an order."""
        return order

    return agent


def structured() -> Agent[Any, Order]:
    """It answers with a model."""
    return Agent(
        said([call("look_up_order", 1, order_id="A-1")], [call("final_result", 2, order_id="A-1")]),
        output_type=Order,
        tools=[look_up_order],
    )


# Tools that are not functions of the agent.


def with_toolsets() -> Agent[Any, str]:
    """Tools of two toolsets, one of which has names of its own for them."""
    return Agent(
        said(
            [call("shop_look_up_order", 1, order_id="A-1"), call("issue_refund", 2, order_id="A", amount=2)],
            ".",
        ),
        toolsets=[FunctionToolset([look_up_order]).prefixed("shop"), FunctionToolset([issue_refund])],
    )


@dataclass
class Shop:
    """What a run depends on."""

    name: str = "tea"
    sold: list[str] = field(default_factory=list)


SHOP = Shop("one for all")
TEXT = "no shop"


def no_shop() -> Shop:
    """Raises."""
    raise RuntimeError("closed")


async def late_shop() -> Shop:
    """A function that would have to be awaited."""
    return Shop()


def shopping() -> Agent[Shop, str]:
    """Its tools and instructions need what it depends on."""
    agent = Agent(
        said([call("sell", 1, what="tea")], [call("sell", 2, what="milk")], "Sold."), deps_type=Shop
    )

    async def if_open(ctx: RunContext[Shop], tool: ToolDefinition) -> ToolDefinition | None:
        return tool if ctx.deps.name else None

    @agent.tool(prepare=if_open)
    def sell(ctx: RunContext[Shop], what: str, amount: int = 1) -> list[str]:
        """Sell something."""
        ctx.deps.sold.append(what)
        return [*ctx.deps.sold]

    return agent


def later() -> Agent[Any, str]:
    """It has another tool from its second request on."""
    agent = Agent(said([call("first", 1)], [call("second", 2)], "."))

    async def not_at_first(ctx: RunContext[Any], tool: ToolDefinition) -> ToolDefinition | None:
        return tool if ctx.run_step > 1 else None

    @agent.tool_plain
    def first() -> str:
        """The first."""
        return "one"

    @agent.tool_plain(prepare=not_at_first)
    def second() -> str:
        """The second."""
        return "two"

    return agent


def waiting() -> Agent[Any, Any]:
    """Calls that end the run: one puts itself off, one is to be approved, one is carried out elsewhere."""
    front = ToolDefinition(name="front", parameters_json_schema={"type": "object", "properties": {}})
    calls = [call(tool, number) for number, tool in enumerate(("slow", "pay", "front"), 1)]
    toolsets = [ExternalToolset([front])]
    agent = Agent(said(calls, "Done."), output_type=[str, DeferredToolRequests], toolsets=toolsets)

    @agent.tool_plain
    def slow() -> str:
        """Take long."""
        raise CallDeferred

    @agent.tool_plain(requires_approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    return agent


def explaining() -> Agent[Any, str]:
    """Its tool says more than the result."""
    agent = Agent(said([call("find")], "Found."))

    @agent.tool_plain
    def find() -> Any:
        """Find."""
        return ToolReturn("a coat", content=["It is red."], metadata={"shelf": 3})

    return agent


# Models.


def with_settings() -> Agent[Any, str]:
    """Settings that a function makes."""
    return Agent(told(), model_settings=lambda ctx: {"temperature": 0.4, "max_tokens": 50})


def wrapped() -> Agent[Any, str]:
    """A model within another."""
    return Agent(WrapperModel(OpenAIChatModel("sim-large", settings={"temperature": 0.2})))


def with_fallback() -> Agent[Any, str]:
    """A model and another for when it fails."""
    return Agent(FallbackModel(OpenAIChatModel("sim-large"), OpenAIChatModel("sim-small")))


def without_model() -> Agent[Any, str]:
    """One that is given its model when it is run."""
    return Agent(instructions="Be kind.")


def unknown_model() -> Agent[Any, str]:
    """A model of a service that there is not."""
    return Agent("nobody:gpt-9", defer_model_check=True)


# What is no agent.


def raising() -> Agent[Any, str]:
    """Raises."""
    raise RuntimeError("no database")


async def slow() -> Agent[Any, str]:
    """Async."""
    return unprompted()


def nothing() -> None:
    """Nothing."""


AGENT = Agent(said([call("look_up_order", 1, order_id="A-1")], "Here."), tools=[look_up_order])
