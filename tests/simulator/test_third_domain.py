"""A practice's front desk: the untouched check that the simulator once failed, now a domain of development.

Prompt, tools, documents, checks and predictions (all up to `PREDICTED`) were committed before their first run
and have not been changed since. The first run, on a simulator that had never seen the desk, at N = 40:

- Baseline: 1 check of 8 worked (laboratory 1.00). Verified first 0.25, emergency 0.07, the other five 0.00.
- Of the 21 predictions 2 held, and both say that nothing moves. No rule, and no tool, showed its effect.
- Means of sim-large, sim-medium and sim-small: 0.166, 0.200, 0.175, so no order.

It had failed at common forms of rules: "Requests for X: do Y", "X must be told to", "X cost Y, mention this
when", "before you do X or Y", a second sentence leaning on the first ("Don't book anything."), "if you don't
know", and at a length limit that cut what had to be said before what had not.

These forms were then taught in general (`test_rule_reading.py` has them in the words of other fields): the
baseline is 0.95 to 1.00, 19 of the 21 predictions hold, and the models are in order. So this desk has been
seen, and says no longer what happens in a domain that has not; that takes a fourth one.

The two that do not hold are left as predicted:

- "You may verify" lowers verified first to 0.75 only: the large model makes use of a permission in 0.55 of the
  trials, and where it does not, it may verify all the same (0.25 without the rule).
- "Try not to share" moves nothing: the rest of the line says "have to", and a line binds as strongly as its
  strongest word. Alone it would be advice, which the large model follows in nine cases of ten.
"""

from collections.abc import Callable
from typing import Any

import pytest

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

# Added after the first run:
MISSED = {
    "You may verify": "without following the permission the large model may verify all the same",
    "Try not to share": "the line binds as strongly as its strongest words, which are elsewhere in it",
}
FOLDER = "clinic_desk"
MODELS = ("sim-large", "sim-medium", "sim-small")

Rates = Callable[..., dict[str, float]]


def judged(how: str, what: Any, hit: set[str]) -> Any:
    why = MISSED.get(what[1]) if how == "reworded" else None
    return pytest.param(how, what, hit, marks=pytest.mark.xfail(strict=True, reason=why) if why else ())


@pytest.mark.parametrize(("how", "what", "hit"), [judged(*prediction) for prediction in PREDICTED])
def test_a_breakage_lowers_what_it_governs_and_nothing_else(
    rates: Rates, how: str, what: Any, hit: set[str]
) -> None:
    before, after = rates(), rates((how, what))
    assert {name for name in before if after[name] < before[name] - CLEARLY} == hit
    assert {name for name in before if abs(after[name] - before[name]) > UNMOVED} == hit


def test_smaller_models_do_worse(rates: Rates) -> None:
    means = [sum(rates(model=model).values()) / len(BEHAVIOURS) for model in MODELS]
    assert means[0] > means[1] + 0.03 > means[2] + 0.1


def test_the_unbroken_desk_behaves(rates: Rates) -> None:
    assert min(rates().values()) >= 0.85
