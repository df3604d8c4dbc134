"""The desk's tools, and the functions behind them."""

from typing import Any

ORDERS = {
    "A-1042": {"order_id": "A-1042", "total": 89.0, "state": "delivered", "days_ago": 4},
    "A-2077": {"order_id": "A-2077", "total": 412.0, "state": "delivered", "days_ago": 9},
}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "look_up_order",
        "description": "Look up an order by its number. Use find_orders where the number is not known.",
        "parameters": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "description": "Number of the order, such as A-1042."},
                "detail": {"type": "string", "enum": ["short", "full"]},
            },
            "required": ["order_id"],
        },
    },
    {
        "name": "issue_refund",
        "description": "Pay an order back. Look the order up first.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "description": "Number of the order."}},
            "required": ["order_id"],
        },
    },
    {
        "name": "escalate_to_human",
        "description": "Hand the conversation over to a human.",
        "parameters": {
            "type": "object",
            "properties": {"reason": {"type": "string"}},
            "required": ["reason"],
        },
    },
]


def look_up_order(order_id: str, detail: str = "short") -> dict[str, Any]:
    """Return an order."""
    return ORDERS.get(order_id, {"error": "no such order"})


def issue_refund(order_id: str) -> dict[str, Any]:
    """Pay an order back."""
    return {"order_id": order_id, "refunded": ORDERS[order_id]["total"]}


def escalate_to_human(reason: str) -> dict[str, Any]:
    """Hand over."""
    return {"ticket": "T-77", "reason": reason}


FUNCTIONS = [look_up_order, issue_refund, escalate_to_human]
