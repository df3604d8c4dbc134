"""Exact tests of features that only the original's or only the mutant's runs show: calls, fields, words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise, repeat
from typing import NamedTuple

from agentmut.insight.answer_phrases import phrases, sentences
from agentmut.insight.fingerprint import Feature, Fingerprint, in_words
from agentmut.insight.word_groups import whole_phrases
from agentmut.nouns import MovedFeature
from agentmut.stats import Presences

MOST_TOLD = 5
"""Features of one scenario that are told to a reader."""
ENOUGH = 0.5
"""A phrase that is cut in no group of words is told in the place of one that is, if it has this share of its length."""
_BY_VALUE = {"argument value": 3, "field value": 2}
"""Features that are there or not if they name a value: without one they are a number."""
_PLAIN = (
    "calls", "repeats", "argument", "argument value", "first tool", "last tool", "pair", "node", "field", "field value",
    "json", "grants", "refuses", "errors", "failed", "sentence", "states", "questions", "phrase",
)  # fmt: skip
"""Kinds of features, those first that tell a reader most where several show in the very same runs."""

_KINDS = frozenset(_PLAIN)
Shown = Mapping[Feature, str]
"""Features that a run shows, each with what it is called where it is a text."""


def shown(run: Fingerprint) -> Shown:
    """Return the features of a run: calls, arguments, order, fields, decisions, sentences and phrases."""
    found = {feature: "" for feature, value in run.features.items() if value and _is_there(feature)}
    if run.tools:
        repeated = (of for (kind, of), times in run.features.items() if kind == "calls" and times > 1)
        found |= {Feature("repeats", of): "" for of in repeated}
        found |= {Feature("pair", pair): "" for pair in pairwise(run.tools)}
    for answer in run.answers:
        found |= _words_of(answer)
    return found


@lru_cache(maxsize=256)  # runs that answer in the same words are read once
def _words_of(answer: str) -> Shown:
    """Return the sentences and phrases of an answer."""
    found = {Feature("sentence", (key,)): written for key, written in sentences(answer).items()}
    return found | {Feature("phrase", (phrase,)): phrase for phrase in phrases(answer)}


def _is_there(feature: Feature) -> bool:
    kind, of = feature
    return kind in _KINDS and (kind not in _BY_VALUE or len(of) == _BY_VALUE[kind])


@dataclass(frozen=True)
class OriginalRuns:
    """The features of the original's runs on one scenario, read once for all mutants."""

    runs: Sequence[Shown]

    @cached_property
    def where(self) -> Mapping[Feature, int]:
        """Return the runs that show each feature: bit i is run i."""
        return _where(self.runs)

    @cached_property
    def known(self) -> frozenset[Feature]:
        """Return the features of all runs."""
        return frozenset(self.where)

    @cached_property
    def alike(self) -> Mapping[int, Sequence[Feature]]:
        """Return the features that show in the very same runs, by these runs."""
        return _alike(self.where)

    @cached_property
    def totals(self) -> Mapping[int, int]:
        """Return how many sets of runs, of those in `alike`, have a size, by size."""
        return Counter(map(int.bit_count, self.alike))


def _where(runs: Iterable[Shown]) -> dict[Feature, int]:
    found: dict[Feature, int] = {}
    for place, run in enumerate(runs):
        bit = 1 << place
        for feature in run:
            found[feature] = found.get(feature, 0) | bit
    return found


def _alike(where: Mapping[Feature, int]) -> dict[int, list[Feature]]:
    """Return features grouped by the runs that show them."""
    found: dict[int, list[Feature]] = {}
    for feature, runs in where.items():
        found.setdefault(runs, []).append(feature)
    return found


class Pattern(NamedTuple):
    """Runs that show the same features, of which some number of the mutant's differs from the original's."""

    runs: int
    """Bit i is run i; the mutant's runs follow the original's."""
    original: int
    mutant: int
    p: float
    """Fisher's, one-sided, of such a feature alone."""


