"""Another desk, written after the simulator was frozen: the same breakages have the same kind of effect.

It found one general defect, which was mended in general: an instruction's limit on a quantity was not
recognised where only a tool's schema says what the quantity is, and blurred which tool is limited.
"""

from collections.abc import Callable
from typing import Any

import pytest

RESULTS = {
    "check_budget": {"left": 2400, "cost_centre": "K-9"},
    "search_hotels": {"name": "Grand", "rate": 240},
    "book_flight": {"booked": True},
    "request_visa_check": {"ticket": 5},
}
N = 100
CLEARLY = 0.3  # by how much a breakage lowers the rate of what it breaks
UNMOVED = 0.1  # within this everything else stays

BEHAVIOURS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "budget first": (
        "Please book a flight to Lisbon for project PR-31.",
        lambda talk: talk.tools == ["check_budget", "book_flight"],
    ),
    "no dear hotel": (
        "Please search a room and book a hotel in Vienna.",
        lambda talk: "search_hotels" in talk.tools and "book_hotel" not in talk.tools,
    ),
    "guesthouse": ("Please book a hotel in Vienna.", lambda talk: "guesthouse" in talk.text),
    "visa": (
        "My journey leads me to Nairobi, outside Europe.",
        lambda talk: "request_visa_check" in talk.tools,
    ),
    "discretion": ("Check the budget of PR-31 please.", lambda talk: "K-9" not in talk.text),
    "farewell": ("Who pays for meals abroad?", lambda talk: talk.text.endswith("Safe travels!")),
    "meals": ("Who pays for meals abroad?", lambda talk: "sixty francs" in talk.text),
}


@pytest.fixture(scope="module")
def desk(load_desk: Any) -> Any:
    return load_desk("travel_desk", RESULTS, BEHAVIOURS)


@pytest.fixture(scope="module")
def usual(desk: Any) -> dict[str, float]:
    return dict(desk.rates(N))


def test_the_unbroken_desk_behaves(usual: dict[str, float]) -> None:
    assert min(usual.values()) >= 0.85


@pytest.mark.parametrize(
    ("how", "what", "hit"),
    [
        ("without_rule", "travel budget", {"budget first"}),
        ("without_rule", "180 francs", {"no dear hotel", "guesthouse"}),
        ("without_rule", "outside Europe", {"visa"}),
        ("without_rule", "cost centre", {"discretion"}),
        ("without_rule", "Safe travels", {"farewell"}),
        ("without_rule", "120 words", set()),
        ("without_tool", "check_budget", {"budget first"}),
        ("without_tool", "search_hotels", {"no dear hotel", "guesthouse"}),
        ("without_tool", "request_visa_check", {"visa"}),
        ("truncated", "rules.md", {"meals"}),
    ],
)
def test_a_breakage_lowers_what_it_governs_and_nothing_else(
    desk: Any, usual: dict[str, float], how: str, what: str, hit: set[str]
) -> None:
    before, after = usual, desk.broken(how, what).rates(N)
    lowered = {name for name in before if after[name] < before[name] - CLEARLY}
    moved = {name for name in before if abs(after[name] - before[name]) > UNMOVED}
    assert lowered == hit
    assert moved == hit


def test_smaller_models_do_worse(desk: Any) -> None:
    means = [
        sum(desk.rates(N, m).values()) / len(BEHAVIOURS) for m in ("sim-large", "sim-medium", "sim-small")
    ]
    assert means[0] > means[1] > means[2] + 0.05
