"""Builds the pipeline from its configuration.

intake -> (parcel side by side with customer) -> triage -> billing or delivery -> draft -> greet -> review [-> redact]
"""

import re
from operator import add
from typing import Annotated, Any, Literal

from langchain_core.messages import SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy

from agentmut import AgentConfig
from order_pipeline.shop import CUSTOMERS, ORDERS, Carrier

ORDER = re.compile(r"\b[A-Z]-\d{4}\b")
SECRETS = re.compile(r"\S+@\S+")
ONCE_MORE = RetryPolicy(max_attempts=2, initial_interval=0.01, jitter=False)


class Desk(MessagesState, total=False):
    order_id: str
    customer: str
    status: str
    notes: Annotated[list[str], add]
    """What the colleagues before have found out; the answer is written from it."""
    leaking: bool


def intake(state: Desk) -> dict[str, Any]:
    found = ORDER.search(state["messages"][-1].text)
    return {"order_id": found.group() if found else ""}


def customer(state: Desk) -> dict[str, Any]:
    email = str(ORDERS.get(state["order_id"], {}).get("email", ""))
    return {"customer": CUSTOMERS.get(email, "friend")}


def triage(state: Desk) -> Command[Literal["billing", "delivery"]]:
    wants_money = re.search(r"refund|money|paid", state["messages"][-1].text)
    return Command(goto="billing" if wants_money else "delivery")


def billing(state: Desk) -> dict[str, Any]:
    order = ORDERS.get(state["order_id"], {"total": 0.0, "email": "nobody"})
    said = f"The refund of {order['total']} euros goes to the card of {order['email']}."
    return {"notes": [said]}


def delivery(state: Desk) -> dict[str, Any]:
    return {"notes": [f"The order {state['order_id']} is {state['status']}."]}


def greet(state: Desk) -> dict[str, Any]:
    last = state["messages"][-1]
    return {"messages": [last.model_copy(update={"content": f"Dear {state['customer']}, {last.text}"})]}


def review(state: Desk) -> dict[str, Any]:
    return {"leaking": bool(SECRETS.search(state["messages"][-1].text))}


def verdict(state: Desk) -> Literal["clean", "leaking"]:
    return "leaking" if state.get("leaking") else "clean"


def redact(state: Desk) -> dict[str, Any]:
    last = state["messages"][-1]
    return {
        "messages": [last.model_copy(update={"content": f"[checked] {SECRETS.sub('[hidden]', last.text)}"})]
    }


def build(config: AgentConfig) -> Any:
    """Return the compiled graph. Endpoint and key come from OPENAI_BASE_URL and OPENAI_API_KEY."""
    model = ChatOpenAI(model=config.model.name, temperature=config.model.temperature)
    carrier = Carrier()

    def parcel(state: Desk) -> dict[str, Any]:
        return {"status": carrier.status(state["order_id"])}

    async def draft(state: Desk) -> dict[str, Any]:
        notes = "\n".join(state["notes"])
        system = f'{config.system_text()}\n\n<document name="notes">\n{notes}\n</document>'
        reply = await model.ainvoke([SystemMessage(system), state["messages"][-1]])
        return {"messages": [reply]}

    graph = StateGraph(Desk)
    graph.add_node("intake", intake)
    graph.add_node("parcel", parcel, retry_policy=ONCE_MORE)
    graph.add_node("customer", customer)
    graph.add_node("triage", triage)
    graph.add_node("billing", billing)
    graph.add_node("delivery", delivery)
    graph.add_node("draft", draft)
    graph.add_node("greet", greet)
    graph.add_node("review", review)
    graph.add_node("redact", redact)
    graph.add_edge(START, "intake")
    graph.add_edge("intake", "parcel")
    graph.add_edge("intake", "customer")
    graph.add_edge(["parcel", "customer"], "triage")
    graph.add_edge("billing", "draft")
    graph.add_edge("delivery", "draft")
    graph.add_edge("draft", "greet")
    graph.add_edge("greet", "review")
    graph.add_conditional_edges("review", verdict, {"clean": END, "leaking": "redact"})
    graph.add_edge("redact", END)
    return graph.compile()
