"""A difference that is planted in traces is found, worded as an assertion, checked, and ranked first."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from agentmut.campaign.running.stored import StoredCampaign
from agentmut.insight.explain.behaviour import ComparedRuns, TraceTest
from agentmut.insight.explain.mining import mine, suggest_assertions
from agentmut.insight.explain.stored_runs import MASKED, StoredRuns
from agentmut.insight.fingerprint import fingerprint
from agentmut.judging.building import build
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Intent
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.trace import AgentTrace, Judgement
from tests.insight.explain.campaigns import trace
from tests.processor import processor_time

Campaign = Callable[..., StoredCampaign]
WORDS = (
    "order",
    "parcel",
    "arrives",
    "soon",
    "today",
    "safely",
    "customer",
    "thanks",
    "waiting",
    "team",
    "green",
)


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


def ticket(r: random.Random) -> str:
    return f"A-{r.randint(1000, 9999)}"


PLANTED: list[tuple[str, Any, Any, str, Any]] = [
    ("presence", lambda r: trace("look", "check", answer=chatter(r)),
     lambda r: trace("look", "look", answer=chatter(r)), "tool_called", "check"),
    ("absence", lambda r: trace("look", "look", answer=chatter(r)),
     lambda r: trace("look", "wipe", answer=chatter(r)), "tool_not_called", "wipe"),
    ("order", lambda r: trace("check", "pay", answer=chatter(r)),
     lambda r: trace("pay", "check", answer=chatter(r)), "tool_order", ["check", "pay"]),
    ("count", lambda r: trace("look", answer=chatter(r), extra=r.choice([0, 8])),
     lambda r: trace("look", "look", "look", answer=chatter(r)), "tool_count", {"tool": "look", "at_most": 1}),
    ("argument", lambda r: trace(("pay", {"amount": 20, "note": chatter(r)}), answer=chatter(r)),
     lambda r: trace(("pay", {"amount": 25, "note": chatter(r)}), answer=chatter(r)),
     "tool_called_with", {"tool": "pay", "arguments": {"amount": 20}}),
    ("pattern", lambda r: trace(("look", {"id": ticket(r)}), answer=chatter(r)),
     lambda r: trace(("look", {"id": ticket(r)[2:]}), answer=chatter(r)),
     "tool_called_with", {"tool": "look", "matching": {"id": r"[A-Z]-\d{4}"}}),
    ("phrase", with_answer(lambda r: f"{chatter(r)} Kind regards."), with_answer(lambda r: f"{chatter(r)} Bye now."),
     "contains", "kind regards"),
    ("forbidden phrase", with_answer(chatter),
     with_answer(lambda r: f"{' '.join(chatter(r).split()[:2])} with your fraud score"),
     "not_contains", "fraud score"),
    ("form", with_answer(lambda r: f"{chatter(r)} Due 2026-0{r.randint(1, 9)}-1{r.randint(0, 9)}."),
     with_answer(lambda r: f"{chatter(r)} Due {r.choice(['soon', 'never', 'again'])} maybe 7."),
     "regex", r"\b\d{4}-\d{2}-\d{2}\b"),
    ("figure", with_answer(lambda r: f"{chatter(r)} Within {r.choice(['30', 'thirty'])} days."),
     with_answer(lambda r: f"{chatter(r)} Within {r.choice(['14', 'fourteen'])} days."), "states", None),
    ("field", with_answer(lambda r: {"team": "billing", "note": chatter(r)}),
     with_answer(lambda r: {"team": "sales", "note": chatter(r)}), "expect", {"team": "billing"}),
    ("type", with_answer(lambda r: {"price": r.randint(1, 99)}),
     with_answer(lambda r: {"price": str(r.randint(1, 99))}), "json_schema",
     {"type": "object", "required": ["price"], "properties": {"price": {"type": "integer"}}}),
    ("steps", lambda r: trace("look", answer=chatter(r)), lambda r: trace("look", answer=chatter(r), extra=5),
     "max_steps", 6),
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
    made = campaign(contrast(original, mutant))
    found = mine(made, "m", others=[])
    assert found
    first = found[0]
    assert first.evaluator.name == name
    assert argument in (None, first.evaluator.argument)
    assert (first.mutants, first.baseline.of, first.held_out.of) == (("m",), 50, 25)
    assert first.margin > 0.3
    for one in found:  # and the unchanged agent passes each of them on runs that nothing was found on
        evaluator = build(one.evaluator)
        fresh = [evaluator.evaluate(made.session.scenarios[0], t).passed for t in runs(original, 40, 99)]
        assert sum(fresh) >= 0.8 * len(fresh), one.why


def varied(r: random.Random) -> AgentTrace:
    """An agent that does many things sometimes."""
    calls: list[Any] = [("look", {"id": ticket(r), "page": r.randint(1, 3)})]
    calls += ["check"] if r.random() < 0.85 else []
    calls += ["pay"] if r.random() < 0.9 else []
    end = "Kind regards." if r.random() < 0.9 else "Bye."
    return trace(*calls, answer=f"{chatter(r)} Within 30 days. {end}", extra=r.randint(0, 2))


def test_nothing_is_proposed_where_there_is_no_difference(campaign: Campaign) -> None:
    mutants = {f"m{i}": {"s": runs(varied, r_of(i), 100 + i)} for i in range(15)}
    made = campaign({"": {"s": runs(varied, 60, 1)}, **mutants})
    stored = StoredRuns(made)
    proposing = sum(bool(mine(made, mutant, others=[], stored=stored)) for mutant in mutants)
    assert proposing <= 3  # at .05 more have a chance of 1 %; test_family.py has more of them


def r_of(i: int) -> int:
    return (11, 20, 40)[i % 3]


def test_another_survivor_with_the_same_fault_is_named_and_one_without_is_not(campaign: Campaign) -> None:
    found = mine(campaign(TWO_FAULTS), "m1", others=["m1", "m2", "m3"])
    assert found[0].evaluator.argument == "check"
    assert found[0].mutants == ("m1", "m2")


TWO_FAULTS = {
    "": {"s": runs(lambda r: trace("look", "check", answer=f"{chatter(r)} Kind regards."), 40, 1)},
    "m1": {"s": runs(lambda r: trace("look", answer=f"{chatter(r)} Kind regards."), 11, 2)},
    "m2": {"s": runs(lambda r: trace("look", answer=f"{chatter(r)} Kind regards."), 11, 3)},
    "m3": {"s": runs(lambda r: trace("look", "check", answer=f"{chatter(r)} Bye."), 11, 4)},
}


def survivor(id: str, gap: str = "assertion", intent: Intent = Intent.DEGRADE) -> MutantRow:
    return MutantRow.model_validate(
        {"id": id, "operator": "prompt.negate", "class": "prompt", "intent": intent, "status": "survived",
         "target": {"path": None}, "before": "", "after": "", "description": "", "gap": gap}
    )  # fmt: skip


def test_the_set_for_all_survivors_is_small_and_begins_with_what_kills_most(campaign: Campaign) -> None:
    rows = [survivor("m3"), survivor("m1"), survivor("m2")]
    first, second = suggest_assertions(campaign(TWO_FAULTS), rows)
    assert (first.evaluator.argument, set(first.mutants)) == ("check", {"m1", "m2"})
    assert (second.evaluator.argument, second.mutants) == ("kind regards", ("m3",))


def test_only_degrading_survivors_with_an_assertion_gap_get_proposals(campaign: Campaign) -> None:
    rows = [survivor("m1", "unknown"), survivor("m3", intent=Intent.PRESERVE)]
    assert suggest_assertions(campaign(TWO_FAULTS), rows) == ()


def test_runs_whose_secrets_were_masked_are_left_out_and_counted(campaign: Campaign) -> None:
    masked = Judgement(by="x", checks=())
    hidden = [t.model_copy(update={"judged": masked}) for t in TWO_FAULTS["m1"]["s"]]
    stored = StoredRuns(campaign({**TWO_FAULTS, "m1": {"s": hidden}}))
    assert mine(stored.campaign, "m1", others=[], stored=stored) == ()
    assert stored.notes == (f"11 stored runs are left out: {MASKED}",)


def test_an_assertion_that_would_push_the_scenario_under_its_threshold_is_not_proposed(
    campaign: Campaign,
) -> None:
    """The original passes 45 of 48 and calls the tool in 44, each of which is enough; both hold in 41."""
    original = [
        trace(*(["look", "check"] if i % 13 else ["look"]), answer="bad" if i % 16 == 5 else "fine")
        for i in range(48)
    ]
    mutant = [trace("look", answer="fine") for _ in range(11)]
    evaluators = [{"contains": "fine"}]
    assert mine(campaign({"": {"s": original}, "m": {"s": mutant}}, evaluators), "m", others=[]) == ()
    lenient = campaign({"": {"s": original}, "m": {"s": mutant}}, [{"max_steps": 20}])
    assert "tool_called" in [one.evaluator.name for one in mine(lenient, "m", others=[])]


def test_mining_one_survivor_over_two_hundred_runs_takes_seconds(campaign: Campaign) -> None:
    made = campaign({"": {"s": runs(varied, 160, 1)}, "m": {"s": runs(lambda r: trace("look"), 40, 2)}})
    with processor_time() as used:
        assert mine(made, "m", others=[])
    assert used.seconds <= 8.0


def hostile(r: random.Random) -> AgentTrace:
    """What models come up with."""
    calls: list[Any] = [
        ("pay", {"amount": r.choice([10**400, float("inf"), -5, None, [], {"a": [1]}]), "": "\ud800\x00"}),
        ("pay", {"note": "x" * 5000}),
    ]
    answers: list[Any] = [
        "",
        None,
        "\x1b[31m\u202e",
        {"n": 10**400, "": None},
        [1, 2],
        "((((*?[",
        "a@" * 2000,
        7,
    ]
    return trace(*r.sample(calls, r.randint(0, 2)), answer=r.choice(answers))


def test_hostile_traces_break_neither_mining_nor_fingerprints(campaign: Campaign) -> None:
    original, mutant = runs(hostile, 40, 1), runs(hostile, 20, 2)
    assert isinstance(mine(campaign({"": {"s": original}, "m": {"s": mutant}}), "m", others=[]), tuple)
    prints = [fingerprint(Execution(ending=Ending.ANSWERED, trace=t)) for t in (*original, *mutant)]
    assert TraceTest({"s": prints[:40]}, 1).change("m", [ComparedRuns("s", prints[40:])]) is not None


def test_a_field_that_is_lost_or_out_of_bounds_is_found(campaign: Campaign) -> None:
    original = runs(lambda r: trace(answer={"team": r.choice("ab"), "days": r.randint(1, 9)}), 50, 1)
    lost = runs(lambda r: trace(answer={"days": r.randint(1, 9)}), 11, 2)
    late = runs(lambda r: trace(answer={"team": r.choice("ab"), "days": r.randint(50, 90)}), 11, 2)
    made = campaign({"": {"s": original}, "lost": {"s": lost}, "late": {"s": late}})
    assert mine(made, "lost", others=[])[0].evaluator.argument == {"type": "object", "required": ["team"]}
    bounded = mine(made, "late", others=[])[0].evaluator.argument
    assert isinstance(bounded, dict)
    assert bounded["properties"] == {"days": {"type": "number", "minimum": 1, "maximum": 9}}
