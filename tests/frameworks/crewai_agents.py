"""Crews of CrewAI, as a user writes them."""

import asyncio
import os
from functools import cache

from crewai import LLM, Agent, Crew, Task
from crewai.tools import BaseTool, tool


@tool("Look up order")
def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


class IssueRefund(BaseTool):
    """A tool that is a class, and async."""

    name: str = "issue_refund"
    description: str = "Pay money back to the customer."

    async def _run(self, order_id: str, amount: float) -> str:
        await asyncio.sleep(0)
        return f"{amount} euros for {order_id} are on their way."


def model(temperature: float | None = None) -> LLM:
    """One for all crews of a service: its clients take long to make."""
    return _model(os.environ.get("OPENAI_BASE_URL", ""), temperature)


@cache
def _model(url: str, temperature: float | None) -> LLM:
    return LLM(model="sim-large", provider="openai", base_url=url or None, temperature=temperature)


def clerk(llm: LLM) -> Agent:
    return Agent(
        role="Clerk",
        goal="Help the customer.",
        backstory="You work in a shop.\n\n- Always look up the order before you answer.\n- Never promise a date.",
        tools=[look_up_order, IssueRefund()],
        llm=llm,
    )


def desk() -> Crew:
    """One agent with two tools, and one task."""
    agent = clerk(model(0.3))
    reply = Task(
        name="reply",
        description="Answer the customer: {input}",
        expected_output="A short answer.\n\n- Greet the customer.",
        agent=agent,
    )
    return Crew(agents=[agent], tasks=[reply])


def two_steps() -> Crew:
    """Two agents with a task each; the second is passed what the first found."""
    llm = model()
    agent = clerk(llm)
    writer = Agent(
        role="Writer", goal="Write friendly letters.", backstory="You write.\n\n- Be brief.", llm=llm
    )
    find = Task(
        name="find",
        description="Find out what happened to the order: {input}",
        expected_output="The facts about the order.",
        agent=agent,
    )
    write = Task(
        name="write", description="Write the answer to: {input}", expected_output="A letter.", agent=writer
    )
    return Crew(agents=[agent, writer], tasks=[find, write])


async def direct(agent: Crew, text: str) -> str:
    """The crew by CrewAI alone."""
    return str((await agent.kickoff_async(inputs={"input": text})).raw)
