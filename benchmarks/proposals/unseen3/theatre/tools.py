"""What Juno can do at the box office of the Marlow Playhouse."""

from dataclasses import dataclass
from typing import Literal

Block = Literal["stalls", "circle", "studio"]


@dataclass(frozen=True)
class Performance:
    """A performance."""

    title: str
    date: str
    age: str
    free: dict[str, int]


PERFORMANCES = {
    "P-301": Performance(
        "The Winter's Tale", "2026-03-12 19:30", "from 11 years", {"stalls": 34, "circle": 12}
    ),
    "P-302": Performance(
        "The Winter's Tale", "2026-03-14 14:00", "from 11 years", {"stalls": 0, "circle": 0}
    ),
    "P-318": Performance("Blackthorn Lane", "2026-03-19 20:00", "from 16 years", {"studio": 9}),
    "P-325": Performance(
        "The Moon Kettle", "2026-03-28 11:00", "from 4 years", {"stalls": 120, "circle": 40}
    ),
}
TICKETS = {"T-88120": "P-301", "T-88121": "P-301", "T-90417": "P-318"}
ACCESS = {
    "captioned": "P-301 on 12 March at 19:30",
    "audio-described": "P-325 on 28 March at 11:00",
    "relaxed": "no performance this season",
}


def check_seats(performance_id: str) -> str:
    """Check the available seats of a performance, by block."""
    p = PERFORMANCES.get(performance_id)
    if p is None:
        return f"Unknown performance {performance_id}."
    if not any(p.free.values()):
        return f"{p.title} on {p.date} is sold out."
    seats = ", ".join(f"{n} in the {block}" for block, n in p.free.items())
    return f"{p.title} on {p.date} has these seats: {seats}. Age guidance: {p.age}."


def book_seats(performance_id: str, block: Block, seats: int, name: str) -> str:
    """Book seats for a performance under a name."""
    p = PERFORMANCES.get(performance_id)
    if p is None:
        return f"Unknown performance {performance_id}."
    if p.free.get(block, 0) < seats:
        return f"The {block} has only {p.free.get(block, 0)} seats left."
    return f"{seats} seats in the {block} for {p.title} on {p.date} are booked for {name}."


def exchange_ticket(ticket_number: str, new_performance_id: str) -> str:
    """Exchange a ticket for another performance."""
    if ticket_number not in TICKETS:
        return f"There is no ticket {ticket_number}."
    return f"Ticket {ticket_number} is exchanged for performance {new_performance_id}."


def refund_ticket(ticket_number: str) -> str:
    """Refund a ticket to the card it was paid with."""
    return f"Ticket {ticket_number} is refunded."


def access_calendar(kind: Literal["captioned", "audio-described", "relaxed"]) -> str:
    """Look up the access calendar: captioned, audio-described and relaxed performances."""
    return f"The next {kind} performance: {ACCESS[kind]}."


def notify_duty_manager(summary: str) -> str:
    """Pass a complaint to the duty manager."""
    return "The duty manager has been told and will ring back tomorrow."


TOOLS = [check_seats, book_seats, exchange_ticket, refund_ticket, access_calendar, notify_duty_manager]
