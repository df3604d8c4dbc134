"""Trials of the original among the mutants' trials, to the end of a campaign: they show a drift of the service."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agentmut.campaign.trials import Launch
from agentmut.store import LATER

NONE: Mapping[str, int] = MappingProxyType({})
"""No scenario whose trials begin with another repeat than 0."""


class Sentinels:
    """The choice of the next trial of the original, as a function of the trials launched since the baseline.

    `share` of these trials are the original's. Trials that confirmed kills of earlier rounds are among them, and so are
    those by which the baseline grew, so they make sentinels rarer.
    """

    def __init__(
        self, scenarios: Sequence[str] = (), share: float = 0.0, first: Mapping[str, int] = NONE
    ) -> None:
        self._scenarios = scenarios
        self._share = share
        self._first = first
        self.launched = 0

    def launch(self, trials: int, of_original: int = 0) -> Launch | None:
        """Return the next sentinel if one is due; the scenarios take turns.

        `trials` are the launches of mutants so far, with those of the original beside them. `of_original` are the
        latter in earlier rounds, and those by which the baseline grew. Both are functions of what was launched, so
        concurrency does not change how many are due.
        """
        if not self._scenarios or self.launched + of_original >= int(trials * self._share):
            return None
        repeat, at = divmod(self.launched, len(self._scenarios))
        self.launched += 1
        scenario = self._scenarios[at]
        return Launch("", scenario, self._first.get(scenario, 0) + LATER + repeat, self.launched - 1)
