"""The crew that agentmut breaks. Put your own in its place."""

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool


@tool("track_parcel")
def track_parcel(order_id: str) -> str:
    """Find out where the parcel of an order is and when it arrives."""
    return f"The parcel of order {order_id} arrives in 2 days."


@tool("issue_refund")
def issue_refund(order_id: str) -> str:
    """Pay back the price of an order to the customer."""
    return f"Order {order_id} is refunded, the money arrives within 5 days."


RULES = """You answer the customers of a small shop.

- Always greet the customer with "Hello!".
- If the customer asks about a delivery, you must track the parcel and say when it arrives.
- If the customer asks for a refund, you must issue the refund and say when the money arrives.
- Never promise a guarantee."""


def build() -> Crew:
    """Return a fresh crew; agentmut reads its texts, tools and model, and changes them in a copy."""
    clerk = Agent(
        role="Shop clerk",
        goal="Help the customer.",
        backstory=RULES,
        tools=[track_parcel, issue_refund],
        llm=LLM(model="sim-large", provider="openai", temperature=0.7),  # put the name of your model here
    )
    reply = Task(
        name="reply",
        description="Answer the customer: {input}",  # what a scenario's user says
        expected_output="An answer in at most 80 words.",
        agent=clerk,
    )
    return Crew(agents=[clerk], tasks=[reply])
