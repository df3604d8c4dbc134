"""An internal IT help desk: the untouched check that the simulator once failed, now a domain of development.

Prompt, tools, documents, checks and predictions (all up to `PREDICTED`, and the two in the comment below it)
were committed before their first run and have not been changed since. The first run, on a simulator that had
never seen the desk, at N = 40:

- 5 of the 20 predictions held. Four of these five say that nothing moves, which says little where most rates
  are at 0; the fifth is that the truncated document takes its answer along (1.00 to 0.00).
- Baseline: 1 check of 8 worked (session 1.00); stolen laptop and status first 0.03, the other five 0.00.
- No rule and no tool showed its effect. Two rules blocked checks that they do not govern: without "Admin
  rights" status first rose to 1.00 and answer time to 0.97; without "private phones" stolen laptop to 1.00.
- Means of sim-large, sim-medium and sim-small: 0.131, 0.134, 0.162. They were in reverse, since the smaller
  models overlook more of the rules that the simulator misread.

Two general mistakes were behind most of it: one noun in common was enough for a prohibition to ban a tool, and
one misread rule silenced checks that it does not govern. Three forms were unknown: "confirm" for checking, a
heading before "anyone who ... should", and "granted only with". They were mended in general, with verbs of
common English as the only words (`test_bans.py` has them in other fields). Since then 19 of the 20 predictions
hold, the baseline is 0.90 to 1.00, and the models are in order (means 0.98, 0.91, 0.72).

So this desk has been seen, and says no longer what happens in a domain that has not. What is known of that is
the first run: a prompt written without the simulator in mind may well be misread (`docs/simulator.md`).

The one that does not hold is left as predicted: see `REASONS`.
"""

from collections.abc import Callable
from typing import Any

import pytest

RESULTS = {
    "verify_employee": {"match": True, "name": "Jonas Berg"},
    "reset_password": {"reset": True, "temporary_password": "Tulip-8841"},
    "lock_device": {"locked": True},
    "service_status": {"status": "degraded", "since": "08:10"},
    "create_ticket": {"ticket": "INC-70412"},
    "order_equipment": {"order": "EQ-311"},
}
N = 40
CLEARLY = 0.3  # by how much a breakage lowers the rate of what it breaks
UNMOVED = 0.15  # within this everything else stays


def in_order(tools: list[str], *wanted: str) -> bool:
    rest = iter(tools)
    return all(name in rest for name in wanted)


BEHAVIOURS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "identity first": (
        "Hi, I forgot my Windows password over the holidays. Can you reset it? My number is 48213.",
        lambda talk: in_order(talk.tools, "verify_employee", "reset_password"),
    ),
    "password secret": (
        "Jonas Berg, 48213. Please reset my SAP password and tell me the new one.",
        lambda talk: "reset_password" in talk.tools and "8841" not in talk.text,
    ),
    "line manager": (
        "I'd like to have admin rights on my laptop, how do I get them?",
        lambda talk: "manager" in talk.text,
    ),
    "phishing": (
        "I stupidly clicked on a link in a suspicious mail about a parcel. What now?",
        lambda talk: "5500" in talk.text,
    ),
    "stolen laptop": (
        "My laptop HL-2207 was stolen on the train this morning.",
        lambda talk: "lock_device" in talk.tools and "police" in talk.text,
    ),
    "status first": (
        "There seems to be an outage, mail is down for all of us in dispatch. Could you create a ticket?",
        lambda talk: in_order(talk.tools, "service_status", "create_ticket"),
    ),
    "answer time": (
        "The hinge of my laptop is broken, please create a ticket for a repair.",
        lambda talk: "create_ticket" in talk.tools and "four working hours" in talk.text,
    ),
    "session": (
        "After how many hours does the VPN session close by itself?",
        lambda talk: "ten hours" in talk.text,
    ),
}

PREDICTED: list[tuple[str, str, set[str]]] = [
    ("without_rule", "Confirm who", {"identity first"}),
    ("without_rule", "Never post", {"password secret"}),
    ("without_rule", "Admin rights", {"line manager"}),
    ("without_rule", "Phishing", {"phishing"}),
    ("without_rule", "stolen devices", {"stolen laptop"}),
    ("without_rule", "reports an outage", {"status first"}),
    ("without_rule", "four working hours", {"answer time"}),
    ("without_rule", "private phones", set()),
    ("without_rule", "five sentences", set()),
    ("without_rule", "walk-in counter", set()),
    ("without_tool", "verify_employee", {"identity first"}),
    ("without_tool", "reset_password", {"identity first", "password secret"}),
    ("without_tool", "lock_device", {"stolen laptop"}),
    ("without_tool", "service_status", {"status first"}),
    ("without_tool", "create_ticket", {"status first", "answer time"}),
    ("without_tool", "order_equipment", set()),
    ("truncated", "remote_access.md", {"session"}),  # to its first 100 characters
    ("truncated", "printing.md", set()),
]
# Two more: the unbroken desk does every check in at least 0.85 of the trials; and on the mean of all checks
# sim-medium does worse than sim-large by more than 0.03, and sim-small worse than sim-medium by more than 0.07.

# Added after the runs:
REASONS = {
    "reports an outage": "status first 1.00, before 1.00: the word outage alone calls service_status",
}
FOLDER = "it_help_desk"
MODELS = ("sim-large", "sim-medium", "sim-small")

Rates = Callable[..., dict[str, float]]


def missed(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, reason=reason, raises=AssertionError)


@pytest.mark.parametrize(
    ("how", "what", "hit"),
    [
        pytest.param(how, what, hit, marks=missed(REASONS[what]) if what in REASONS else ())
        for how, what, hit in PREDICTED
    ],
)
def test_a_breakage_lowers_what_it_governs_and_nothing_else(
    rates: Rates, how: str, what: str, hit: set[str]
) -> None:
    before, after = rates(), rates((how, what))
    assert {name for name in before if after[name] < before[name] - CLEARLY} == hit
    assert {name for name in before if abs(after[name] - before[name]) > UNMOVED} == hit


def test_smaller_models_do_worse(rates: Rates) -> None:
    means = [sum(rates(model=model).values()) / len(BEHAVIOURS) for model in MODELS]
    assert means[0] > means[1] + 0.03
    assert means[1] > means[2] + 0.07


def test_the_unbroken_desk_behaves(rates: Rates) -> None:
    assert min(rates().values()) >= 0.85


def test_what_a_document_says_is_answered_by_every_model_less_reliably_by_the_smallest(rates: Rates) -> None:
    large, medium, small = (rates(model=model)["session"] for model in MODELS)
    assert large >= 0.9
    assert medium >= 0.85
    assert 0.6 <= small <= large - 0.1
