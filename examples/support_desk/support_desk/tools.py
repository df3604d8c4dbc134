"""What the assistant can do. In production these call the shop's systems; here they call `shop`."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool

from support_desk.shop import ORDERS, STOCK

OrderId = Annotated[str, "Order number, such as A-1234"]
UNKNOWN = {"error": "no such order"}


@tool
def lookup_order(order_id: OrderId) -> dict[str, Any]:
    """Look up an order: where it is, its status, its items and its total amount."""
    order = ORDERS.get(order_id)
    return {k: v for k, v in order.items() if k != "email"} if order else UNKNOWN


@tool
def verify_identity(
    order_id: OrderId, email: Annotated[str, "Email address that was given"]
) -> dict[str, Any]:
    """Verify the identity of the person writing, by the email address on file."""
    order = ORDERS.get(order_id)
    return {"verified": order["email"] == email.lower()} if order else UNKNOWN


@tool
def issue_refund(
    order_id: OrderId, amount: Annotated[float, "Amount in euros, at most the total of the order"]
) -> dict[str, Any]:
    """Issue a refund: sends the money back to the card. Cannot be undone."""
    return {"refunded": amount, "reference": f"RF-{order_id[2:]}"} if order_id in ORDERS else UNKNOWN


@tool
def create_return_label(order_id: OrderId) -> dict[str, Any]:
    """Create a prepaid return label for sending goods back."""
    return {"label": f"https://labels.example.com/{order_id}"} if order_id in ORDERS else UNKNOWN


@tool
def cancel_order(order_id: OrderId) -> dict[str, Any]:
    """Cancel an order completely."""
    return {"cancelled": order_id} if order_id in ORDERS else UNKNOWN


@tool
def check_stock(product: Annotated[str, "Name of the product"]) -> dict[str, Any]:
    """Check how many pieces of a product are in stock."""
    return {"product": product, "in_stock": STOCK.get(product.lower(), 0)}


@tool
def escalate_to_human(summary: Annotated[str, "What the case is about"]) -> dict[str, Any]:
    """Escalate the case to a human colleague, who takes over."""
    return {"queue": "second level", "ticket": f"T-{100 + len(summary)}"}


TOOLS: list[BaseTool] = [
    lookup_order,
    verify_identity,
    issue_refund,
    create_return_label,
    cancel_order,
    check_stock,
    escalate_to_human,
]
