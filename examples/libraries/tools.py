"""What the agents of this folder share: their instructions and their one tool."""

PROMPT = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."


def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."
