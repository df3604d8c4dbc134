"""Tools of the refill line of Millbrook Pharmacy."""

from typing import Any

PRESCRIPTIONS: dict[str, dict[str, Any]] = {
    "RX-5501": {"medicine": "lisinopril 10 mg", "refills": 3, "price": 12, "expired": False},
    "RX-5502": {"medicine": "atorvastatin 20 mg", "refills": 0, "price": 18, "expired": False},
    "RX-5503": {"medicine": "insulin glargine", "refills": 2, "price": 140, "expired": False},
    "RX-5504": {"medicine": "amoxicillin 500 mg", "refills": 1, "price": 9, "expired": True},
}


def look_up_prescription(prescription_id: str) -> dict[str, Any]:
    """Look up a prescription: the medicine, the state and the price in dollars."""
    found = PRESCRIPTIONS.get(prescription_id)
    if found is None:
        return {"error": f"Prescription {prescription_id} was not found."}
    state = "expired" if found["expired"] else "active" if found["refills"] else "exhausted"
    return {
        "prescription_id": prescription_id,
        "medicine": found["medicine"],
        "state": state,
        "price": found["price"],
    }


def order_refill(prescription_id: str) -> str:
    """Order a refill of a prescription for pickup."""
    found = PRESCRIPTIONS.get(prescription_id)
    if found is None or found["expired"] or not found["refills"]:
        return f"A refill of {prescription_id} cannot be ordered."
    return f"The refill of {prescription_id} is ordered and can be picked up after 3 p.m. tomorrow."


def request_renewal(prescription_id: str) -> str:
    """Request a renewal of a prescription from the prescriber."""
    if prescription_id not in PRESCRIPTIONS:
        return f"Prescription {prescription_id} was not found."
    return f"A renewal of {prescription_id} was requested from Dr. Hale."


def schedule_delivery(prescription_id: str, day: str) -> str:
    """Schedule the delivery of a medicine to the patient's home."""
    if prescription_id not in PRESCRIPTIONS:
        return f"Prescription {prescription_id} was not found."
    return f"The delivery of {prescription_id} is scheduled for {day} between 9 a.m. and noon."


TOOLS = [look_up_prescription, order_refill, request_renewal, schedule_delivery]
