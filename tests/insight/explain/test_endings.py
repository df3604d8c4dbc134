"""How a run ends: an empty answer and a question back are told from an answer that does what was asked."""

import pytest

from agentmut.insight.explain.candidates import Candidate, Contrast
from agentmut.insight.explain.ending_candidates import ANSWERED, NO_QUESTION, WHOLE, of_endings
from agentmut.insight.explain.views import View
from agentmut.judging.building import build
from agentmut.nouns import Action, AgentTrace, Scenario, Step

DONE, ASKS, SILENT, CUT = "Order A-1 is cancelled.", "Shall I go on?", " ", "Order A-1 is canc"


def view(said: str) -> View:
    return View(AgentTrace(steps=(Step(action=Action.RESPOND, output=said),), outputs=(said,)))


def proposed(*original: str) -> dict[object, Candidate]:
    contrast = Contrast([view(said) for said in original], (), 0.8)
    return {one.spec.argument: one for one in of_endings(contrast)}


def test_an_agent_that_answers_is_asked_to_answer_and_not_to_ask_back() -> None:
    found = proposed(DONE, DONE, DONE, DONE)
    assert set(found) == {ANSWERED, WHOLE, NO_QUESTION}


def test_what_the_original_does_itself_is_not_forbidden() -> None:
    assert set(proposed(ASKS, ASKS, DONE)) == {ANSWERED, WHOLE}
    assert set(proposed(CUT, CUT, CUT)) == {ANSWERED, NO_QUESTION}
    assert proposed(SILENT, SILENT, SILENT) == {}
    assert proposed() == {}


@pytest.mark.parametrize(
    ("said", "answered", "whole", "states"),
    [
        (DONE, True, True, True),
        (ASKS, True, True, False),
        (SILENT, False, False, True),
        (CUT, True, False, True),
    ],
)
def test_the_evaluator_says_what_the_candidate_says(
    said: str, answered: bool, whole: bool, states: bool
) -> None:
    scenario = Scenario(name="s", turns=("Cancel A-1.",), evaluators=(proposed(DONE)[ANSWERED].spec,))
    for argument, wanted in ((ANSWERED, answered), (WHOLE, whole), (NO_QUESTION, states)):
        one = proposed(DONE)[argument]
        assert one.holds(view(said)) is wanted
        assert build(one.spec).evaluate(scenario, view(said).trace).passed is wanted
