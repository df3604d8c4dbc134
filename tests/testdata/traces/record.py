"""Record small agents with the real instrumentations of OpenTelemetry and OpenInference, against the simulator.

    python3.11 -m venv /tmp/record && /tmp/record/bin/pip install -r tests/testdata/traces/requirements.txt
    agentmut simulate -- /tmp/record/bin/python tests/testdata/traces/record.py

writes one OTLP/JSON file for each instrumentation beside this file, or those that are named as arguments. Each has a
process of its own, since instrumentations patch for good. `openai_v2 traceloop_old` take an environment of their own,
requirements-old.txt; so do `traceloop_anthropic openinference_crewai`, requirements-apart.txt.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).parent
PROMPT = (
    "You are a support agent. Look up the order with track_order before you answer. Say what its status is."
)
QUESTIONS = ("Where is my order W1?", "What about order W2?")
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOL = {
    "type": "function",
    "function": {"name": "track_order", "description": "Look up an order by its id.", "parameters": SCHEMA},
}


def track_order(order_id: str) -> str:
    """Look up an order by its id."""
    if "W1" not in order_id:
        raise LookupError(f"there is no order {order_id}")
    return json.dumps({"order": order_id, "status": "shipped"})


def provider(name: str) -> Any:
    """Return a tracer provider that writes OTLP/JSON lines with OpenTelemetry's own exporter."""
    from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    file = HERE / f"{name}.jsonl"
    file.unlink(missing_ok=True)
    made = TracerProvider(resource=Resource({"service.name": "desk", "service.version": "1.4.0"}))
    made.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(file))))
    return made


@contextmanager
def spans(tracer: Any, name: str, **attributes: str) -> Iterator[Any]:
    """A span of the GenAI conventions, as an agent's own code writes it around calls that an SDK's are in."""
    with tracer.start_as_current_span(name) as span:
        for key, value in attributes.items():
            span.set_attribute(f"gen_ai.{key.replace('__', '.')}", value)
        yield span


def loop(tracer: Any, question: str) -> str:
    """A tool loop on the OpenAI SDK, in spans of its own for the agent and its tools."""
    from openai import OpenAI

    client = OpenAI()
    said: list[Any] = [{"role": "system", "content": PROMPT}, {"role": "user", "content": question}]
    with spans(tracer, "invoke_agent desk", operation__name="invoke_agent", agent__name="desk"):
        for _ in range(4):
            reply = client.chat.completions.create(model="sim-large", messages=said, tools=[TOOL])
            message = reply.choices[0].message
            said.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            said += [answered(tracer, call) for call in message.tool_calls]
    return ""


def answered(tracer: Any, call: Any) -> dict[str, Any]:
    """The result of a call, in a span of the conventions."""
    name, arguments = call.function.name, call.function.arguments
    about = {"operation__name": "execute_tool", "tool__name": name, "tool__call__id": call.id}
    with spans(tracer, f"execute_tool {name}", **about, tool__call__arguments=arguments) as span:
        try:
            result = track_order(**json.loads(arguments))
        except LookupError as error:
            span.set_attribute("error.type", type(error).__name__)
            result = f"error: {error}"
        span.set_attribute("gen_ai.tool.call.result", result)
    return {"role": "tool", "tool_call_id": call.id, "content": result}


def openai_v2(name: str) -> None:
    """The contributed instrumentation of OpenTelemetry, with the current names."""
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    made = provider(name)
    OpenAIInstrumentor().instrument(tracer_provider=made)
    for question in QUESTIONS:
        loop(made.get_tracer("desk"), question)


def traceloop(name: str) -> None:
    """Traceloop's instrumentation of the OpenAI SDK, whose names are older in part."""
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    made = provider(name)
    OpenAIInstrumentor().instrument(tracer_provider=made)
    for question in QUESTIONS:
        loop(made.get_tracer("desk"), question)


def traceloop_old(name: str) -> None:
    """Traceloop's instrumentation with the names of 2025, `gen_ai.prompt.0.content` and so on."""
    traceloop(name)


def openinference_openai(name: str) -> None:
    """OpenInference's instrumentation of the OpenAI SDK: model calls alone, in an agent's own span."""
    from openinference.instrumentation.openai import OpenAIInstrumentor

    made = provider(name)
    OpenAIInstrumentor().instrument(tracer_provider=made)
    tracer = made.get_tracer("desk")
    for question in QUESTIONS:
        with tracer.start_as_current_span("desk") as span:
            span.set_attribute("openinference.span.kind", "AGENT")
            span.set_attribute("input.value", question)
            span.set_attribute("output.value", loop(made.get_tracer("none"), question))


def openinference_agents(name: str) -> None:
    """OpenInference's instrumentation of the OpenAI Agents SDK, with a hand-off."""
    from agents import Agent, Runner, function_tool, set_default_openai_api
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    made = provider(name)
    OpenAIAgentsInstrumentor().instrument(tracer_provider=made)
    set_default_openai_api("chat_completions")
    orders = Agent(name="orders", instructions=PROMPT, model="sim-large", tools=[function_tool(track_order)])
    ask = "You are the front desk. Transfer questions about an order with transfer_to_orders."
    front = Agent(name="front", instructions=ask, model="sim-large", handoffs=[orders])
    for question in QUESTIONS:
        Runner.run_sync(front, question)


