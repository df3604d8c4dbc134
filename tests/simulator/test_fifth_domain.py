"""A swimming pool's hotline: the untouched check, written after the simulator was frozen and run once.

Prompt, tools, documents, checks and predictions (all up to `PREDICTED`, and the three in the comment below it)
were committed before their first run and have not been changed since; neither has the simulator. They were
written with the forms of `docs/simulator.md` and the earlier domains' format at hand, without a look at the
simulator's code. So this says what becomes of a prompt written for the simulator, and nothing of one that is not:
the first runs of the two domains before it, written without that page, failed. The first and only run, at N = 40:

- 17 of the 18 predictions held. Of these, 11 say that a breakage lowers one check and nothing else (six rules,
  five tools), one that a truncated document takes its answer along, three that nothing moves (a rule on length
  and one on uncertainty, which no check here looks at, and the other document), two are on baseline and models.
- Baseline: 0.85 to 1.00 (padlock 0.85, which is just what was predicted as the least).
- What a breakage governs fell to 0.00 each time, but verified first without its rule to 0.15: the model may
  verify all the same. All other checks stayed exactly as they were.
- Means of sim-large, sim-medium and sim-small: 0.946, 0.918, 0.754.

The one that does not hold: sim-medium was to do worse than sim-large by more than 0.03 and did by 0.029. On two
checks it did better (verified first 0.95 to 0.90, padlock 0.90 to 0.85).
"""

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

# Added after the run:
FOLDER = "swimming_pool"

Rates = Callable[..., dict[str, float]]


def mean(rates: dict[str, float]) -> float:
    return sum(rates.values()) / len(rates)


@pytest.mark.parametrize(("how", "what", "hit"), PREDICTED)
def test_a_breakage_lowers_what_it_governs_and_nothing_else(
    rates: Rates, how: str, what: str, hit: set[str]
) -> None:
    before, after = rates(), rates((how, what))
    assert {name for name in before if after[name] < before[name] - CLEARLY} == hit
    assert {name for name in before if abs(after[name] - before[name]) > UNMOVED} == hit


@pytest.mark.xfail(
    strict=True, reason="means 0.946 and 0.918: worse by 0.029, not by 0.03", raises=AssertionError
)
def test_the_medium_model_does_worse_than_the_large_one(rates: Rates) -> None:
    assert mean(rates(model="sim-large")) > mean(rates(model="sim-medium")) + 0.03


def test_the_small_model_does_worse_than_the_medium_one(rates: Rates) -> None:
    assert mean(rates(model="sim-medium")) > mean(rates(model="sim-small")) + 0.07


def test_the_unbroken_hotline_behaves(rates: Rates) -> None:
    assert min(rates().values()) >= 0.85
