"""Somebody reads stored answers and writes an assertion that fits them: still few unchanged mutants are killed."""

from pathlib import Path

import pytest

from benchmarks.calibration.pasted import many, most_often, most_telling, share_killed

pytestmark = pytest.mark.whole
RATE = 0.93
"""With which the agent says each of 60 words; one of them stands in all of 50 answers."""


def test_a_word_that_was_chosen_by_stored_answers_kills_few_unchanged_mutants(tables: Path) -> None:
    for choose in (most_often, most_telling):
        (found,) = many(3, (RATE,), choose, tables).values()
        rate, error = share_killed(found)
        assert rate <= 0.05 + 3 * error
        assert rate < 0.25, "as many as without the age of evaluators"


def test_without_the_age_of_evaluators_such_a_word_kills_many(tables: Path) -> None:
    """The planted fault. Exactly, an unchanged mutant is killed with a chance of 0.39 after 50 passes of 50."""
    (found,) = many(3, (RATE,), most_often, tables, aware=False).values()
    rate, _ = share_killed(found)
    assert rate > 0.25
