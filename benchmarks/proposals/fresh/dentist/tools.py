"""Tools of the receptionist of Elm Street Dental."""

from typing import Any, Literal

PATIENTS: dict[str, dict[str, Any]] = {
    "P-118": {"name": "Grace Holloway", "next_visit": "Monday 09:00", "dentist": "Dr. Amin"},
    "P-204": {"name": "Luis Ortega", "next_visit": "none", "dentist": "Dr. Weiss"},
    "P-317": {"name": "Hannah Cole", "next_visit": "Thursday 15:30", "dentist": "Dr. Amin"},
}
FREE_SLOTS = {"Tuesday": ["10:30", "14:00"], "Wednesday": ["08:30"], "Friday": ["11:15", "16:45"]}
PRICES = {"cleaning": 110, "filling": 190, "crown": 980, "whitening": 420}


def find_patient(patient_id: str) -> str:
    """Find the record of a patient: name, next visit and dentist."""
    found = PATIENTS.get(patient_id)
    if found is None:
        return f"There is no patient {patient_id}."
    return f"Patient {patient_id} is {found['name']}, seen by {found['dentist']}; next visit: {found['next_visit']}."


def check_free_slots(day: str) -> str:
    """Check the free slots of a day of the week."""
    slots = FREE_SLOTS.get(day)
    return (
        f"The free slots on {day} are {' and '.join(slots)}."
        if slots
        else f"There are no free slots on {day}."
    )


def book_appointment(patient_id: str, day: str, half: Literal["morning", "afternoon"]) -> str:
    """Book an appointment for a patient in the morning or the afternoon of a day."""
    if patient_id not in PATIENTS:
        return f"There is no patient {patient_id}."
    return f"An appointment is booked for {patient_id} on {day} {half}."


def reschedule_visit(patient_id: str, day: str) -> str:
    """Reschedule the visit of a patient to another day."""
    slots = FREE_SLOTS.get(day)
    if patient_id not in PATIENTS or not slots:
        return "The visit cannot be rescheduled to that day."
    return f"The visit of {patient_id} is rescheduled to {day} at {slots[0]}."


def get_price(treatment: Literal["cleaning", "filling", "crown", "whitening"]) -> dict[str, Any]:
    """Get the price of a treatment in dollars."""
    price = PRICES.get(treatment.lower())
    return (
        {"treatment": treatment, "price": price}
        if price
        else {"error": f"There is no price for {treatment}."}
    )


TOOLS = (find_patient, check_free_slots, book_appointment, reschedule_visit, get_price)
