"""A practice's front desk, never fitted to the simulator: most effects of the other two desks are absent here.

Prompt, tools, documents, checks and predictions (all up to `PREDICTED`) were committed before their first run
and have not been changed since; nor has the simulator. What the first run found, at N = 40:

- Baseline: 1 check of 8 works (laboratory 1.00). Verified first 0.25, emergency 0.07, the other five 0.00.
- Rules: none of the 7 lowers the behaviour it governs by the margin, as there is little or nothing to lower.
- Tools: none of the 6 does; without `verify_patient` or `cancel_appointment`, verified first falls 0.25 to 0.00.
- Documents: truncating the hours takes the laboratory from 1.00 to 0.00; the other document moves nothing.
- Weaker modality: none of 3 moves anything.
- Smaller models: means 0.166, 0.200, 0.175, so no order.
- Unrelated behaviours move too: the emergency from 0.07 to 0.95 on six breakages of other things, slots first
  from 0.00 to 1.00 without the emergency rule, verified first from 0.25 to 1.00 without `list_appointments`.
- Of the 21 predictions 2 hold, and both say that nothing moves.

Why, found afterwards by reading the simulator and trying one other wording at a time (none is kept here):

- "Don't book anything." after the sentence on emergencies is read as a ban for all cases.
- "Requests for X: do Y" is not read as a condition; "If someone asks for X, do Y" is (0.97).
- "New patients must be told to" is not read as something to say; "Tell new patients to" is (0.97).
- "X cost 50 francs, mention this fee when" is not either; "When ..., mention the fee of 50 francs" is (0.97).
- "before you cancel an appointment or list appointments" is tied to the listing only; "before you cancel an
  appointment" works (0.97).
- What is said for no reason (the telephone numbers) fills the four sentences allowed, so whether an emergency
  is told to call depends on unrelated lines. As a condition ("If someone has chest pain, ... tell them") it does
  not work either (0.00).
- Results private: neither "share the notes" nor "mention" of results or notes helped; cause not found.

So for four of the seven rules one wording more is lacking, not the effect. With the ban out of the way (a
breakage of the list below) the rule on free slots and its tools have theirs, and smaller models do worse at it;
that comparison was added after the first run.
"""

from collections.abc import Callable
from functools import cache
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
HELD = {"diagnose", "getting_here.md"}
BAN_LIFTED = ("without_rule", "Chest pain")
MODELS = ("sim-large", "sim-medium", "sim-small")

Rates = Callable[..., dict[str, float]]


@pytest.fixture(scope="module")
def desk(load_desk: Any) -> Any:
    return load_desk("clinic_desk", RESULTS, BEHAVIOURS)


@pytest.fixture(scope="module")
def rates(desk: Any) -> Rates:
    """Rates after some breakages, one upon the other."""

    @cache
    def measure(*breakages: tuple[str, Any], model: str = "sim-large") -> dict[str, float]:
        broken = desk
        for how, what in breakages:
            broken = broken.broken(how, what)
        return dict(broken.rates(N, model))

    return measure


def judged(how: str, what: Any, hit: set[str]) -> Any:
    absent = pytest.mark.xfail(strict=True, reason="absent in this domain, see the docstring")
    return pytest.param(how, what, hit, marks=() if what in HELD else absent)


@pytest.mark.parametrize(("how", "what", "hit"), [judged(*prediction) for prediction in PREDICTED])
def test_a_breakage_lowers_what_it_governs_and_nothing_else(
    rates: Rates, how: str, what: Any, hit: set[str]
) -> None:
    before, after = rates(), rates((how, what))
    assert {name for name in before if after[name] < before[name] - CLEARLY} == hit
    assert {name for name in before if abs(after[name] - before[name]) > UNMOVED} == hit


@pytest.mark.xfail(strict=True, reason="most checks fail on the unbroken desk, so there is nothing to lower")
def test_smaller_models_do_worse(rates: Rates) -> None:
    means = [sum(rates(model=model).values()) / len(BEHAVIOURS) for model in MODELS]
    assert means[0] > means[1] > means[2]


def test_of_the_unbroken_desk_only_the_laboratory_answer_works(rates: Rates) -> None:
    assert {name for name, rate in rates().items() if rate >= 0.85} == {"laboratory"}
    assert {name for name, rate in rates().items() if rate > CLEARLY} == {"laboratory"}


def test_the_laboratory_answer_needs_its_document_and_nothing_else(rates: Rates) -> None:
    after = {str(what): rates((how, what))["laboratory"] for how, what, _ in PREDICTED}
    assert after.pop("hours.md") < rates()["laboratory"] - CLEARLY
    assert min(after.values()) > rates()["laboratory"] - UNMOVED


def test_behaviours_move_that_have_nothing_to_do_with_the_breakage(rates: Rates) -> None:
    def moved(how: str, what: Any) -> set[str]:
        after = rates((how, what))
        return {name for name, rate in rates().items() if abs(after[name] - rate) > UNMOVED}

    astray = {name for how, what, hit in PREDICTED for name in moved(how, what) - hit}
    assert astray == {"emergency", "slots first", "verified first"}


@pytest.mark.parametrize(
    "breakage",
    [("without_rule", "free slots"), ("without_tool", "find_slots"), ("without_tool", "book_appointment")],
)
def test_where_no_ban_on_booking_is_read_the_slots_rule_and_its_tools_matter(
    rates: Rates, breakage: tuple[str, str]
) -> None:
    before, after = rates(BAN_LIFTED), rates(BAN_LIFTED, breakage)
    assert before["slots first"] >= 0.85
    assert {name for name in before if after[name] < before[name] - CLEARLY} == {"slots first"}
    assert {name for name in before if abs(after[name] - before[name]) > UNMOVED} == {"slots first"}


def test_where_no_ban_on_booking_is_read_smaller_models_book_worse(rates: Rates) -> None:
    large, medium, small = (rates(BAN_LIFTED, model=model)["slots first"] for model in MODELS)
    assert large > medium + 0.05 > small + 0.15
