"""Card services behind Tess, the assistant of Tidewater Credit Union."""

from typing import Literal

MEMBERS = {
    "TW-20418": ("Gloria Mendes", "1979-05-02"),
    "TW-21733": ("Peter Lindqvist", "1991-11-23"),
    "TW-22090": ("Aisha Rahman", "1966-02-14"),
}
TRANSACTIONS = {
    "TW-20418": [
        "TX-5001 2026-02-03 Corner Grocery $41.20",
        "TX-5007 2026-02-05 GAMEZONE ONLINE $189.00",
        "TX-5012 2026-02-06 Tide Cafe $7.50",
    ],
    "TW-21733": ["TX-6110 2026-02-01 Luxe Watches $3,140.00", "TX-6114 2026-02-02 City Transit $2.75"],
    "TW-22090": ["TX-7003 2026-02-04 Bayside Pharmacy $23.90"],
}


def verify_member(member_number: str, date_of_birth: str) -> str:
    """Verify a member by member number and date of birth (YYYY-MM-DD)."""
    name, born = MEMBERS.get(member_number, ("", ""))
    if born != date_of_birth:
        return f"Member {member_number} could not be verified."
    return f"Member {member_number} is verified: {name}."


def list_transactions(member_number: str) -> str:
    """List the latest transactions of a member."""
    lines = TRANSACTIONS.get(member_number)
    return "Transactions: " + "; ".join(lines) + "." if lines else "No transactions were found."


def freeze_card(last_four_digits: int) -> str:
    """Freeze a debit card so that nobody can pay with it."""
    return f"The card ending in {last_four_digits} is frozen."


def unfreeze_card(last_four_digits: int) -> str:
    """Unfreeze a debit card."""
    return f"The card ending in {last_four_digits} can be used again."


def order_replacement_card(
    last_four_digits: int, delivery: Literal["standard", "express"] = "standard"
) -> str:
    """Order a replacement for a frozen card."""
    days = 2 if delivery == "express" else 7
    return f"A replacement for the card ending in {last_four_digits} arrives in {days} business days."


def open_dispute(member_number: str, amount: float) -> str:
    """Open a dispute about a card payment of an amount in dollars."""
    return f"A dispute about ${amount:,.2f} is open for {member_number}."


TOOLS = [
    verify_member,
    list_transactions,
    freeze_card,
    unfreeze_card,
    order_replacement_card,
    open_dispute,
]
