"""Agents of the OpenAI Agents SDK that answer from a script, and some that an adapter has to refuse."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from agents import (
    Agent,
    GuardrailFunctionOutput,
    Handoff,
    Model,
    ModelResponse,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunContextWrapper,
    Runner,
    ToolGuardrailFunctionOutput,
    Usage,
    function_tool,
    handoff,
    input_guardrail,
    output_guardrail,
    tool_input_guardrail,
)
from agents.extensions import handoff_filters
from openai import AsyncAzureOpenAI, AsyncOpenAI
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import BaseModel

from agentmut.nouns.config import AgentConfig
from tests.frameworks.openai_agents_agents import issue_refund, look_up_order

PROMPT = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."


class Scripted(Model):
    """Gives its replies one after the other: a text, or the calls of one reply. It has no name."""

    def __init__(self, *replies: str | list[tuple[str, dict[str, Any]]]) -> None:
        self.replies = list(replies)
        self.seen: list[Any] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *rest: Any, **named: Any
    ) -> ModelResponse:
        """The next reply."""
        self.seen.append((system_instructions, input, rest))
        number, reply = len(self.seen), self.replies.pop(0)
        said = (
            [_message(reply)]
            if isinstance(reply, str)
            else [
                ResponseFunctionToolCall(
                    type="function_call",
                    call_id=f"call-{name}-{number}-{place}",
                    name=name,
                    arguments=json.dumps(given),
                )
                for place, (name, given) in enumerate(reply)
            ]
        )
        return ModelResponse(output=list(said), usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **named: Any) -> AsyncIterator[Any]:
        """Never asked for."""
        raise NotImplementedError


def _message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


LOOK_UP = ("look_up_order", {"order_id": "A-1"})


def said(*replies: Any, **options: Any) -> Agent:
    """One agent with that script."""
    options.setdefault("tools", [look_up_order])
    return Agent(name="desk", instructions="Be kind.", model=Scripted(*replies), **options)


LATER: list[Any] = []
"""Tools that agents have once a test puts them there."""


def growing() -> Agent:
    """It asks for a tool that it does not have at first."""
    return said([("issue_refund", {"order_id": "A-1", "amount": 2})], "Paid.", tools=[look_up_order, *LATER])


@input_guardrail
async def no_homework(context: Any, agent: Any, asked: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput({"asked": len(asked)}, tripwire_triggered="homework" in str(asked))


@output_guardrail
def no_secrets(context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput("a secret", tripwire_triggered="secret" in output)


@tool_input_guardrail
def no_others(data: Any) -> ToolGuardrailFunctionOutput:
    if "A-1" in data.context.tool_arguments:
        return ToolGuardrailFunctionOutput.allow()
    return ToolGuardrailFunctionOutput.raise_exception({"found": data.context.tool_arguments})


def guarded() -> Agent:
    """Both kinds of guardrails of agents; the second reply would be one to keep."""
    return said(
        "Hello.",
        "The secret is 7.",
        "Bye.",
        "Bye, too.",
        input_guardrails=[no_homework],
        output_guardrails=[no_secrets],
    )


@function_tool(tool_input_guardrails=[no_others])
def look_up_own_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


def guarded_tool() -> Agent:
    calls = [[("look_up_own_order", {"order_id": number})] for number in ("A-1", "B-2")]
    return said(*calls, tools=[look_up_own_order])


def chat() -> Agent:
    """Chat Completions, by a model object with a client of its own."""
    return _by(OpenAIChatCompletionsModel("sim-large", AsyncOpenAI(api_key="none")))


def responses() -> Agent:
    """Responses, by a model object."""
    return _by(OpenAIResponsesModel("sim-large", AsyncOpenAI(api_key="none")))


def _by(model: Model) -> Agent:
    settings = ModelSettings(temperature=0.9, tool_choice="look_up_order", max_tokens=900)
    return Agent(
        name="desk",
        instructions=PROMPT,
        model=model,
        model_settings=settings,
        tools=[look_up_order, issue_refund],
    )


class Reason(BaseModel):
    """Why a customer is handed over."""

    reason: str


NOTED: list[str] = []


async def note(context: Any, given: Reason) -> None:
    NOTED.append(given.reason)


def levels() -> Agent:
    """Two levels below the first, with hand-offs of all kinds; the script goes down to the last."""
    boss = said("Done by the boss.", tools=[], handoff_description="Decides.").clone(name="boss")
    clerk = said([("ask_boss", {})], tools=[]).clone(
        name="clerk",
        handoffs=[
            handoff(boss, tool_name_override="ask_boss", input_filter=handoff_filters.remove_all_tools)
        ],
    )
    other = said("Done by another.", tools=[]).clone(name="other")
    first = handoff(clerk, tool_name_override="to_clerk", input_type=Reason, on_handoff=note)
    return said([("to_clerk", {"reason": "money"})], tools=[], handoffs=[first, other])


def three() -> Agent:
    """Two that a model may hand over to."""
    billing = Agent(
        name="billing", instructions="You handle money.", model="sim-large", tools=[look_up_order]
    )
    sales = Agent(name="sales", instructions="You sell.", model="sim-large", tools=[look_up_order])
    prompt = "You decide who helps.\n\n- Hand refunds to billing."
    return Agent(name="triage", instructions=prompt, model="sim-large", handoffs=[billing, sales])


def broken_handoff() -> Agent:
    clerk = Agent(name="clerk", model=Scripted("Hello."))
    first = handoff(clerk, tool_name_override="to_clerk", input_type=Reason, on_handoff=note)
    return said([("to_clerk", {"why": "money"})], handoffs=[first])


def twins() -> Agent:
    return said("Hello.", handoffs=[Agent(name="clerk"), Agent(name="clerk")])


def decided_in_the_run() -> Agent:
    async def chosen(context: Any, text: str) -> Agent:
        return Agent(name="clerk")

    free = Handoff(
        tool_name="to_anybody",
        tool_description="Ask anybody.",
        input_json_schema={},
        on_invoke_handoff=chosen,
        agent_name="anybody",
    )
    return said("Hello.", handoffs=[free])


def dynamic() -> Agent:
    """A function makes its instructions."""
    return said("Hello.").clone(instructions=lambda context, agent: f"You are {agent.name}.")


def dynamic_online() -> Agent:
    return Agent(
        name="desk", instructions=lambda run, agent: f"You are {agent.name}. Be kind.", model="sim-large"
    )


def nameless() -> Agent:
    return said("Hello.")


class Streaming(Scripted):
    """It only answers piece by piece."""

    async def get_response(self, *args: Any, **named: Any) -> ModelResponse:
        raise NotImplementedError("use stream_response")


def streaming() -> Agent:
    return Agent(name="desk", model=Streaming())


async def in_pieces() -> AsyncIterator[str]:
    yield "Hello."


def deployed() -> Agent:
    client = AsyncAzureOpenAI(
        azure_endpoint="http://127.0.0.1:9",
        azure_deployment="sim-large",
        api_key="none",
        api_version="2024-10-21",
    )
    return Agent(name="desk", model=OpenAIChatCompletionsModel("sim-large", client))


@function_tool
def fails(order_id: str) -> str:
    """Always fails."""
    raise ValueError(f"{order_id} is broken")


@function_tool(failure_error_function=None)
def fails_for_good(order_id: str) -> str:
    """Ends the run."""
    raise ValueError(f"{order_id} is broken")


@function_tool(timeout=0.02)
async def hangs(order_id: str) -> str:
    """Never answers."""
    await asyncio.sleep(60)
    return order_id


@function_tool(needs_approval=True)
def pays(order_id: str) -> str:
    """Needs an approval."""
    return order_id


def failing() -> Agent:
    return said([("fails", {"order_id": "A-1"})], "Sorry.", tools=[fails])


def failing_for_good() -> Agent:
    return said([("fails_for_good", {"order_id": "A-1"})], tools=[fails_for_good])


def hanging() -> Agent:
    return said([("hangs", {"order_id": "A-1"})], "Sorry.", tools=[hangs])


def waiting() -> Agent:
    return said([("pays", {"order_id": "A-1"})], tools=[pays])


def parallel() -> Agent:
    """Three calls in one reply."""
    numbers = ["A-1", "A-2", "A-3"]
    return said([("look_up_order", {"order_id": number}) for number in numbers], "Monday, all of them.")


def ending() -> Agent:
    """A call of the tool ends the run; its model knows it by the name that a mutant gives it."""
    return said([("find", {"order_id": "A-1"})], tool_use_behavior={"stop_at_tool_names": ["look_up_order"]})


def asking_inside() -> Agent:
    """A tool that runs another agent itself, without a word on tracing."""

    @function_tool
    async def consult(topic: str) -> str:
        """Ask a colleague."""
        inner = Agent(name="colleague", instructions="Be brief.", model="sim-large")
        return str((await Runner.run(inner, topic)).final_output)

    return said([("consult", {"topic": "tea"})], "Done.", tools=[consult])


def agent_as_a_tool() -> Agent:
    """The SDK's own way to do so."""
    inner = Agent(name="colleague", instructions="Be brief.", model="sim-large")
    tool = inner.as_tool("consult", "Ask a colleague.")
    return said([("consult", {"input": "tea"})], "Done.", tools=[tool])


@dataclass
class Customer:
    """What the tools of a run are told."""

    number: int = 7
    asked: int = 0


@function_tool
def own_number(run: RunContextWrapper[Customer]) -> str:
    """The customer's number."""
    run.context.asked += 1
    return f"{run.context.number}, asked {run.context.asked} times"


def with_context() -> Agent:
    return said([("own_number", {})], [("own_number", {})], "Done.", tools=[own_number])


# the agent itself, for all trials
SHARED = Agent(name="desk", instructions=PROMPT, tools=[look_up_order, issue_refund], model="sim-large")


def no_agent() -> str:
    return "desk"


async def coming() -> Agent:
    return said("Hello.")


def broken() -> Agent:
    raise ValueError("no key")


def dynamic_from_config(config: AgentConfig) -> Agent:
    """A function that takes the config may do with it what it likes."""
    return said("Hello.").clone(instructions=lambda context, agent: config.prompt)
