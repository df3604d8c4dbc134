"""Tools of the city of Marlow's assistant for waste."""

from typing import Any, Literal

DAYS: dict[tuple[str, str], str] = {
    ("Mill Street", "paper"): "Thursday",
    ("Mill Street", "garden"): "Monday",
    ("Orchard Road", "garden"): "Wednesday",
    ("Abbey Close", "paper"): "Friday",
}
Bin = Literal["paper", "garden", "glass"]
Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


def look_up_collection(street: str, kind: Bin) -> dict[str, Any]:
    """Look up the collection day of a bin for a street."""
    day = DAYS.get((street, kind))
    return (
        {"street": street, "bin": kind, "day": day}
        if day
        else {"error": f"No {kind} bin is collected in {street}."}
    )


def report_missed_bin(street: str, kind: Bin) -> str:
    """Report a missed bin of a street."""
    return f"The missed {kind} bin in {street} is reported under number R-5512."


def check_calendar(day: Day) -> str:
    """Check the calendar of bulky pickups for a day of the week."""
    return (
        f"There are 3 free times for a bulky pickup on {day}."
        if day in ("Tuesday", "Thursday")
        else f"{day} is full."
    )


def book_bulky_pickup(street: str, day: Day) -> str:
    """Book a bulky pickup in a street on a day of the week."""
    return f"A bulky pickup is booked in {street} on {day}."


TOOLS = (look_up_collection, report_missed_bin, check_calendar, book_bulky_pickup)
