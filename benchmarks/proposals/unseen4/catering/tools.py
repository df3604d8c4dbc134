"""Tools of the enquiry assistant of Fig & Thyme."""

from typing import Literal

Menu = Literal["Garden", "Coast", "Buffet"]

PRICES = {"Garden": 34, "Coast": 46, "Buffet": 22}
TAKEN = {"2026-06-20", "2026-07-11"}
ORDERS = {
    "FT-408": ("Dana Whitlock", "2026-06-27", "Coast", 60),
    "FT-415": ("Orbis Ltd", "2026-06-03", "Buffet", 35),
}


def check_date(date: str) -> str:
    """Check whether the kitchen is free on a date (YYYY-MM-DD)."""
    return f"The kitchen is fully booked on {date}." if date in TAKEN else f"The kitchen is free on {date}."


def give_quote(menu: Menu, guests: int) -> str:
    """Give a quote for a menu and a number of guests."""
    price = PRICES[menu]
    return f"The quote for the {menu} menu with {guests} guests is £{price * guests}, £{price} per person."


def hold_date(date: str, name: str, guests: int) -> str:
    """Hold a date for a host for 10 days."""
    return f"The date {date} is held for {name} with {guests} guests for 10 days."


def find_order(order_number: str) -> str:
    """Find an order: host, date, menu and number of guests."""
    if order_number not in ORDERS:
        return f"There is no order {order_number}."
    host, date, menu, guests = ORDERS[order_number]
    return f"Order {order_number}: {host}, {date}, {menu} menu, {guests} guests."


def change_guests(order_number: str, guests: int) -> str:
    """Change the number of guests of an order."""
    return f"Order {order_number} is now for {guests} guests."


def pass_to_event_manager(enquiry: str) -> str:
    """Pass an enquiry to the event manager."""
    return "The event manager has the enquiry and will write back within one working day."


TOOLS = [check_date, give_quote, hold_date, find_order, change_guests, pass_to_event_manager]
