"""Which runs are judged in the event loop, and which by the thread of the evaluators."""

import asyncio
import threading
from typing import Any

from agentmut.campaign.running.judging import USUAL_SIZE, Judging
from agentmut.campaign.trials import Suite
from agentmut.judging import build
from agentmut.nouns import AgentTrace, Check, Ending, EvaluatorSpec, Execution, Outcome, Scenario


class Noting:
    """A user's evaluator that notes the thread it is called in."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Pass every run."""
        self.threads.append(threading.current_thread())
        return Check(evaluator="noting", passed=True, reason="it always passes")


def judged_by(evaluators: tuple[Any, ...], answer: str) -> tuple[Outcome, bool]:
    """Return the outcome, and whether a thread was started for it."""
    spec = EvaluatorSpec(name="contains", argument="yes")
    scenario = Scenario(name="s", turns=("hello",), evaluators=(spec,))
    judging = Judging(Suite({"s": scenario}, {"s": evaluators}), 60.0)

    async def judge() -> Outcome:
        execution = Execution(ending=Ending.ANSWERED, trace=AgentTrace(outputs=(answer,)))
        return (await judging.judge("s", execution)).outcome

    try:
        outcome = asyncio.run(judge())
        return outcome, judging._worker._thread is not None
    finally:
        judging.close()


CONTAINS = build(EvaluatorSpec(name="contains", argument="yes"))


def test_a_search_for_a_text_is_done_at_once() -> None:
    assert judged_by((CONTAINS,), "yes") == (Outcome.PASS, False)
    assert judged_by((CONTAINS,), "no") == (Outcome.FAIL, False)


def test_a_run_of_unusual_size_goes_to_the_thread() -> None:
    assert judged_by((CONTAINS,), "yes" + " " * USUAL_SIZE) == (Outcome.PASS, True)


def test_an_evaluator_of_a_user_never_runs_in_the_event_loop() -> None:
    own = Noting()
    assert judged_by((CONTAINS, own), "yes") == (Outcome.PASS, True)
    assert [thread.name for thread in own.threads] == ["agentmut-judging"]


def test_a_pattern_has_a_deadline() -> None:
    pattern = build(EvaluatorSpec(name="regex", argument="^(a+)+$"))
    assert judged_by((CONTAINS, pattern), "yes")[1]
