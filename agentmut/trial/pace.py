"""How long the model service usually takes, and whether a cut-off run had to wait longer than usual."""

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from statistics import median

from agentmut.nouns import ServiceTime

KNOWN = 20
"""So many waits tell how long a wait usually is."""
QUANTILE = 0.95
"""The usual wait: what so many of the waits take at most."""
BRIEF = 0.2
"""Seconds that a wait may take whatever is usual: less is no outage."""
SHARE = 0.1
"""The share of a run's timeout that the service may take beyond the usual before a timeout is the service's."""


def not_its_own(spent: ServiceTime, usual: float | None) -> str:
    """Return why a cut-off run is no evidence about its agent; an empty text if the agent had its time.

    Each wait counts as the agent's for as long as such a wait usually takes, `usual` seconds (None: not known yet;
    then it is read off the run's own waits). The timeout is the agent's where that fills its time: with work of its
    own, or since it asks again and again. It is not where its last wait is longer than usual, or where the service has
    taken more than a tenth of its time beyond the usual.
    """
    usual = max(BRIEF, _own_usual(spent.waits) if usual is None else usual)
    if spent.waiting > usual:
        return f"the model service was silent for {spent.waiting:.3g} s"
    lost = sum(max(0.0, wait - usual) for wait in spent.waits)
    if lost > SHARE * spent.cut:
        return f"the model service took {lost:.3g} s longer than it usually does"
    return ""


class Pace:
    """The waits of a campaign so far, by scenario; the waits of earlier trials while there are too few.

    `earlier` has waits of stored trials by scenario. What is known of a scenario goes before what is known of all.
    """

    def __init__(self, earlier: Mapping[str, Iterable[float]] | None = None) -> None:
        self._now: dict[str, list[float]] = {}
        self._earlier: dict[str, list[float]] = {}
        for scenario, waits in (earlier or {}).items():
            _add(self._earlier, scenario, waits)

    def learn(self, scenario: str, spent: ServiceTime) -> None:
        """Record a run in which the service answered."""
        _add(self._now, scenario, spent.waits)

    def usual(self, scenario: str) -> float | None:
        """Return the usual longest wait of the scenario in seconds; None while too little is known."""
        for known in (self._now, self._earlier):
            for name in (scenario, _ALL):
                if len(waits := known.get(name, ())) >= KNOWN:
                    return _quantile(waits)
        return None


_ALL = ""
"""Stands for all scenarios together; none has this name."""


def _add(known: dict[str, list[float]], scenario: str, waits: Iterable[float]) -> None:
    for wait in waits:
        insort(known.setdefault(scenario, []), wait)
        insort(known.setdefault(_ALL, []), wait)


def _own_usual(waits: tuple[float, ...]) -> float:
    """Return the usual wait within one run: for few waits at most twice their median."""
    if len(waits) >= KNOWN:
        return _quantile(sorted(waits))
    return 2 * median(waits) if waits else 0.0


def _quantile(ordered: Sequence[float]) -> float:
    return ordered[ceil(QUANTILE * len(ordered)) - 1]
