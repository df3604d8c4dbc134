"""What is said if the destroyed agent is reached only where the original fails too often."""

from agentmut.campaign.decision.problems import destroyed_problem
from agentmut.nouns import Status


def test_an_untestable_control_blames_the_scenarios_and_not_what_the_evaluators_pass() -> None:
    said = destroyed_problem(
        Status.UNTESTABLE, "reached only by scenarios on which the original fails too often: low"
    )
    assert (
        "could not be tested (reached only by scenarios on which the original fails too often: low)" in said
    )
    assert "whatever it answers" not in said
