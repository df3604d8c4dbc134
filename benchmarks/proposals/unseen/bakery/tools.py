"""The order book of the bakery Crumb & Kettle."""

from typing import Final, Literal

Cake = Literal["lemon drizzle", "chocolate fudge", "carrot walnut", "vanilla sponge"]

PENCE_PER_GUEST: Final[dict[str, int]] = {
    "lemon drizzle": 280,
    "chocolate fudge": 340,
    "carrot walnut": 310,
    "vanilla sponge": 250,
}
ALLERGENS: Final[dict[str, list[str]]] = {
    "lemon drizzle": ["wheat", "egg", "milk"],
    "chocolate fudge": ["wheat", "egg", "milk", "soya"],
    "carrot walnut": ["wheat", "egg", "walnuts"],
    "vanilla sponge": ["wheat", "egg", "milk"],
}
ORDERS: Final[dict[str, str]] = {
    "CK-318": "in the oven and ready for collection at 11:00 today",
    "CK-325": "confirmed for collection on 2025-05-16",
    "CK-331": "waiting for the deposit",
}


def get_price(cake: Cake, guests: int) -> str:
    """Get the price of a cake for a number of guests."""
    pence = PENCE_PER_GUEST[cake] * guests
    return f"A {cake} cake for {guests} guests costs {pence / 100:.2f} pounds."


def check_allergens(cake: Cake) -> str:
    """Check the allergens of a cake."""
    return f"The {cake} cake contains {', '.join(ALLERGENS[cake])}."


def place_order(cake: Cake, guests: int, collection_date: str) -> str:
    """Place an order for a cake; the collection date as YYYY-MM-DD."""
    return (
        f"Order CK-340 for a {cake} cake for {guests} guests is placed, for collection on {collection_date}."
    )


def order_status(order_number: str) -> str:
    """Look up the status of an order."""
    status = ORDERS.get(order_number)
    return f"Order {order_number} is {status}." if status else f"We have no order {order_number}."


def cancel_order(order_number: str) -> str:
    """Cancel an order."""
    return (
        f"Order {order_number} is cancelled."
        if order_number in ORDERS
        else f"We have no order {order_number}."
    )


TOOLS = [get_price, check_allergens, place_order, order_status, cancel_order]
