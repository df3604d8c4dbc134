"""What the chat assistant of Ashcombe Libraries can do."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Reader:
    """A reader with a card."""

    name: str
    address: str
    loans: tuple[str, ...]
    fine: float


READERS = {
    "AL-5512": Reader("Nadia Brandt", "18 Quarry Rise", ("The Salt Path", "Klara and the Sun"), 0.0),
    "AL-6048": Reader("Owen Prosser", "3 Tannery Lane", ("Middlemarch",), 14.2),
    "AL-7730": Reader("Ifeoma Eze", "77 Bellfield Road", (), 1.6),
}
CATALOGUE = {
    "The Salt Path": "on loan until 2025-09-20",
    "Klara and the Sun": "on loan until 2025-09-12 and recalled",
    "Middlemarch": "on loan until 2025-08-01",
    "Wolf Hall": "on loan until 2025-09-25",
    "Piranesi": "on the shelf at the Central branch",
}


def look_up_card(card_number: str) -> str:
    """Look up the card of a reader: name, loans and open fine."""
    reader = READERS.get(card_number)
    if reader is None:
        return f"No reader has the card {card_number}."
    loans = ", ".join(reader.loans) or "nothing"
    return (
        f"Card {card_number} belongs to {reader.name}. The loans are: {loans}. "
        f"The fine is {reader.fine:.2f} pounds."
    )


def search_catalogue(title: str) -> str:
    """Search the catalogue for a title and say where it is."""
    return (
        f"{title} is {CATALOGUE[title]}." if title in CATALOGUE else f"The catalogue does not have {title}."
    )


def renew_loan(card_number: str, title: str) -> str:
    """Renew the loan of a title for three weeks."""
    reader = READERS.get(card_number)
    if reader is None or title not in reader.loans:
        return f"There is no loan of {title} on card {card_number}."
    return f"The loan of {title} is renewed until 2025-10-11."


def place_hold(card_number: str, title: str, branch: Literal["Central", "Millbrook", "Eastgate"]) -> str:
    """Place a hold on a title, to be collected at a branch."""
    if title not in CATALOGUE:
        return f"The catalogue does not have {title}."
    return f"A hold on {title} is placed at the {branch} branch for card {card_number}."


def book_study_room(card_number: str, date: str, hours: int) -> str:
    """Book a study room at Central; the date as YYYY-MM-DD."""
    return f"Study room 2 is booked on {date} for {hours} hours with card {card_number}."


TOOLS = (look_up_card, search_catalogue, renew_loan, place_hold, book_study_room)
