"""An internal IT help desk: the untouched check of the frozen simulator.

Prompt, tools, documents, checks and predictions (all up to `PREDICTED`) were committed before their first run.
"""

from collections.abc import Callable
from typing import Any

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
