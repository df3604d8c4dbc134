"""Reading an answer or a prompt takes no square of its length, whatever character it repeats."""

import gc
import time
from collections.abc import Callable

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.operators.prompt.order import reorder_instructions
from agentmut.recording.known_secrets import KnownSecrets
from agentmut.seams import OperatorOptions


def facts(text: str) -> None:
    scenario = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="regex", argument="."),))
    trace = AgentTrace(steps=(Step(action=Action.RESPOND, output=text),), outputs=(text,))
    list(comparison_for(scenario).differences(scenario, trace, trace, {}))


def secrets(text: str) -> None:
    KnownSecrets(["correct-horse-battery"]).found_in(f"a line\n{text}")


def operators(text: str) -> None:
    list(reorder_instructions().mutants(AgentConfig(prompt=f"Be brief.\n{text}"), OperatorOptions()))


@pytest.mark.parametrize(
    ("read", "piece"),
    [
        *((facts, piece) for piece in ("a", ".", "!", "eyJ", " ")),
        *((secrets, piece) for piece in (" ", "\\", "\t ", "\\ ")),
        *((operators, piece) for piece in (" ", "\n", "\n\n", "\t")),
    ],
)
def test_eight_times_the_text_takes_no_sixty_four_times_the_time(
    read: Callable[[str], None], piece: str
) -> None:
    def seconds(characters: int) -> float:
        begun = time.process_time()
        read(f"{piece * (characters // len(piece))}!a")
        return time.process_time() - begun

    seconds(100)  # what is imported and learned with the first text
    gc.disable()  # a collection takes as long as other tests have left objects
    try:
        assert min(seconds(64_000) for _ in range(3)) < 24 * seconds(8_000) + 0.5
    finally:
        gc.enable()
