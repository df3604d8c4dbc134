"""Agents of Google's ADK, as a user writes them."""

from typing import Any

from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, GenerateContentConfig, Part

MODEL = Gemini(model="sim-large")


def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


async def issue_refund(order_id: str, amount: float) -> dict[str, Any]:
    """Pay money back to the customer."""
    return {"order": order_id, "amount": amount, "paid": True}


def desk() -> LlmAgent:
    """One agent with two tools."""
    return LlmAgent(
        name="desk",
        instruction="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
        tools=[look_up_order, issue_refund],
        model=MODEL,
        generate_content_config=GenerateContentConfig(temperature=0.3, max_output_tokens=900, seed=7),
    )


def team() -> LlmAgent:
    """One that hands over to another."""
    billing = LlmAgent(
        name="billing",
        description="Handles refunds.",
        instruction="You handle money.\n\n- Always look up the order first.\n- Refund at most 50 euros.",
        tools=[look_up_order, issue_refund],
        model=MODEL,
        disallow_transfer_to_parent=True,
    )
    return LlmAgent(
        name="triage",
        instruction="You decide who helps.\n\n- Hand refunds to billing.\n- Greet the customer.",
        sub_agents=[billing],
        model=MODEL,
    )


def pipeline() -> SequentialAgent:
    """One agent after the other; the second is given what the first has found."""
    finder = LlmAgent(
        name="finder",
        instruction="You find orders.\n\n- Always look up the order.\n- Say what you found in one sentence.",
        tools=[look_up_order],
        output_key="found",
        model=MODEL,
    )
    writer = LlmAgent(
        name="writer",
        instruction="You write to customers. This was found: {found}\n\n- Be kind.",
        tools=[issue_refund],
        model=MODEL,
    )
    return SequentialAgent(name="pipeline", sub_agents=[finder, writer])


async def direct(agent: LlmAgent, text: str) -> str:
    """The agent's answer by ADK alone."""
    sessions = InMemorySessionService()
    runner = Runner(app_name="direct", agent=agent, session_service=sessions)
    session = await sessions.create_session(app_name="direct", user_id="user")
    asked = Content(role="user", parts=[Part(text=text)])
    said = ""
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=asked):
        if event.is_final_response() and event.content:
            said = "".join(part.text or "" for part in event.content.parts or ())
    return said
