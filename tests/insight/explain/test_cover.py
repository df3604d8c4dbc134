"""What is proposed together holds together, adds something, and says something of what is asked."""

from collections.abc import Callable

import pytest

from agentmut.campaign.running.stored import StoredCampaign
from agentmut.insight.explain.mining import mine, suggest_assertions
from agentmut.insight.explain.stored_runs import StoredRuns
from agentmut.insight.explain.views import View
from agentmut.nouns.suggestion import Rate
from agentmut.nouns.trace import AgentTrace
from tests.insight.explain.campaigns import trace
from tests.insight.explain.test_mining import survivor

Campaign = Callable[..., StoredCampaign]


def run(called: bool, kind: bool) -> AgentTrace:
    """An agent that checks and is kind, or fails to."""
    return trace(*(["look", "check"] if called else ["look"]), answer="Kind regards." if kind else "Bye.")


def two_faults(uncalled: set[int], unkind: set[int]) -> dict[str, dict[str, list[AgentTrace]]]:
    return {
        "": {"s": [run(i not in uncalled, i not in unkind) for i in range(50)]},
        "m1": {"s": [run(False, True)] * 11},
        "m2": {"s": [run(True, False)] * 11},
    }


MANY = two_faults({0, 1, 2, 3}, {10, 11, 12, 13})
FEW = two_faults({0}, {11, 14})


def test_assertions_that_the_agent_does_not_pass_together_are_not_proposed_together(
    campaign: Campaign,
) -> None:
    """46 of 50 call the tool and 46 are kind: each is enough for a threshold of .9, and both hold in 42."""
    made, rows = campaign(MANY), [survivor("m1"), survivor("m2")]
    stored = StoredRuns(made)
    assert all(mine(made, id, others=[], stored=stored) for id in ("m1", "m2"))
    (only,) = suggest_assertions(made, rows, stored=stored)
    assert only.together == only.baseline


def test_the_rate_at_which_a_scenario_passes_with_all_that_is_proposed_is_told(campaign: Campaign) -> None:
    """49 of 50 call the tool, 48 are kind, and both hold in 47."""
    found = suggest_assertions(campaign(FEW), [survivor("m1"), survivor("m2")])
    assert [one.together for one in found] == [Rate(held=47, of=50)] * 2
    assert all("s passes in 47/50 runs instead of 50/50" in one.why for one in found)


def test_what_is_applied_already_is_not_proposed_again(campaign: Campaign) -> None:
    evaluators = [{"max_steps": 60}, {"tool_called": "check"}]
    made = campaign(FEW, evaluators)
    stored = StoredRuns(made)
    (only,) = suggest_assertions(made, [survivor("m1"), survivor("m2")], stored=stored)
    assert only.mutants == ("m2",)
    assert mine(made, "m1", others=[], stored=stored) == ()


def test_an_evaluator_that_the_scenario_has_is_no_proposal_for_a_mutant_that_it_does_not_kill(
    campaign: Campaign,
) -> None:
    asked = campaign(FEW, [{"tool_called": "check"}, {"contains": "regards"}])
    assert not [one for one in mine(asked, "m1", others=[]) if one.evaluator.argument in ("check", "regards")]


def test_a_digit_or_a_question_mark_is_proposed_only_where_nothing_else_tells(campaign: Campaign) -> None:
    original = [trace("look", answer=f"Refund of {i} is on its way?") for i in range(100, 150)]
    silent = [trace("look", answer="Well.")] * 11
    made = campaign({"": {"s": original}, "m": {"s": silent}})
    stored = StoredRuns(made)
    found = mine(made, "m", others=[], stored=stored)
    telling = [one.generality >= 0.35 for one in found]
    assert telling[0] and telling == sorted(telling, reverse=True)
    (first,) = suggest_assertions(made, [survivor("m")], stored=stored)
    assert first.evaluator.name != "regex"


@pytest.mark.parametrize(
    ("answer", "seam", "kept"),
    [
        ("It is scheduled.) It leaves soon", "scheduled.) it", "leaves soon"),
        ('She said "scheduled." It leaves soon', 'scheduled." it', "leaves soon"),
        ("We do not guarantee Your bank desk", "guarantee your bank", "bank desk"),
        ("Please ask Anna Bell today", "", "ask anna bell today"),
        ("What can I do", "", "what can i do"),
    ],
)
def test_a_phrase_does_not_go_from_one_sentence_into_the_next(answer: str, seam: str, kept: str) -> None:
    phrases = View(trace(answer=answer)).phrases
    assert kept in phrases
    assert not seam or seam not in phrases
