"""The result of a hypothesis test, with the direction of its alternative."""

from enum import StrEnum
from typing import NamedTuple

from agentmut.stats.checks import check_choice


class Alternative(StrEnum):
    """What the test would show: the first quantity, compared with the second or with a stated value, is ..."""

    LESS = "less"
    GREATER = "greater"
    TWO_SIDED = "two-sided"
    """Different, in either direction."""


class Significance(NamedTuple):
    """The result of one test.

    >>> print(Significance(0.0625, Alternative.TWO_SIDED, "exact McNemar", 5, 5.0))
    p = 0.0625 (two-sided, exact McNemar, n=5)
    >>> print(Significance(1.2e-9, Alternative.LESS, "Fisher", 200, 0.1))
    p = 1.2e-09 (one-sided: less, Fisher, n=200)
    """

    p_value: float
    alternative: Alternative
    method: str
    n: int
    """Observations that the test looked at, both samples together."""
    statistic: float
    """What the method compares with its null distribution; its docstring says what that is."""

    def __str__(self) -> str:
        two = self.alternative is Alternative.TWO_SIDED
        sides = str(self.alternative) if two else f"one-sided: {self.alternative}"
        return f"p = {self.p_value:.3g} ({sides}, {self.method}, n={self.n})"


def check_alternative(value: "Alternative | str") -> Alternative:
    """Return `value` as an `Alternative`; else `ValueError` with the three members."""
    return check_choice("alternative", value, Alternative)
