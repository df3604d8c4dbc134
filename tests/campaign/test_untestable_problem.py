"""The message of a baseline that leaves nothing to test names what spoiled its trials, such as a hook that fails."""

from collections import Counter

from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.problems import untestable_problem


def test_trials_that_no_setup_let_begin_are_named() -> None:
    lost = Counter({"setup_failed: setup: AgentExitError: os._exit(0) was called": 16})
    said = untestable_problem({"s": ScenarioBaseline(wanted=20, trials=4, no_evidence=lost)})
    assert "too few trials of the original are evidence" in said
    assert "(s 4/4 passed)" in said
    assert "16 trials are no evidence, most often since setup_failed: setup: AgentExitError" in said


def test_an_agent_that_fails_is_told_as_before() -> None:
    lost = Counter({"infrastructure: away": 1})
    said = untestable_problem({"s": ScenarioBaseline(wanted=20, trials=20, failures=16, no_evidence=lost)})
    assert "the original fails too often" in said
    assert "(s 4/20 passed)" in said
