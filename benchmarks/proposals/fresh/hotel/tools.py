"""What the concierge of the Harbour View Hotel can do."""

from typing import Any, Literal

RESERVATIONS: dict[str, dict[str, Any]] = {
    "HV-2041": {
        "name": "Amara Okafor",
        "room": 312,
        "arrival": "2025-06-12",
        "departure": "2025-06-15",
        "door_code": "7719",
    },
    "HV-2042": {
        "name": "Jonas Lindqvist",
        "room": 108,
        "arrival": "2025-06-13",
        "departure": "2025-06-14",
        "door_code": "4402",
    },
    "HV-2043": {
        "name": "Priya Raman",
        "room": 415,
        "arrival": "2025-06-11",
        "departure": "2025-06-18",
        "door_code": "9035",
    },
}
LATE_CHECKOUT = {
    "HV-2041": "A late checkout of room 312 is possible until 14:00 for 35 pounds.",
    "HV-2042": "A late checkout of room 108 is not possible, because the next guest arrives at noon.",
    "HV-2043": "A late checkout of room 415 is possible until 16:00 for 50 pounds.",
}


def find_reservation(reservation_id: str) -> str:
    """Find the reservation of a guest: name, room and dates."""
    found = RESERVATIONS.get(reservation_id)
    if found is None:
        return f"There is no reservation {reservation_id}."
    return (
        f"Reservation {reservation_id} is for {found['name']} in room {found['room']}, "
        f"from {found['arrival']} to {found['departure']}. The door code is {found['door_code']}."
    )


def book_table(reservation_id: str, people: int, meal: Literal["lunch", "dinner"]) -> str:
    """Book a table in the Quayside restaurant."""
    if reservation_id not in RESERVATIONS:
        return f"There is no reservation {reservation_id}."
    return f"A table for {people} people is booked for {meal} in the Quayside restaurant."


def book_transfer(reservation_id: str, date: str, destination: Literal["airport", "station"]) -> str:
    """Book a transfer by car to the airport or the station; the date as YYYY-MM-DD."""
    if reservation_id not in RESERVATIONS:
        return f"There is no reservation {reservation_id}."
    price = 45 if destination == "airport" else 12
    return f"A transfer to the {destination} is booked for {date} and costs {price} pounds."


def check_late_checkout(reservation_id: str) -> str:
    """Check whether a late checkout is possible, and what it costs."""
    return LATE_CHECKOUT.get(reservation_id, f"There is no reservation {reservation_id}.")


def cancel_reservation(reservation_id: str) -> str:
    """Cancel the reservation of a guest."""
    if reservation_id not in RESERVATIONS:
        return f"There is no reservation {reservation_id}."
    return f"Reservation {reservation_id} is cancelled."


TOOLS = (find_reservation, book_table, book_transfer, check_late_checkout, cancel_reservation)