def openinference_langchain(name: str) -> None:
    """OpenInference's instrumentation of LangChain, on a graph of LangGraph."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from openinference.instrumentation.langchain import LangChainInstrumentor

    made = provider(name)
    LangChainInstrumentor().instrument(tracer_provider=made)
    agent = create_agent(ChatOpenAI(model="sim-large"), tools=[kind_track_order], system_prompt=PROMPT)
    for question in QUESTIONS:
        agent.invoke({"messages": [{"role": "user", "content": question}]})


def traceloop_langchain(name: str) -> None:
    """Traceloop's instrumentation of LangChain, on a graph of LangGraph."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor

    made = provider(name)
    LangchainInstrumentor().instrument(tracer_provider=made)
    agent = create_agent(ChatOpenAI(model="sim-large"), tools=[kind_track_order], system_prompt=PROMPT)
    for question in QUESTIONS:
        agent.invoke({"messages": [{"role": "user", "content": question}]})


def kind_track_order(order_id: str) -> str:
    """Look up an order by its id."""
    try:
        return track_order(order_id)
    except LookupError as error:
        return f"error: {error}"


kind_track_order.__name__ = "track_order"


def traceloop_anthropic(name: str) -> None:
    """Traceloop's instrumentation of the Anthropic SDK."""
    from anthropic import Anthropic
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

    made = provider(name)
    AnthropicInstrumentor().instrument(tracer_provider=made)
    for question in QUESTIONS:
        anthropic_loop(made.get_tracer("desk"), Anthropic(), question)


def anthropic_loop(tracer: Any, client: Any, question: str) -> str:
    """Run a tool loop on the Anthropic SDK, in spans of its own for the agent and its tools."""
    tool = {"name": "track_order", "description": "Look up an order by its id.", "input_schema": SCHEMA}
    said: list[Any] = [{"role": "user", "content": question}]
    with spans(tracer, "invoke_agent desk", operation__name="invoke_agent", agent__name="desk"):
        for _ in range(4):
            reply = client.messages.create(
                model="sim-large", max_tokens=500, system=PROMPT, messages=said, tools=[tool]
            )
            said.append(
                {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in reply.content]}
            )
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return str(reply.content[0].text)
            said.append({"role": "user", "content": [anthropic_result(tracer, call) for call in calls]})
    return ""


def anthropic_result(tracer: Any, call: Any) -> dict[str, Any]:
    """The result of a call as Anthropic takes it, in a span of the conventions."""
    asked = SimpleNamespace(name=call.name, arguments=json.dumps(call.input))
    content = answered(tracer, SimpleNamespace(id=call.id, function=asked))["content"]
    return {"type": "tool_result", "tool_use_id": call.id, "content": content}


def openinference_crewai(name: str) -> None:
    """OpenInference's instrumentations of CrewAI and of the OpenAI SDK below it."""
    os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["CREWAI_DISABLE_TRACKING"] = "true"
    from crewai import LLM, Agent, Crew, Task
    from crewai.tools import tool
    from openinference.instrumentation.crewai import CrewAIInstrumentor
    from openinference.instrumentation.openai import OpenAIInstrumentor

    made = provider(name)
    CrewAIInstrumentor().instrument(tracer_provider=made, skip_dep_check=True)
    OpenAIInstrumentor().instrument(tracer_provider=made)
    for question in QUESTIONS:
        desk = Agent(
            role="desk", goal="Answer.", backstory=PROMPT, llm=LLM(model="sim-large", provider="openai"),
            tools=[tool("track_order")(kind_track_order)],
        )  # fmt: skip
        task = Task(description=question, expected_output="the status of the order", agent=desk)
        Crew(agents=[desk], tasks=[task]).kickoff()


def pydantic_ai(name: str) -> None:
    """pydantic-ai's own instrumentation."""
    from pydantic_ai import Agent, InstrumentationSettings

    made = provider(name)
    Agent.instrument_all(InstrumentationSettings(tracer_provider=made))
    agent = Agent("openai-chat:sim-large", system_prompt=PROMPT, name="desk")
    agent.tool_plain(kind_track_order)
    for question in QUESTIONS:
        agent.run_sync(question)


CURRENT = (
    traceloop, traceloop_langchain, openinference_openai, openinference_agents, openinference_langchain, pydantic_ai,
)  # fmt: skip
OLDER = (openai_v2, traceloop_old)
"""What cannot share an environment with the others: see requirements-old.txt."""
APART = (traceloop_anthropic, openinference_crewai)
"""What takes the packages of requirements-apart.txt."""


if __name__ == "__main__":
    ways: dict[str, Callable[[str], None]] = {way.__name__: way for way in (*CURRENT, *OLDER, *APART)}
    wanted = sys.argv[1:] or [way.__name__ for way in CURRENT]
    if len(wanted) == 1:
        ways[wanted[0]](wanted[0])
    else:
        for one in wanted:
            subprocess.run([sys.executable, __file__, one], check=True)
