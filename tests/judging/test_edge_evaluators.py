"""How an answer begins and ends, whatever case, blanks, quotes and punctuation there are."""

from typing import Any

import pytest

from agentmut.judging.evaluators.edges import EndsWith, StartsWith
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace
from agentmut.testing import check_evaluator

SCENARIO = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))


@pytest.mark.parametrize(
    ("evaluator", "output", "passed"),
    [
        (EndsWith("Anything else?"), "It is late. Anything  else?\n", True),
        (EndsWith("Anything else?"), 'It is late. **"anything else"**!', True),
        (EndsWith("Anything else?"), "Anything else? It is late.", False),
        (EndsWith("else"), "Or somewhereelse", False),
        (EndsWith(["Bye.", "Kind regards"]), "Kind regards,", True),
        (StartsWith("Dear customer,"), "> *Dear Customer* it is late", True),
        (StartsWith("Dear"), "Dearest", False),
        (StartsWith("Dear"), "Oh dear", False),
        (EndsWith("x"), None, False),
        (EndsWith("done"), {"state": "done"}, False),
    ],
)
def test_the_edge_of_an_output_is_compared(evaluator: Any, output: Any, passed: bool) -> None:
    check = evaluator.evaluate(SCENARIO, AgentTrace(outputs=(output,)))
    assert check.passed is passed, check.reason


def test_the_reason_names_what_is_expected_and_what_is_there() -> None:
    check = EndsWith(["Bye", "Regards"]).evaluate(SCENARIO, AgentTrace(outputs=("Well.",)))
    assert check.reason == "expected an output that ends with 'Bye' or 'Regards': 'Well.'"


@pytest.mark.parametrize("kind", [StartsWith, EndsWith])
def test_they_are_sound_evaluators(kind: type) -> None:
    check_evaluator(kind, "please", refused=[3, "", [], "?!", {"text": "a"}])
