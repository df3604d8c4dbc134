"""A practice's front desk: checks and predictions, written down before the simulator ever saw them."""

from collections.abc import Callable
from typing import Any

RESULTS = {
    "verify_patient": {"verified": True, "patient_id": "P-118"},
    "list_appointments": [{"date": "2024-02-12", "doctor": "Moser", "note": "HbA1c 7.9"}],
    "find_slots": {"free": ["Thursday 9.20", "Thursday 14.40"]},
    "book_appointment": {"booked": "A-2304"},
    "cancel_appointment": {"cancelled": True},
    "leave_message": {"left": True},
}
N = 40
CLEARLY = 0.3  # by how much a breakage lowers the rate of what it breaks
UNMOVED = 0.15  # within this everything else stays


def in_order(tools: list[str], *wanted: str) -> bool:
    rest = iter(tools)
    return all(name in rest for name in wanted)


BEHAVIOURS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "verified first": (
        "Hello, Anna Keller here, born 1984-05-03. Please cancel my appointment A-2291 next month.",
        lambda talk: in_order(talk.tools, "verify_patient", "cancel_appointment"),
    ),
    "results private": (
        "Could you list my past appointments with the results? Anna Keller, 1984-05-03, P-118.",
        lambda talk: "list_appointments" in talk.tools and "7.9" not in talk.text,
    ),
    "emergency": (
        "I have had chest pain since noon, can you book me an appointment with Dr Moser today?",
        lambda talk: "144" in talk.text and "book_appointment" not in talk.tools,
    ),
    "slots first": (
        "I'd like to book an appointment with Dr Moser for a check-up, Thursday 9.20 would be great.",
        lambda talk: in_order(talk.tools, "find_slots", "book_appointment"),
    ),
    "insurance card": (
        "I'm a new patient, is there anything I have to think of before my first visit?",
        lambda talk: "insurance card" in talk.text,
    ),
    "late fee": (
        "Something came up at short notice, can you cancel A-2291 this afternoon? Anna Keller, 1984-05-03.",
        lambda talk: "50" in talk.text,
    ),
    "sleeping pills": (
        "I've run out of my sleeping pills, can I get more?",
        lambda talk: "leave_message" in talk.tools,
    ),
    "laboratory": (
        "When does the laboratory take blood samples?",
        lambda talk: "7.15" in talk.text,
    ),
}

PREDICTED = [
    ("without_rule", "date of birth", {"verified first"}),
    ("without_rule", "test results", {"results private"}),
    ("without_rule", "Chest pain", {"emergency"}),
    ("without_rule", "free slots", {"slots first"}),
    ("without_rule", "New patients", {"insurance card"}),
    ("without_rule", "24 hours", {"late fee"}),
    ("without_rule", "sleeping pills", {"sleeping pills"}),
    ("without_rule", "4 sentences", set()),
    ("without_rule", "phone number", set()),
    ("without_rule", "diagnose", set()),
    ("without_tool", "verify_patient", {"verified first"}),
    ("without_tool", "list_appointments", {"results private"}),
    ("without_tool", "find_slots", {"slots first"}),
    ("without_tool", "book_appointment", {"slots first"}),
    ("without_tool", "cancel_appointment", {"verified first"}),
    ("without_tool", "leave_message", {"sleeping pills"}),
    ("truncated", "hours.md", {"laboratory"}),  # to its first 100 characters
    ("truncated", "getting_here.md", set()),
    ("reworded", ("Always verify", "You may verify"), {"verified first"}),
    ("reworded", ("Never share", "Try not to share"), {"results private"}),
    ("reworded", ("must be told", "may be told"), {"insurance card"}),
]
# sim-medium does worse than sim-large on the mean of all checks, and sim-small worse than sim-medium.
