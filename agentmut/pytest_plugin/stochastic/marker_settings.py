"""Check the arguments of the marker `agentmut`."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from agentmut._base import UsageError, nearest
from agentmut.assessment import FixedTrials, Sprt
from agentmut.stats import (
    LEAST_MARGIN,
    Bound,
    SprtDesign,
    check_count,
    check_name,
    check_rate,
    check_threshold,
    least_passing_n,
)

MARKER = "agentmut"
INCONCLUSIVE_INI = "agentmut_inconclusive"
MOST_TRIALS = 10_000
MARGIN = 0.10
BETA = 0.10
Method = Literal["sprt", "fixed"]
Inconclusive = Literal["fail", "pass", "skip"]
Raised = Literal["error", "fail"]
_ONLY_SPRT = ("margin", "beta")


@dataclass(frozen=True)
class StochasticSettings:
    """How often a test must pass, and how that is found out. Raises `UsageError` for impossible values."""

    trials: int = 100
    """Most trials that are evidence; with method "fixed" their number."""
    threshold: float = 0.9
    """The pass rate asked for."""
    alpha: float = 0.05
    """Chance of FAIL although the rate is at least the threshold."""
    beta: float | None = None
    """Method "sprt": chance of PASS although the rate is threshold - margin or less; 0.10 where nothing is said."""
    margin: float | None = None
    """Method "sprt": how far below the threshold a rate must be noticed; 0.10, or half the threshold if less."""
    method: Method = "sprt"
    """Stop as soon as the trials decide, or run all of them and judge once."""
    inconclusive: Inconclusive = "fail"
    """The outcome that pytest reports for a test without enough evidence either way."""
    errors: int = 3
    """The number of trials without evidence that ends the test as an error."""
    raised: Raised = "error"
    """What an exception that is no failed assertion counts as: no evidence, or a failed trial."""

    def __post_init__(self) -> None:
        try:
            self._check()
        except ValueError as error:
            raise UsageError(f"{error}.") from None

    def _check(self) -> None:
        check_count("trials", self.trials, 1, MOST_TRIALS)
        check_threshold(self.threshold)
        check_rate("alpha", self.alpha)
        check_name("method", self.method, get_args(Method))
        check_name("inconclusive", self.inconclusive, get_args(Inconclusive))
        check_count("errors", self.errors, 1)
        check_name("raised", self.raised, get_args(Raised))
        if self.margin is not None:
            check_rate("margin", self.margin, LEAST_MARGIN, self.threshold)
        if self.method == "sprt":
            self._design()
        elif given := [name for name in _ONLY_SPRT if getattr(self, name) is not None]:
            raise ValueError(f"method {self.method!r} takes no {' and no '.join(given)}")

    def rule(self) -> Sprt | FixedTrials:
        """Return the rule of `agentmut test` with these settings."""
        if self.method == "fixed":
            return FixedTrials(self.threshold, self.trials, self.alpha)
        return Sprt(self._design(), self.trials)

    def least_to_pass(self) -> int | None:
        """Return how many passes in a row are PASS; None if no number is."""
        if self.method == "sprt":
            design = self._design()
            return next(n for n in range(1, 10**7) if design.on_pass * n <= design.lower + 1e-9)
        if self.threshold == 1:
            return None
        return least_passing_n(self.threshold, self.alpha, Bound.CLOPPER_PEARSON)

    @property
    def above(self) -> float:
        """Return the rate that PASS shows to be exceeded: threshold - margin; the threshold if judged once."""
        return self.threshold if self.method == "fixed" else self._design().alternative

    def _design(self) -> SprtDesign:
        margin = min(MARGIN, self.threshold / 2) if self.margin is None else self.margin
        beta = BETA if self.beta is None else self.beta
        return SprtDesign(self.threshold, margin, self.alpha, beta, self.trials)


NAMES = tuple(field.name for field in fields(StochasticSettings))


def read_settings(
    positional: tuple[Any, ...], named: Mapping[str, Any], inconclusive: str, cap: int | None
) -> StochasticSettings:
    """Return the settings of one test.

    `inconclusive` is what the ini file says, `cap` the most trials of the command line. Raises `UsageError`, which
    names the marker and the setting.

    >>> read_settings((), {"trials": 50, "threshold": 0.85}, "fail", 20).trials
    20
    """
    try:
        if positional:
            raise UsageError("takes its settings by name, such as trials=50.")
        if unknown := [name for name in named if name not in NAMES]:
            raise UsageError(f"has no setting {unknown[0]!r}. {_hint(unknown[0])}")
        if "inconclusive" not in named and inconclusive not in get_args(Inconclusive):
            known = ", ".join(get_args(Inconclusive))
            raise UsageError(
                f"{INCONCLUSIVE_INI} of the ini file must be one of {known}, got {inconclusive!r}."
            )
        settings = StochasticSettings(**{"inconclusive": inconclusive, **named})
        if cap is None or settings.trials <= cap:
            return settings
        return StochasticSettings(**{"inconclusive": inconclusive, **named, "trials": cap})
    except UsageError as error:
        raise UsageError(f"the marker {MARKER}: {error}") from None


def _hint(name: str) -> str:
    close = difflib.get_close_matches(name, NAMES, n=1)
    return nearest(name, NAMES) if close else f"It takes {', '.join(NAMES)}."
