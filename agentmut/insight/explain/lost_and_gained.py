"""What runs of the original show and a mutant's do not, or the other way round: calls, fields, words. Exact tests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import NamedTuple

from agentmut.insight.fingerprint import Feature, Fingerprint, in_words
from agentmut.insight.said import phrases, sentences
from agentmut.nouns import MovedFeature
from agentmut.stats import Presences

MOST_TOLD = 5
"""Features of one scenario that are told to a reader."""
_BY_VALUE = {"argument value": 3, "field value": 2}
"""Features that are there or not if they name a value: without one they are a number."""
_PLAIN = (
    "calls", "repeats", "argument", "argument value", "first tool", "last tool", "pair", "node", "field", "field value",
    "json", "grants", "refuses", "errors", "failed", "sentence", "states", "questions", "phrase",
)  # fmt: skip
"""Kinds of features, those first that tell a reader most where several show in the very same runs."""

Shown = Mapping[Feature, str]
"""Features that a run shows, each with what it is called where it is a text."""


def shown(run: Fingerprint) -> Shown:
    """Return what a run shows: calls and their arguments and order, fields, decisions, sentences and phrases."""
    found = {feature: "" for feature, value in run.features.items() if value and _is_there(feature)}
    found |= {
        Feature("repeats", feature.of): ""
        for feature, times in run.features.items()
        if _repeats(feature, times)
    }
    found |= {Feature("pair", pair): "" for pair in pairwise(run.tools)}
    for answer in run.answers:
        found |= {Feature("sentence", (key,)): written for key, written in sentences(answer).items()}
        found |= {Feature("phrase", (phrase,)): phrase for phrase in phrases(answer)}
    return found


def _is_there(feature: Feature) -> bool:
    return feature.kind in _PLAIN and len(feature.of) == _BY_VALUE.get(feature.kind, len(feature.of))


def _repeats(feature: Feature, times: float) -> bool:
    return feature.kind == "calls" and times > 1


class Moved(NamedTuple):
    """Features that show in the very same runs, of which some number of the mutant's differs from the original's."""

    feature: Feature
    """The one of them that tells most."""
    written: str
    original: int
    mutant: int
    p: float
    """Fisher's, one-sided, of this feature alone."""


@dataclass(frozen=True)
class LostAndGained:
    """The comparison of a mutant's runs with the original's on one scenario.

    Features are read off all runs as one, so that nothing about the family hangs on which run is whose. Given the
    family, the chance that any p-value is called significant although both behave alike is at most the level.
    """

    original: Sequence[Shown]
    mutant: Sequence[Shown]

    @cached_property
    def p_value(self) -> float:
        """Return the p-value of the clearest loss or gain, corrected for all features that could have been."""
        return self.tests.adjusted(self.moved[0].p) if self.moved else 1.0

    @cached_property
    def tests(self) -> Presences:
        """Return the tests of all features."""
        return Presences.of(len(self.original), len(self.mutant), map(_total, self.moved))

    @cached_property
    def moved(self) -> tuple[Moved, ...]:
        """Return all features, the clearest first; those of the same runs as one."""
        found = [self._moved(pattern, features) for pattern, features in self._by_runs.items()]
        return tuple(sorted(found, key=lambda one: (one.p, _telling(one.feature))))

    def told(self, level: float) -> Iterator[MovedFeature]:
        """Yield what changed at the level, in words with counts; a phrase of a sentence that is told is left out."""
        said: list[str] = []
        told = 0
        clear = takewhile(lambda one: self.tests.adjusted(one.p) <= level, self.moved)
        for one in sorted(clear, key=lambda one: (_telling(one.feature)[0], one.p)):
            key = one.feature.of[0] if one.feature.kind in ("sentence", "phrase") else ""
            if key and any(key in other or other in key for other in said):
                continue
            said += [key] if key else []
            yield self._in_words(one)
            told += 1
            if told == MOST_TOLD:
                return

    @cached_property
    def _by_runs(self) -> Mapping[tuple[int, ...], list[Feature]]:
        places: dict[Feature, list[int]] = {}
        for place, run in enumerate((*self.original, *self.mutant)):
            for feature in run:
                places.setdefault(feature, []).append(place)
        found: dict[tuple[int, ...], list[Feature]] = {}
        for feature, runs in places.items():
            found.setdefault(tuple(runs), []).append(feature)
        return found

    def _moved(self, runs: tuple[int, ...], features: Iterable[Feature]) -> Moved:
        feature = min(features, key=_telling)
        mutant = sum(place >= len(self.original) for place in runs)
        p = Presences(len(self.original), len(self.mutant), ()).p_value(mutant, len(runs))
        written = (*self.original, *self.mutant)[runs[0]][feature]
        return Moved(feature, written, len(runs) - mutant, mutant, p)

    def _in_words(self, one: Moved) -> MovedFeature:
        n0, n = len(self.original), len(self.mutant)
        before, now = one.original / n0, one.mutant / n
        feature = Feature(one.feature.kind, (one.written,)) if one.written else one.feature
        return MovedFeature(
            words=in_words(feature, up=now > before),
            baseline_runs=one.original,
            baseline_of=n0,
            runs=one.mutant,
            of=n,
            baseline_mean=round(before, 4),
            mean=round(now, 4),
        )


def _total(one: Moved) -> int:
    return one.original + one.mutant


def _telling(feature: Feature) -> tuple[int, int, Feature]:
    """Sort features: by kind, then the longest text."""
    return _PLAIN.index(feature.kind), -sum(map(len, feature.of)), feature
