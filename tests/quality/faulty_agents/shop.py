"""A small shop: what its agents know, and what their tools do."""

from typing import Any

from agentmut import tool

RETURNS = """# Returns

Unused goods can be returned within 30 days of delivery, and we pay the postage.
Gift cards cannot be returned at all.
"""
SHIPPING = """# Shipping

Express shipping arrives on the next working day.
Standard shipping takes 4 working days.
"""
PLANS = """# Plans

Plan Basic costs 9 euros a month and comes without an archive.
Plan Pro costs 29 euros a month and includes the export of reports.
Plan Enterprise costs 99 euros a month and comes with a contact of your own.
"""
POLICY = {"returns.md": RETURNS, "shipping.md": SHIPPING}
ORDERS = {"A-1042": "in transit", "A-3100": "being packed", "A-2001": "delivered"}


@tool
def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up the status of an order."""
    return {"order": order_id, "status": ORDERS.get(order_id, "unknown")}


@tool
def cancel_order(order_id: str) -> dict[str, Any]:
    """Cancel an order completely."""
    return {"cancelled": order_id}


@tool
def check_stock(product: str) -> dict[str, Any]:
    """Check how many pieces of a product are in stock."""
    return {"product": product, "in_stock": 12}


@tool
def refund_order(order_id: str, amount: float) -> dict[str, Any]:
    """Refund an amount in euros for an order."""
    return {"refunded": amount, "order": order_id}


@tool
def book_kayak(date: str) -> dict[str, Any]:
    """Book a kayak for a date (YYYY-MM-DD)."""
    return {"booked": date}


def _spec(name: str, description: str, **parameters: tuple[str, str]) -> dict[str, Any]:
    properties = {key: {"type": kind, "description": said} for key, (kind, said) in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": schema}


_ORDER = ("string", "Order number, such as A-1234")
LOOKUP = _spec("lookup_order", "Look up the status of an order.", order_id=_ORDER)
CANCEL = _spec("cancel_order", "Cancel an order completely.", order_id=_ORDER)
STOCK = _spec("check_stock", "Check how many pieces of a product are in stock.", product=("string", "Name"))
REFUND = _spec(
    "refund_order",
    "Refund an amount in euros for an order.",
    order_id=_ORDER,
    amount=("number", "Amount in euros"),
)
KAYAK = _spec("book_kayak", "Book a kayak for a date.", date=("string", "Date, YYYY-MM-DD"))
DESK = [LOOKUP, CANCEL, STOCK]
CASHIER = [LOOKUP, REFUND]
RENTAL = [KAYAK, STOCK]
TOOLBOX = (lookup_order, cancel_order, check_stock, refund_order, book_kayak)
