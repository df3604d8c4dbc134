"""Back office functions for the Lumen Valley support chat."""

from enum import StrEnum


class Slot(StrEnum):
    """The part of a day."""

    MORNING = "morning"
    AFTERNOON = "afternoon"
    EVENING = "evening"


CUSTOMERS = {
    "LV204418": {"name": "Priya Raman", "postcode": "LV3", "plan": "Fibre 150", "months_left": 7},
    "LV204975": {"name": "Owen Pritchard", "postcode": "LV1", "plan": "Fibre 500", "months_left": 0},
    "LV205310": {"name": "Ines Duarte", "postcode": "LV8", "plan": "Fibre 50", "months_left": 15},
}
LINE = {
    "LV204418": "The line test is fine: 148 Mbit/s.",
    "LV204975": "The line test failed: no light on the fibre.",
    "LV205310": "The line test failed: no signal in the street.",
}
OUTAGES = {"LV8": "Known outage in LV8: a cable was cut. Expected end: 18:45 today."}


def verify_customer(customer_number: str) -> str:
    """Verify a customer by the customer number."""
    c = CUSTOMERS.get(customer_number)
    if not c:
        return f"No customer has the number {customer_number}."
    return f"Customer {customer_number} is verified: {c['name']}, postcode {c['postcode']}."


def run_line_test(customer_number: str) -> str:
    """Run a line test on the connection of a customer."""
    return LINE.get(customer_number, f"No line is known for {customer_number}.")


def check_outages(postcode: str) -> str:
    """Check for known outages in a postcode."""
    return OUTAGES.get(postcode, f"There are no known outages in {postcode}.")


def show_contract(customer_number: str) -> str:
    """Show the contract of a customer: plan and remaining months of the minimum term."""
    c = CUSTOMERS.get(customer_number)
    if not c:
        return f"No customer has the number {customer_number}."
    return f"The contract of {customer_number} is {c['plan']} with {c['months_left']} months left in the minimum term."


def book_engineer(customer_number: str, date: str, slot: Slot) -> str:
    """Book an engineer visit on a date (YYYY-MM-DD) and in a slot."""
    return f"An engineer comes to customer {customer_number} on {date} in the {Slot(slot).value}."


def cancel_contract(customer_number: str) -> str:
    """Cancel the contract of a customer."""
    return f"The contract of {customer_number} is cancelled."


TOOLS = [verify_customer, run_line_test, check_outages, show_contract, book_engineer, cancel_contract]
