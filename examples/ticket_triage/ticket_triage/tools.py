"""What the assistant can do. In production these call the ticket system."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

import agentmut

CUSTOMERS: dict[str, dict[str, Any]] = {
    "ada@example.com": {"customer": "C-17", "plan": "business", "seats": 40},
    "bo@example.com": {"customer": "C-52", "plan": "free", "seats": 1},
}


@agentmut.tool
def find_customer(
    email: Annotated[str, Field(description="Email address of the customer.")],
) -> dict[str, Any]:
    """Find a customer by email address: plan and number of seats."""
    return CUSTOMERS.get(email.lower(), {"error": "no such customer"})


@agentmut.tool
def report_bug(
    severity: Annotated[Literal["low", "high", "critical"], Field(description="How bad it is.")] = "low",
    users: Annotated[int, Field(ge=1, le=5000, description="How many people it stops.")] = 1,
) -> dict[str, Any]:
    """Report a bug to the engineers."""
    return {"bug": "B-204", "severity": severity, "users": users}


@agentmut.tool
def open_invoice(
    email: Annotated[str, Field(description="Email address of the customer.")],
) -> dict[str, Any]:
    """Open the last invoice of a customer: its amount and its date."""
    return {"amount": 480.0, "date": "2 March", "customer": CUSTOMERS.get(email.lower(), {}).get("customer")}


TOOLS: list[Callable[..., Any]] = [find_customer, report_bug, open_invoice]
