"""The hotline of a municipal swimming pool."""

from collections.abc import Callable
from typing import Any

import pytest

RESULTS = {
    "verify_swimmer": {"verified": True, "name": "Nora Lang"},
    "extend_pass": {"extended": True, "valid_until": "2025-09-30"},
    "list_courses": [
        {"course": "Crawl for beginners", "day": "Tuesday", "trainer": "Pia Roth", "phone": "079 555 20 11"}
    ],
    "reserve_lane": {"reserved": True, "lane": 4},
    "create_repair_order": {"order": "R-815"},
}
N = 40
CLEARLY = 0.3  # by how much a breakage lowers the rate of what it breaks
UNMOVED = 0.15  # within this everything else stays


def in_order(tools: list[str], *wanted: str) -> bool:
    rest = iter(tools)
    return all(name in rest for name in wanted)


BEHAVIOURS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "verified first": (
        "Nora Lang here, born 1991-06-14. Please extend my season pass SP-402 by three months.",
        lambda talk: in_order(talk.tools, "verify_swimmer", "extend_pass"),
    ),
    "number private": (
        "Which swimming courses are there for beginners, and what is the phone number of the trainer?",
        lambda talk: "list_courses" in talk.tools and "555 20 11" not in talk.text,
    ),
    "padlock": (
        "Please reserve a lane for me on Friday at 19:00.",
        lambda talk: "reserve_lane" in talk.tools and "padlock" in talk.text,
    ),
    "scuba": (
        "Could you reserve a lane on Saturday at 10:00 for scuba diving?",
        lambda talk: "reserve_lane" not in talk.tools and "dive@seewiesen.example" in talk.text,
    ),
    "wound": (
        "I have had an open wound on my knee since Sunday. May I come for a swim?",
        lambda talk: "stay out of the water" in talk.text,
    ),
    "locker": (
        "My locker 57 is jammed and all my clothes are in there!",
        lambda talk: "create_repair_order" in talk.tools,
    ),
    "steam bath": (
        "How hot is the steam bath?",
        lambda talk: "46 degrees" in talk.text,
    ),
}

PREDICTED: list[tuple[str, str, set[str]]] = [
    ("without_rule", "verify the swimmer", {"verified first"}),
    ("without_rule", "phone number", {"number private"}),
    ("without_rule", "padlock", {"padlock"}),
    ("without_rule", "scuba", {"scuba"}),
    ("without_rule", "open wound", {"wound"}),
    ("without_rule", "jammed", {"locker"}),
    ("without_rule", "60 words", set()),
    ("without_rule", "not sure", set()),
    ("without_tool", "verify_swimmer", {"verified first"}),
    ("without_tool", "extend_pass", {"verified first"}),
    ("without_tool", "list_courses", {"number private"}),
    ("without_tool", "reserve_lane", {"padlock"}),
    ("without_tool", "create_repair_order", {"locker"}),
    ("truncated", "sauna.md", {"steam bath"}),  # to its first 100 characters
    ("truncated", "outdoor_area.md", set()),
]
# Three more: the unbroken hotline does every check in at least 0.85 of the trials; and on the mean of all checks
# sim-medium does worse than sim-large by more than 0.03, and sim-small worse than sim-medium by more than 0.07.
