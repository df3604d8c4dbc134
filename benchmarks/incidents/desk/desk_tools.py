"""The desk's tools, and the functions behind them."""

from typing import Any

ORDERS = {
    "A-1042": {"order_id": "A-1042", "total": 89.0, "state": "delivered", "days_ago": 4},
    "A-2077": {"order_id": "A-2077", "total": 412.0, "state": "delivered", "days_ago": 9},
}
PAGES = {"wash washing tent": "by hand, in lukewarm water", "torn pole repair": "with a sleeve of 11 mm"}
"""What the help pages say, by the words under which they are found."""
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
        "name": "search_help_pages",
        "description": "Search the help pages on the care and repair of tents.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "Words to look for."}},
            "required": ["query"],
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


def search_help_pages(query: str) -> dict[str, Any]:
    """Return the page that has all words of the query."""
    wanted = query.lower().split()
    found = [page for words, page in PAGES.items() if set(wanted) <= set(words.split())]
    return {"advice": found[0]} if found else {"error": "no page found"}


def escalate_to_human(reason: str) -> dict[str, Any]:
    """Hand over."""
    return {"ticket": "T-77", "reason": reason}


FUNCTIONS = [look_up_order, issue_refund, search_help_pages, escalate_to_human]
