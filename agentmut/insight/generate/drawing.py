"""Values of a Hypothesis strategy outside a test: equal seeds give equal values."""

import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
UNUSABLE = (re.error, ValueError, TypeError, OverflowError, RecursionError)
"""What is raised for a schema that is legal and that Python cannot use: patterns in the syntax of JavaScript, bounds
that no number has, references that lead nowhere.
"""


def drawn(strategy: "SearchStrategy[T]", count: int, seed: int) -> tuple[T, ...]:
    """Return at most `count` values; fewer if the strategy has no more."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from hypothesis.errors import HypothesisException
    from referencing.exceptions import Unresolvable

    values: list[T] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: T) -> None:
        values.append(value)

    try:
        if count < 1 or strategy.is_empty:
            return ()
        collect()
    except (
        HypothesisException,
        Unresolvable,
        *UNUSABLE,
    ):  # nothing, or hardly anything, fits or can be used
        return tuple(values)
    return tuple(values[:count])
