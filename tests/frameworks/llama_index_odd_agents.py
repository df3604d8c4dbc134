"""Agents of LlamaIndex as they occur less often, and some that cannot be run."""

from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.llms import MockLLM
from llama_index.core.objects import ObjectRetriever
from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context, InputRequiredEvent, StartEvent, StopEvent, Workflow, step
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai_like import OpenAILike

from agentmut.nouns.config import AgentConfig
from tests.frameworks.llama_index_agents import look_up_order, model


def desk(*tools: Any, **options: Any) -> FunctionAgent:
    return FunctionAgent(name="desk", system_prompt="You help.", tools=list(tools), llm=model(), **options)


def plain() -> FunctionAgent:
    return desk(look_up_order)


LATER: list[Any] = []
"""Tools that agents have once a test puts them there."""


def growing() -> FunctionAgent:
    """It has one tool at first, and one that a retriever finds."""
    return desk(look_up_order, *LATER, tool_retriever=Retriever.__new__(Retriever))


def from_config(config: AgentConfig) -> FunctionAgent:
    return desk(look_up_order).model_copy(update={"system_prompt": f"Said by the factory: {config.prompt}"})


async def remember(ctx: Context, order_id: str) -> dict[str, int]:
    """Remember an order."""
    seen = await ctx.store.get("seen", default=[])
    await ctx.store.set("seen", [*seen, order_id])
    return {"seen": len(seen) + 1}


def with_context() -> FunctionAgent:
    return desk(remember)


def failing() -> FunctionAgent:
    def look_up_order(order_id: str) -> str:
        """Look up an order."""
        raise LookupError(f"no order {order_id}")

    return desk(look_up_order)


class Closed(AsyncBaseTool):  # type: ignore[misc]  # the framework is not there where types are checked
    """A tool that is no function, and says itself that it failed."""

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata(name="look_up_order", description="Look up an order.")

    def call(self, input: str) -> ToolOutput:
        return ToolOutput("look_up_order", f"{input}: closed", raw_input={}, raw_output=None, is_error=True)

    async def acall(self, input: str) -> ToolOutput:
        return self.call(input)


def closed() -> FunctionAgent:
    return desk(Closed())


def direct_answer() -> FunctionAgent:
    return desk(FunctionTool.from_defaults(look_up_order, return_direct=True))


def dressed() -> FunctionAgent:
    """A tool with arguments that the model is not told of, and another text for the model."""

    def look_up_order(order_id: str, shop: str) -> str:
        """Look up an order."""
        return f"{order_id} of {shop}"

    tool = FunctionTool.from_defaults(
        look_up_order, partial_params={"shop": "ours"}, callback=lambda found: f"Found: {found}"
    )
    return desk(tool)


class Retriever(ObjectRetriever):  # type: ignore[misc]  # as above
    """Finds the same tool whatever it is asked."""

    def __init__(self) -> None:
        """It searches nothing."""

    async def aretrieve(self, asked: Any) -> list[FunctionTool]:
        return [FunctionTool.from_defaults(look_up_order)]


def retrieving() -> FunctionAgent:
    return desk(tool_retriever=Retriever.__new__(Retriever))


def generating() -> FunctionAgent:
    return desk(look_up_order, early_stopping_method="generate")


def structured() -> FunctionAgent:
    return desk(structured_output_fn=lambda messages: {"messages": len(messages)})


async def ask_a_person(ctx: Context, question: str) -> str:
    """Ask a person."""
    await ctx.wait_for_event(StopEvent, waiter_event=InputRequiredEvent(prefix=question), waiter_id="one")
    return "Nobody is there."


def waiting() -> FunctionAgent:
    return desk(ask_a_person)


def known_to_openai() -> FunctionAgent:
    return FunctionAgent(llm=OpenAI(model="gpt-4o", reasoning_effort="high"), tools=[look_up_order])


def thinking_hard() -> FunctionAgent:
    return FunctionAgent(llm=OpenAI(model="o3-mini", reasoning_effort="high"), tools=[look_up_order])


def of_no_service() -> ReActAgent:
    return ReActAgent(llm=MockLLM(), system_prompt="You help.", tools=[look_up_order])


KEPT = plain()
"""Of tests, which put one in its place whose client knows where they are."""


# What cannot be run.


class Other(Workflow):  # type: ignore[misc]  # as above
    """A workflow without agents."""

    @step  # type: ignore[untyped-decorator]
    async def end(self, event: StartEvent) -> StopEvent:
        return StopEvent("Hello.")


def of_another_kind() -> Other:
    return Other()


def in_code() -> CodeActAgent:
    return CodeActAgent(code_execute_fn=print, llm=model(), tools=[look_up_order])


def with_code_among_them() -> AgentWorkflow:
    coder = CodeActAgent(name="coder", description="Writes code.", code_execute_fn=print, llm=model())
    return AgentWorkflow(
        agents=[desk().model_copy(update={"description": "Helps."}), coder], root_agent="desk"
    )


def without_functions() -> FunctionAgent:
    return FunctionAgent(llm=OpenAILike(model="sim-large", is_chat_model=True), tools=[look_up_order])


async def in_pieces() -> Any:
    yield "Hello."


class Deployed(OpenAILike):  # type: ignore[misc]  # as above
    """As LlamaIndex's client for Azure: it asks by its engine."""

    engine: str = "sim-large"


def deployed() -> ReActAgent:
    return ReActAgent(llm=Deployed(model="sim-large", api_key="none"), tools=[look_up_order])


def raising() -> FunctionAgent:
    raise KeyError("API_TOKEN")
