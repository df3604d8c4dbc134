"""The tool server under test: replace it by your own."""

from mcp.server.mcpserver import MCPServer

ORDERS = {"A-1042": "delivered on Monday", "A-1043": "on its way"}


def build() -> MCPServer:
    """Return a fresh server: called for each trial."""
    server = MCPServer("orders")

    @server.tool()
    def look_up_order(order_id: str) -> str:
        """Look up the state of an order by its number."""
        return f"Order {order_id}: {ORDERS.get(order_id, 'unknown')}."

    @server.tool()
    def issue_refund(order_id: str, amount: float) -> dict[str, str | float]:
        """Pay money back to the customer. At most 50 euros."""
        paid = min(amount, 50.0)
        return {"order": order_id, "paid": paid, "currency": "EUR"}

    return server


if __name__ == "__main__":
    build().run("stdio")
