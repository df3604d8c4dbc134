"""Tools of the Northmoor Blood Service's donor assistant."""

from typing import Literal

Part = Literal["morning", "afternoon", "evening"]

DONORS = {
    "ND-30418": ("Chloe Barrett", "ready to give", "O negative", 7),
    "ND-30877": ("Marcus Webb", "deferred until 2026-06-09", "A positive", 12),
    "ND-31250": ("Sunita Patel", "ready to give", "B positive", 2),
}
SESSIONS = {
    "Ashby": "2026-05-12 and 2026-05-19 in the Town Hall",
    "Kelmere": "2026-05-14 in St Mary's Church",
    "Thorley": "",
}
APPOINTMENTS = {"ND-30418": "", "ND-31250": "2026-05-12 at 10:20"}


def look_up_donor(donor_number: str) -> str:
    """Look up a donor: name, number of donations, state and appointment."""
    if donor_number not in DONORS:
        return f"There is no donor {donor_number}."
    name, state, _, times = DONORS[donor_number]
    appointment = APPOINTMENTS.get(donor_number) or "none"
    return f"Donor {donor_number} is {name}, {times} donations, {state}. Appointment: {appointment}."


def find_sessions(town: Literal["Ashby", "Kelmere", "Thorley"]) -> str:
    """Find the next donation sessions in a town."""
    sessions = SESSIONS[town]
    return f"Sessions in {town}: {sessions}." if sessions else f"There are no sessions in {town} this month."


def book_appointment(donor_number: str, date: str, part: Part) -> str:
    """Book an appointment for a donor on a date (YYYY-MM-DD), for a part of the day."""
    return f"The appointment of donor {donor_number} on {date} in the {part} is booked."


def cancel_appointment(donor_number: str) -> str:
    """Cancel the appointment of a donor."""
    return f"The appointment of donor {donor_number} is cancelled."


TOOLS = [look_up_donor, find_sessions, book_appointment, cancel_appointment]
