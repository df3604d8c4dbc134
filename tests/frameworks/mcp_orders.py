"""A server of tools by mcp's own SDK: run in process, or as a program over stdio."""

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

orders = MCPServer("orders")


@orders.tool(structured_output=False)
def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    if order_id == "A-0":
        raise ToolError("there is no such order")
    return f"{order_id} was delivered on Monday."


@orders.tool(structured_output=False)
def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer."""
    return f"{amount} euros for {order_id} are on their way."


if __name__ == "__main__":
    orders.run()