@dataclass(frozen=True)
class LostAndGained:
    """The comparison of a mutant's runs with the original's on one scenario.

    Features are read off all runs as one, so that nothing about the family hangs on which run is whose. Given the
    family, the chance that any p-value is called significant although both behave alike is at most the level.
    """

    original: OriginalRuns
    mutant: Sequence[Shown]

    @cached_property
    def p_value(self) -> float:
        """Return the p-value of the clearest loss or gain, corrected for all features that could have been."""
        if not self._counted:
            return 1.0
        return self.tests.adjusted(min(self.tests.p_value(*shown) for shown in self._counted))

    @cached_property
    def tests(self) -> Presences:
        """Return the tests of all features."""
        totals = Counter[int]()
        for (_, total), times in self._counted.items():
            totals[total] += times
        in_order = sorted(totals.elements())  # sums of floating-point numbers depend on the order
        return Presences.from_totals(len(self.original.runs), len(self.mutant), in_order)

    @cached_property
    def _counted(self) -> Mapping[tuple[int, int], int]:
        """Return the number of patterns by how many of the mutant's runs, and of all runs, show them.

        The original's patterns are counted once for all mutants; here those are taken off of which nothing is left.
        """
        found = Counter({(0, total): times for total, times in self.original.totals.items()})
        found.subtract((0, runs.bit_count()) for runs in self._taken)
        shift = len(self.original.runs)
        found.update(((runs >> shift).bit_count(), runs.bit_count()) for runs in set(self._shared.values()))
        found[1, 1] += len(self._alone)
        return +found

    @cached_property
    def _taken(self) -> frozenset[int]:
        """Return the original's runs whose features are all among those that the mutant shows."""
        here = Counter(map(self.original.where.get, self._shared, repeat(0)))
        alike = self.original.alike
        return frozenset(runs for runs, times in here.items() if runs and times == len(alike[runs]))

    @cached_property
    def patterns(self) -> Sequence[Pattern]:
        """Return the patterns of all features. A feature that the mutant does not show keeps its runs."""
        left = (runs for runs in self.original.alike if runs not in self._taken)
        found = []
        for runs in (*left, *self._alike):
            mutant = (runs >> len(self.original.runs)).bit_count()
            total = runs.bit_count()
            found.append(Pattern(runs, total - mutant, mutant, self.tests.p_value(mutant, total)))
        return found

    def moved_features(self, level: float) -> Iterator[MovedFeature]:
        """Yield the changes at the level, in words with counts; a phrase inside a reported sentence is left out."""
        said: list[str] = []
        told = 0
        significant = lru_cache(maxsize=None)(lambda p: self.tests.adjusted(p) <= level)
        clear = [(self._most_telling(one), one) for one in self.patterns if significant(one.p)]
        clear.sort(key=lambda each: (_telling(each[0])[0], each[1].p, _telling(each[0])))
        for feature, one in clear:
            key = feature.of[0] if feature.kind in ("sentence", "phrase") else ""
            if key and any(key in other or other in key for other in said):
                continue
            said += [key] if key else []
            yield self._in_words(feature, one)
            told += 1
            if told == MOST_TOLD:
                return

    @cached_property
    def _of_each(self) -> Sequence[frozenset[Feature]]:
        """Return the features of each of the mutant's runs: sets keep the hashes, which take most of the time."""
        return tuple(map(frozenset, self.mutant))

    @cached_property
    def _several(self) -> frozenset[Feature]:
        """Return the features that a run of the mutant shows, and the original or another run of the mutant too."""
        seen, again = set[Feature](), set[Feature]()
        for features in self._of_each:
            again |= features & seen
            seen |= features
        return frozenset(again | (self.original.known & seen))

    @cached_property
    def _shared(self) -> Mapping[Feature, int]:
        """Return all runs that show a feature of the mutant, for the features that several runs show.

        Most phrases of a free text stand in one run alone, where they are a single pattern: `_alone` counts these.
        """
        return self._seen_in(self._of_each, self._several)

    @cached_property
    def _alone(self) -> Sequence[int]:
        """Return the mutant's runs that show a feature which no other run shows."""
        return [place for place, features in enumerate(self._of_each) if not features <= self._several]

    @cached_property
    def _own(self) -> Mapping[Feature, int]:
        """Return all runs that show each feature of the mutant."""
        return self._seen_in(self.mutant)

    def _seen_in(
        self, runs: Iterable[Iterable[Feature]], wanted: frozenset[Feature] | None = None
    ) -> dict[Feature, int]:
        """Return all runs that show each feature of these runs of the mutant, or each of the `wanted` ones."""
        found: dict[Feature, int] = {}
        before, shift = self.original.where, len(self.original.runs)
        for place, features in enumerate(runs, shift):
            bit = 1 << place
            for feature in features if wanted is None else wanted.intersection(features):
                found[feature] = (found.get(feature) or before.get(feature, 0)) | bit
        return found

    @cached_property
    def _alike(self) -> Mapping[int, Sequence[Feature]]:
        return _alike(self._own)

    def _most_telling(self, pattern: Pattern) -> Feature:
        """Return the feature that tells a reader most; of phrases, one that is cut in no group of words."""
        features = self._alike.get(pattern.runs) or [
            feature for feature in self.original.alike[pattern.runs] if feature not in self._own
        ]
        best = min(features, key=_telling)
        if best.kind != "phrase":
            return best
        said = (text for feature, text in self._first_run(pattern).items() if feature.kind == "sentence")
        uncut = frozenset[str]().union(*map(whole_phrases, said))
        whole = (f for f in features if f.of[0] in uncut and len(f.of[0]) >= ENOUGH * len(best.of[0]))
        return min(whole, key=_telling, default=best)

    def _first_run(self, pattern: Pattern) -> Shown:
        """Return the first run that shows a pattern's features."""
        n0, first = len(self.original.runs), (pattern.runs & -pattern.runs).bit_length() - 1
        return self.original.runs[first] if first < n0 else self.mutant[first - n0]

    def _in_words(self, feature: Feature, pattern: Pattern) -> MovedFeature:
        n0, n = len(self.original.runs), len(self.mutant)
        before, now = pattern.original / n0, pattern.mutant / n
        written = self._first_run(pattern)[feature]
        feature = Feature(feature.kind, (written,)) if written else feature
        return MovedFeature(
            words=in_words(feature, up=now > before),
            baseline_runs=pattern.original,
            baseline_of=n0,
            runs=pattern.mutant,
            of=n,
            baseline_mean=round(before, 4),
            mean=round(now, 4),
        )


def _telling(feature: Feature) -> tuple[int, int, Feature]:
    """Sort features: by kind, then the longest text."""
    return _PLAIN.index(feature.kind), -sum(map(len, feature.of)), feature
