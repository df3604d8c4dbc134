"""Tools of the travel desk of Northline Rail."""

from typing import Any, Literal

BOOKINGS: dict[str, dict[str, Any]] = {
    "NL7K2": {"passenger": "Tom Brennan", "train": "N410", "seat": "B14", "fare": 64.5, "group": False},
    "NL8P5": {"passenger": "Ewa Nowak", "train": "N233", "seat": "C02", "fare": 38.0, "group": False},
    "NL9Q1": {"passenger": "Sunil Mehta", "train": "N518", "seat": "A21", "fare": 92.0, "group": True},
}
TRAINS: dict[str, dict[str, Any]] = {
    "N410": {"train": "N410", "platform": 4, "delay": 85},
    "N233": {"train": "N233", "platform": 9, "delay": 0},
    "N518": {"train": "N518", "notice": "cancellation"},
}


def look_up_booking(booking_id: str) -> str:
    """Look up a booking of a passenger: the train, the seat and the fare."""
    found = BOOKINGS.get(booking_id)
    if found is None:
        return f"No booking {booking_id} was found."
    group = " It is a group ticket." if found["group"] else ""
    return (
        f"Booking {booking_id} of {found['passenger']} is for train {found['train']}, seat {found['seat']}, "
        f"at a fare of {found['fare']:.2f} pounds.{group}"
    )


def check_train_status(train_number: str) -> dict[str, Any]:
    """Check the status of a train: its platform, its delay in minutes, and notices."""
    return TRAINS.get(train_number, {"error": f"There is no train {train_number} today."})


def change_seat(booking_id: str, seat: Literal["window", "aisle"]) -> str:
    """Change the seat of a booking."""
    if booking_id not in BOOKINGS:
        return f"No booking {booking_id} was found."
    return f"The seat of booking {booking_id} is now at the {seat}."


def file_compensation_claim(booking_id: str) -> str:
    """File a compensation claim for a delayed train."""
    if booking_id not in BOOKINGS:
        return f"No booking {booking_id} was found."
    return f"Claim CL-{booking_id} is filed for {BOOKINGS[booking_id]['fare'] / 2:.2f} pounds."


TOOLS = [look_up_booking, check_train_status, change_seat, file_compensation_claim]
