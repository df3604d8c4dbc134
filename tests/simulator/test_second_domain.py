"""Another desk, written after the simulator was frozen: the same breakages have the same kind of effect.

It found one general defect, which was mended in general: an instruction's limit on a quantity was not
recognised where only a tool's schema says what the quantity is, and blurred which tool is limited.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmut.config import AgentConfig, Document
from agentmut.text import parse
from agentmut.tools import read_tool

FOLDER = Path(__file__).parent.parent / "testdata" / "travel_desk"
DESK = AgentConfig(
    prompt=(FOLDER / "prompt.md").read_text(),
    tools=tuple(read_tool(tool) for tool in json.loads((FOLDER / "tools.json").read_text())),
    context=(Document(name="rules.md", text=(FOLDER / "rules.md").read_text()),),
)
RESULTS = {
    "check_budget": {"left": 2400, "cost_centre": "K-9"},
    "search_hotels": {"name": "Grand", "rate": 240},
    "book_flight": {"booked": True},
    "request_visa_check": {"ticket": 5},
}
N = 100
CLEARLY = 0.3  # by how much a breakage lowers the rate of what it breaks
UNMOVED = 0.1  # within this everything else stays

Run = Callable[[AgentConfig, str, str], Any]
Behaviour = Callable[[Any], bool]

BEHAVIOURS: dict[str, tuple[str, Behaviour]] = {
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
def rates(converse: Any, share: Any) -> Callable[[AgentConfig, str], dict[str, float]]:
    def measure(desk: AgentConfig, model: str = "sim-large") -> dict[str, float]:
        def rate(asked: str, behaves: Behaviour) -> float:
            def passes(trial: str) -> bool:
                talk = converse(
                    desk.system_text(), asked, tools=desk.tools, results=RESULTS, model=model, trial=trial
                )
                return behaves(talk)

            return float(share(passes, N))

        return {name: rate(*behaviour) for name, behaviour in BEHAVIOURS.items()}

    return measure


@pytest.fixture(scope="module")
def usual(rates: Any) -> dict[str, float]:
    return dict(rates(DESK))


def without_rule(words: str) -> AgentConfig:
    rule = next(i for i in parse(DESK.prompt).instructions if words in i.text)
    return DESK.model_copy(
        update={"prompt": DESK.prompt[: rule.removal.start] + DESK.prompt[rule.removal.end :]}
    )


def without_tool(name: str) -> AgentConfig:
    return DESK.model_copy(update={"tools": tuple(tool for tool in DESK.tools if tool.name != name)})


def truncated() -> AgentConfig:
    (document,) = DESK.context
    return DESK.model_copy(update={"context": (Document(name=document.name, text=document.text[:100]),)})


def test_the_unbroken_desk_behaves(usual: dict[str, float]) -> None:
    assert min(usual.values()) >= 0.85


@pytest.mark.parametrize(
    ("broken", "hit"),
    [
        (without_rule("travel budget"), {"budget first"}),
        (without_rule("180 francs"), {"no dear hotel", "guesthouse"}),
        (without_rule("outside Europe"), {"visa"}),
        (without_rule("cost centre"), {"discretion"}),
        (without_rule("Safe travels"), {"farewell"}),
        (without_rule("120 words"), set()),
        (without_tool("check_budget"), {"budget first"}),
        (without_tool("search_hotels"), {"no dear hotel", "guesthouse"}),
        (without_tool("request_visa_check"), {"visa"}),
        (truncated(), {"meals"}),
    ],
)
def test_a_breakage_lowers_what_it_governs_and_nothing_else(
    rates: Any, usual: dict[str, float], broken: AgentConfig, hit: set[str]
) -> None:
    before, after = usual, rates(broken)
    lowered = {name for name in before if after[name] < before[name] - CLEARLY}
    moved = {name for name in before if abs(after[name] - before[name]) > UNMOVED}
    assert lowered == hit
    assert moved == hit


def test_smaller_models_do_worse(rates: Any) -> None:
    means = [sum(rates(DESK, m).values()) / len(BEHAVIOURS) for m in ("sim-large", "sim-medium", "sim-small")]
    assert means[0] > means[1] > means[2] + 0.05
