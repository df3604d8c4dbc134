"""The practice system of Willowbank Veterinary Surgery."""

from typing import NamedTuple


class Patient(NamedTuple):
    """An animal that is registered with the surgery."""

    name: str
    species: str
    kilograms: float
    microchip: str


PATIENTS = {
    "W-301": Patient("Biscuit", "beagle", 13.5, "977200004411906"),
    "W-318": Patient("Clover", "rabbit", 2.1, "977200005120077"),
    "W-340": Patient("Goliath", "mastiff", 71.0, "977200003980412"),
}
VACCINATIONS = {
    "W-301": "distemper on 2024-06-01, next due on 2025-06-01",
    "W-318": "myxomatosis on 2024-04-15, next due on 2025-04-15",
    "W-340": "leptospirosis on 2024-11-02, next due on 2025-11-02",
}


def find_patient(patient_number: str) -> str:
    """Find a patient: name, species and weight."""
    animal = PATIENTS.get(patient_number)
    if animal is None:
        return f"No patient has the number {patient_number}."
    return (
        f"Patient {patient_number} is {animal.name}, a {animal.species} that weighs {animal.kilograms:g} kg.\n"
        f"Microchip number: {animal.microchip}."
    )


def book_appointment(patient_number: str, date: str) -> str:
    """Book an appointment with a vet; the date as YYYY-MM-DD."""
    return f"An appointment for patient {patient_number} is booked on {date} at 10:40 with Dr Hale."


def check_vaccination_record(patient_number: str) -> str:
    """Check the vaccination record of a patient."""
    record = VACCINATIONS.get(patient_number, "nothing yet")
    return f"The vaccination record of patient {patient_number} says: {record}."


def order_prescription(patient_number: str, medicine: str) -> str:
    """Order a repeat prescription of a medicine."""
    return f"The repeat prescription of {medicine} for patient {patient_number} is ordered for 2025-03-21."


TOOLS = (find_patient, book_appointment, check_vaccination_record, order_prescription)
