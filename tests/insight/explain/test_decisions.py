"""An agent that refuses what it used to grant is seen to have changed, and gets the assertion that says so."""

import random
from collections.abc import Callable

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.running.stored import StoredCampaign
from agentmut.insight.explain.behaviour import ComparedRuns, TraceTest
from agentmut.insight.explain.mining import mine
from agentmut.insight.fingerprint import Feature, Fingerprint, fingerprint, in_words
from agentmut.judging.building import build
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace
from agentmut.report.terminal.assertion_lines import yaml_lines
from tests.insight.explain.campaigns import trace

GRANTS = (
    "Your refund has been approved.",
    "Good news: we've approved it.",
    "I have issued the refund.",
    "We will gladly refund you.",
    "You're eligible, so I've processed that for you.",
    "Your request was accepted.",
    "Yes, you can return it.",
)
REFUSES = (
    "Your refund has not been approved.",
    "I'm sorry, but we can't approve that.",
    "I haven't issued the refund.",
    "We won't refund you.",
    "You aren't eligible, so it cannot be paid back.",
    "Your request was denied.",
    "No, you can't return it.",
)
ENDS = ("Thank you for your patience!", "I hope this helps.", "Have a lovely day.", "Anything else?")


def answers(wordings: tuple[str, ...], n: int, seed: int) -> list[AgentTrace]:
    rng = random.Random(seed)
    return [trace(answer=f"{rng.choice(wordings)} {rng.choice(ENDS)}") for _ in range(n)]


@pytest.mark.parametrize(
    ("original", "mutant", "decision"), [(GRANTS, REFUSES, "yes"), (REFUSES, GRANTS, "no")]
)
def test_a_decision_turned_round_is_proposed_whatever_the_wording(
    campaign: Callable[..., StoredCampaign],
    original: tuple[str, ...],
    mutant: tuple[str, ...],
    decision: str,
) -> None:
    stored = campaign({"": {"s": answers(original, 50, 1)}, "m": {"s": answers(mutant, 12, 2)}})
    first = mine(stored, "m", others=[])[0]
    assert (first.evaluator.name, first.evaluator.argument) == ("decides", decision)
    assert yaml_lines(first.evaluator) == f"- decides: '{decision}'"


def test_a_decision_turned_round_shows_in_what_a_run_did() -> None:
    def prints(wordings: tuple[str, ...], n: int, seed: int) -> list[Fingerprint]:
        runs = [Execution(ending=Ending.ANSWERED, trace=each) for each in answers(wordings, n, seed)]
        return [fingerprint(run) for run in runs]

    found = TraceTest({"s": prints(GRANTS, 50, 1)}, 1).change(
        "m", [ComparedRuns("s", prints(REFUSES, 11, 2))]
    )
    assert found is not None
    assert found.changed
    assert found.feature in ("answers grant or affirm less often", "answers refuse or deny more often")
    assert in_words(Feature("refuses"), up=False) == "answers refuse or deny less often"


def passes(argument: object, answer: object) -> bool:
    spec = EvaluatorSpec.model_validate({"name": "decides", "argument": argument})
    scenario = Scenario(name="s", turns=("hi",), evaluators=(spec,))
    return build(spec).evaluate(scenario, AgentTrace.model_validate({"outputs": [answer]})).passed


TWO = {"approved": ["approve", "refund"], "denied": ["reject"]}
THREE = {"gold": ["gold"], "silver": ["silver"], "bronze": ["bronze"]}


@pytest.mark.parametrize(
    ("argument", "answer", "passed"),
    [
        ("yes", "Your refund has been approved.", True),
        ("yes", "Your refund cannot be approved.", False),
        ("no", "Your refund cannot be approved.", True),
        (True, "Your refund has been approved.", True),
        (False, "Your refund has been approved.", False),
        ("yes", "The weather is fine.", False),
        ("yes", "Your refund has been approved. Your exchange was denied.", False),
        ("yes", {"refund": "approved"}, False),
        ({"terms": TWO, "is": "approved"}, "We approve it.", True),
        ({"terms": TWO, "is": "denied"}, "We do not approve it.", True),
        ({"terms": TWO, "is": "approved"}, "We reject it.", False),
        ({"terms": THREE, "is": "gold"}, "You get gold.", True),
        ({"terms": THREE, "is": "gold"}, "You get gold and silver.", False),
        ({"terms": THREE, "is": "gold"}, "You do not get silver. You get gold.", True),
        ({"terms": THREE, "is": "not silver"}, "You do not get silver. You get gold.", True),
        ({"terms": THREE, "is": "not silver"}, "You get silver.", False),
    ],
)
def test_the_answer_has_to_decide_so_and_not_otherwise(
    argument: object, answer: object, passed: bool
) -> None:
    assert passes(argument, answer) is passed


@pytest.mark.parametrize(
    "argument",
    ["maybe", None, 1, [], {}, {"terms": TWO}, {"is": "yes"}, {"terms": {}, "is": "x"}, {"terms": TWO, "is": "x"},
     {"terms": TWO, "is": "not denied"}, {"terms": ["approve"], "is": "approve"}, {"terms": TWO, "is": [1]}],
)  # fmt: skip
def test_a_decision_that_is_none_is_refused(argument: object) -> None:
    with pytest.raises(UsageError, match="decides"):
        passes(argument, "Yes.")
