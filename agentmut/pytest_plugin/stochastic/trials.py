"""Decide when the trials of one test suffice. This module does not know how a trial is run."""

from dataclasses import dataclass, field
from enum import StrEnum

from agentmut.assessment import FixedTrials, Sprt
from agentmut.pytest_plugin.stochastic.finding import Finding, found
from agentmut.pytest_plugin.stochastic.marker_settings import StochasticSettings


class Ending(StrEnum):
    """How one trial ended."""

    PASSED = "passed"
    FAILED = "failed"
    """An assertion failed."""
    ERROR = "error"
    """Something else was raised, which says nothing about the agent."""
    LEFT = "left"
    """The test said that it should be skipped, or is expected to fail: it is not repeated."""


@dataclass
class Trials:
    """The trials so far. Only `record` and `void` change them."""

    settings: StochasticSettings
    passed: list[bool] = field(default_factory=list)
    """Whether each trial that is evidence passed, in order."""
    errors: int = 0
    left: bool = False
    _rule: Sprt | FixedTrials = field(init=False)

    def __post_init__(self) -> None:
        self._rule = self.settings.rule()

    @property
    def count(self) -> int:
        """Return how many trials were run."""
        return len(self.passed) + self.errors

    @property
    def ended(self) -> bool:
        """Return whether no further trial is wanted."""
        if self.left or self.errors >= self.settings.errors or len(self.passed) >= self.settings.trials:
            return True
        return bool(self.passed) and self._rule.ended(self.passed)

    def record(self, ending: Ending) -> None:
        """Add the ending of one more trial."""
        if ending is Ending.ERROR:
            self.errors += 1
        elif ending is Ending.LEFT:
            self.left = True
        else:
            self.passed.append(ending is Ending.PASSED)

    def void(self, ending: Ending) -> None:
        """Turn the last trial, which ended like this, into an error: its teardown failed."""
        if ending is not Ending.ERROR:
            self.passed.pop()
            self.errors += 1

    def finding(self) -> Finding:
        """Return the verdict with its evidence."""
        return found(self.settings, self.passed, self.errors)
