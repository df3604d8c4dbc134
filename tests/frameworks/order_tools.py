"""What agents without a framework have as tools."""

from collections.abc import Callable

import agentmut
from agentmut.nouns.tools import read_tool


def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


async def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer."""
    return f"{amount} euros for {order_id} are on their way."


def check_stock(article: str) -> str:
    """Find out how many pieces of an article are left."""
    return f"There are 4 pieces of {article}."


FUNCTIONS = (look_up_order, issue_refund)
PROMPT = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."
TRIAGE = "Name the topic of the message in one word."
order_tool, stock_tool = agentmut.tool(look_up_order), agentmut.tool(check_stock)
MARKED: dict[str, Callable[..., str]] = {"look_up_order": order_tool, "check_stock": stock_tool}
SPECS = (read_tool(look_up_order), read_tool(check_stock))
