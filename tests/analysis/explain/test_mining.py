"""A difference that is planted in traces is found, worded as an assertion, checked, and ranked first."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from agentmut.analysis.explain.mining import mine
from agentmut.engine.stored import StoredCampaign
from agentmut.evaluators import build
from agentmut.scenario import Scenario
from agentmut.trace import AgentTrace
from tests.analysis.explain.conftest import trace

Campaign = Callable[..., StoredCampaign]
WORDS = "order parcel arrives soon today safely customer thanks waiting delivery team green".split(" ")  # noqa: SIM905


def chatter(rng: random.Random) -> str:
    """An answer whose words differ from run to run."""
    return " ".join(rng.sample(WORDS, 6)) + "."


def runs(make: Callable[[random.Random], AgentTrace], n: int, seed: int) -> list[AgentTrace]:
    rng = random.Random(seed)
    return [make(rng) for _ in range(n)]


def contrast(
    original: Callable[[random.Random], AgentTrace], mutant: Callable[[random.Random], AgentTrace]
) -> dict[str, dict[str, list[AgentTrace]]]:
    return {"": {"s": runs(original, 50, 1)}, "m": {"s": runs(mutant, 11, 2)}}


def with_answer(make: Callable[[random.Random], Any]) -> Callable[[random.Random], AgentTrace]:
    return lambda rng: trace("look", answer=make(rng))


PLANTED: list[tuple[str, Any, Any, str, Any]] = [
    ("presence", lambda r: trace("look", "check", answer=chatter(r)), lambda r: trace("look", "look", answer=chatter(r)),
     "tool_called", "check"),
    ("absence", lambda r: trace("look", "look", answer=chatter(r)), lambda r: trace("look", "wipe", answer=chatter(r)),
     "tool_not_called", "wipe"),
    ("order", lambda r: trace("check", "pay", answer=chatter(r)), lambda r: trace("pay", "check", answer=chatter(r)),
     "tool_order", ["check", "pay"]),
    ("count", lambda r: trace("look", answer=chatter(r), extra=r.choice([0, 8])),
     lambda r: trace("look", "look", "look", answer=chatter(r)), "tool_count", {"tool": "look", "at_most": 1}),
    ("argument", lambda r: trace(("pay", {"amount": 20, "note": chatter(r)}), answer=chatter(r)),
     lambda r: trace(("pay", {"amount": 25, "note": chatter(r)}), answer=chatter(r)),
     "tool_called_with", {"tool": "pay", "arguments": {"amount": 20}}),
    ("pattern", lambda r: trace(("look", {"id": f"A-{r.randint(1000, 9999)}"}), answer=chatter(r)),
     lambda r: trace(("look", {"id": f"{r.randint(1000, 9999)}"}), answer=chatter(r)),
     "tool_called_with", {"tool": "look", "matching": {"id": r"[A-Z]-\d{4}"}}),
    ("phrase", with_answer(lambda r: f"{chatter(r)} Kind regards."), with_answer(lambda r: f"{chatter(r)} Bye now."),
     "contains", "kind regards"),
    ("form", with_answer(lambda r: f"{chatter(r)} Due 2026-0{r.randint(1, 9)}-1{r.randint(0, 9)}."),
     with_answer(lambda r: f"{chatter(r)} Due {r.choice(['soon', 'never', 'again'])} maybe 7."),
     "regex", r"\b\d{4}-\d{2}-\d{2}\b"),
    ("figure", with_answer(lambda r: f"{chatter(r)} Within {r.choice(['30', 'thirty'])} days."),
     with_answer(lambda r: f"{chatter(r)} Within {r.choice(['14', 'fourteen'])} days."), "states", None),
    ("field", with_answer(lambda r: {"team": "billing", "note": chatter(r)}),
     with_answer(lambda r: {"team": "sales", "note": chatter(r)}), "expect", {"team": "billing"}),
    ("type", with_answer(lambda r: {"price": r.randint(1, 99)}), with_answer(lambda r: {"price": str(r.randint(1, 99))}),
     "json_schema",
     {"type": "object", "required": ["price"], "properties": {"price": {"type": "integer"}}}),
    ("steps", lambda r: trace("look", answer=chatter(r)), lambda r: trace("look", answer=chatter(r), extra=5),
     "max_steps", 4),
    ("cost", lambda r: trace("look", answer=chatter(r)), lambda r: trace("look", answer=chatter(r), usd=0.01),
     "max_cost", 0.0025),
    ("length", with_answer(chatter), with_answer(lambda r: f"{chatter(r)} {chatter(r)} {chatter(r)}"),
     "expression", "len(text.split()) <= 6"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("original", "mutant", "name", "argument"), [p[1:] for p in PLANTED], ids=[p[0] for p in PLANTED]
)
def test_each_kind_of_difference_is_proposed_first_where_it_is_the_only_one(
    campaign: Campaign, original: Any, mutant: Any, name: str, argument: Any
) -> None:
    found = mine(campaign(contrast(original, mutant)), "m", others=[])
    assert found
    first = found[0]
    assert first.evaluator.name == name
    if argument is not None:
        assert first.evaluator.argument == argument
    assert first.mutants == ("m",)
    assert first.baseline.of == 50
    assert first.held_out.of == 25
    assert first.margin > 0.3


@pytest.mark.parametrize(
    ("original", "name", "argument"),
    [(p[1], p[3], p[4]) for p in PLANTED if p[4] is not None],
    ids=[p[0] for p in PLANTED if p[4] is not None],
)
def test_the_unchanged_agent_passes_what_was_proposed_on_fresh_runs(
    campaign: Campaign, original: Any, name: str, argument: Any
) -> None:
    mutant = next(p[2] for p in PLANTED if p[1] is original)
    stored = campaign(contrast(original, mutant))
    scenario: Scenario = stored.session.scenarios[0]
    for one in mine(stored, "m", others=[]):
        evaluator = build(one.evaluator)
        fresh = [evaluator.evaluate(scenario, t).passed for t in runs(original, 60, 99)]
        assert sum(fresh) >= 0.8 * len(fresh), one.why
