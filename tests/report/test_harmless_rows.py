"""Rows of few harmless changes count those that survive, as robustness does."""

import pytest

from agentmut.nouns import Score
from agentmut.report.proof_wording import group_score


@pytest.mark.parametrize(
    ("score", "harmless", "said"),
    [
        (Score(value=1.0, low=0.3, high=1.0, survived=3), True, "3 of 3"),
        (Score(value=0.5, low=0.1, high=0.9, killed=1, survived=1, moderate=1), True, "1 of 2"),
        (Score(value=0.5, low=0.1, high=0.9, killed=1, survived=1, moderate=1), False, "1 of 2 (moderate)"),
        (Score(value=1.0, low=0.9, high=1.0, survived=7), True, "1.00 [0.90, 1.00]"),
    ],
)
def test_a_group_of_harmless_changes_counts_survivors(score: Score, harmless: bool, said: str) -> None:
    assert group_score(score, harmless=harmless) == said
