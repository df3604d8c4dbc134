"""The library's systems, in memory."""

from collections.abc import Callable
from typing import Any

import agentmut

MEMBERS: dict[str, dict[str, Any]] = {
    "M-101": {"name": "Nora", "address": "3 Mill Lane", "fee": 1.2},
    "M-102": {"name": "Ivo", "address": "18 Harbour Street", "fee": 64.0},
    "M-103": {"name": "Tess", "address": "7 Oak Road", "fee": 0.0},
}
LOANS: dict[str, list[dict[str, Any]]] = {
    "M-101": [
        {"title": "Dune", "due": "4 May", "overdue": False, "reserved": False},
        {"title": "Emma", "due": "2 April", "overdue": True, "reserved": False},
    ],
    "M-102": [{"title": "Ulysses", "due": "9 May", "overdue": False, "reserved": True}],
    "M-103": [],
}
BOOKS = {
    "dune": "on loan",
    "emma": "on loan",
    "ulysses": "on loan",
    "walden": "on the shelf",
    "beloved": "on loan",
}
MISSING = {"error": "not found"}


@agentmut.tool
def find_member(card: str) -> dict[str, Any]:
    """Find a member by the number of the card: name, address and open fee."""
    return MEMBERS.get(card, MISSING)


@agentmut.tool
def list_loans(card: str) -> list[dict[str, Any]]:
    """List the loans of a member with their due dates."""
    return LOANS.get(card, [])


@agentmut.tool
def renew_loan(card: str, title: str) -> dict[str, Any]:
    """Renew a loan of a member by four weeks."""
    held = [loan for loan in LOANS.get(card, []) if loan["title"].lower() == title.lower()]
    return {"renewed": held[0]["title"], "due": "1 June"} if held else MISSING


@agentmut.tool
def find_book(title: str) -> dict[str, Any]:
    """Find a book in the catalogue: where it is."""
    return {"title": title, "place": BOOKS[title.lower()]} if title.lower() in BOOKS else MISSING


@agentmut.tool
def place_hold(card: str, title: str) -> dict[str, Any]:
    """Place a hold on a book for a member."""
    return {"hold": f"H-{len(title)}{card[-1]}", "title": title}


@agentmut.tool
def take_payment(card: str, amount: float) -> dict[str, Any]:
    """Take a payment of a fee from a member."""
    return {"receipt": f"R-{card[2:]}", "paid": amount}


@agentmut.tool
def ask_librarian(summary: str) -> dict[str, Any]:
    """Ask a librarian to take over the case."""
    return {"case": f"L-{len(summary)}"}


TOOLS: list[Callable[..., Any]] = [
    find_member,
    list_loans,
    renew_loan,
    find_book,
    place_hold,
    take_payment,
    ask_librarian,
]
