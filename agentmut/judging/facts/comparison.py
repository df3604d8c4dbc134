"""Compare two runs of a scenario by the facts they show."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from agentmut.judging.facts.answer_judge import Judge
from agentmut.judging.facts.phrases import phrases
from agentmut.judging.facts.registry import DEFAULT, LAST_RESORT, OF_ANSWERS, build_extractor
from agentmut.judging.facts.same_values import Same
from agentmut.language import FEWEST, Slot, Stability, Statements, slot, stability, without_left_out_years
from agentmut.nouns import (
    AgentTrace,
    CalibratedComparer,
    Comparer,
    EvaluatorSpec,
    Extractor,
    Fact,
    Scenario,
    Usage,
)

_CONTRADICTING = frozenset({"decisions", "dates", "numbers", "ids", "json"})
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Comparison(NamedTuple):
    """The kinds of facts that are compared."""

    extractors: tuple[Extractor, ...]
    usual: Stability | None = None
    """The facts of original runs; None: all facts of both runs must be equal."""
    unasked: tuple[Extractor, ...] = ()
    """All kinds that the default was chosen from; none where somebody asked for kinds."""

    @property
    def is_uncalibrated(self) -> bool:
        """Return whether no kinds were asked for and too few original runs show which facts are stable."""
        return self.usual is None and bool(self.unasked)

    @property
    def usage(self) -> Usage:
        """Return the tokens that model judges have used so far."""
        judges = (one for one in self.extractors if isinstance(one, Judge))
        return sum((judge.usage for judge in judges), Usage())

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of facts that an agreement rests on: the kinds with an expected fact."""
        return tuple(one.name for one in self.extractors if self._tells(one))

    def _tells(self, extractor: Extractor) -> bool:
        if isinstance(extractor, Statements):
            return extractor.says_something
        if self.usual is None or isinstance(extractor, Comparer):
            return True
        shown = {fact.kind for fact in self.usual.expected} | self.usual.compared_whole
        return extractor.name in shown

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return all facts of a run."""
        return _facts(self.extractors, scenario, trace)

    def differences(
        self,
        scenario: Scenario,
        source: AgentTrace,
        follow_up: AgentTrace,
        same: Mapping[str, str] = _NOTHING,
    ) -> tuple[str, ...]:
        """Return what only one of two runs shows, in words; empty if they agree.

        Where it is known what runs of the unchanged agent show (`usual`), a difference is an expected fact that one
        of the runs lacks, or a fact of the follow-up that no such run shows in a place where they show nothing new.
        Otherwise every fact of one run only is a difference. `same` says which values of the source stand for which
        of the follow-up (10 km for 6.2 miles); such a value may also stay as it was. Raises `RunError` where a
        model judge or an extractor of the user's own fails.
        """
        found = (self.facts(scenario, source), self.facts(scenario, follow_up))
        told = Same.from_texts(same, self.extractors, scenario)
        left, right = told.unmatched(*found)
        left = without_left_out_years(left, found[1])
        right = without_left_out_years(right, found[0])
        if self.usual is not None:
            left, right = _unusual(self.usual, found, (left, right), told)
        return (*phrases(left, right), *self._wholes(scenario, source, follow_up))

    def contradictions(
        self, scenario: Scenario, trace: AgentTrace, other: AgentTrace
    ) -> tuple[str, ...] | None:
        """Return where two answers contradict each other: 30 days in one, 14 days in the other, and neither
        states both.

        None where it cannot be told, since too few runs of the unchanged agent are known.

        What only one of them mentions is none, nor are values that are new in each run, as numbers of tickets are, nor
        those that some run of the unchanged agent shows both: they are of two things. A word is denied and affirmed
        where each of those runs does one of the two.
        Kinds are looked at that are too unsteady to be compared, too, where nobody asked for others.
        """
        if self.is_uncalibrated:
            return None
        extractors = tuple(kind for kind in self.unasked if kind.name in _CONTRADICTING)
        closed = self.usual.closed if self.usual else frozenset()
        left, right = (_by_slot(_facts(extractors, scenario, each), closed) for each in (trace, other))
        apart = sorted(
            place
            for place in left.keys() & right.keys()
            if left[place].isdisjoint(right[place])
            and not (self.usual and self.usual.are_together(left[place], right[place]))
        )
        stated = (kind for kind in self.unasked if isinstance(kind, Statements))
        return (
            *(said for place in apart for said in phrases(left[place], right[place])),
            *(said for kind in stated for said in kind.contradictions(trace, other)),
        )

    def _wholes(self, scenario: Scenario, source: AgentTrace, follow_up: AgentTrace) -> Iterator[str]:
        for extractor in self.extractors:
            if isinstance(extractor, Comparer) and (
                said := extractor.difference(scenario, source, follow_up)
            ):
                yield said


def comparison_for(
    scenario: Scenario, sources: Sequence[AgentTrace] = (), compare: Sequence[EvaluatorSpec] | None = None
) -> Comparison:
    """Return the comparison that the scenario asks for, else the project's (`compare`), else the default.

    `sources` are runs of the unchanged agent, used for nothing else, that show which facts are stable: five are
    needed, about twenty are good. The default takes the kinds of which there is a stable fact, and those that never
    show anything; where the answers themselves have no stable fact, the distance of their texts too. A kind that is
    asked for and shows nothing stable is compared by all its facts.
    Raises `UsageError` for an unknown extractor or a wrong argument.
    """
    asked = scenario.compare or tuple(compare or ())
    if asked:
        extractors = tuple(_calibrated(build_extractor(spec), scenario, sources) for spec in asked)
        return Comparison(extractors, _usual(extractors, scenario, sources, asked=True))
    return _default(scenario, sources)


def _default(scenario: Scenario, sources: Sequence[AgentTrace]) -> Comparison:
    chosen = tuple(
        _calibrated(build_extractor(EvaluatorSpec(name=name)), scenario, sources) for name in DEFAULT
    )
    if len(sources) < FEWEST:
        return Comparison(chosen, None, chosen)
    usual = _usual(chosen, scenario, sources)
    assert usual is not None
    stable = {fact.kind for fact in usual.expected}
    kept = tuple(one for one in chosen if one.name in stable | _silent(chosen, usual))
    if stable & OF_ANSWERS:
        return Comparison(kept, usual, chosen)
    last = _calibrated(build_extractor(EvaluatorSpec(name=LAST_RESORT)), scenario, sources)
    return Comparison((*kept, last), usual, chosen)


def _by_slot(facts: frozenset[Fact], closed: frozenset[Slot]) -> dict[Slot, frozenset[Fact]]:
    """Return the facts of closed slots, by slot; numbers without a unit are left out."""
    by_slot: dict[Slot, set[Fact]] = {}
    for fact in facts:
        place = slot(fact)
        if place in closed and (place.kind != "numbers" or place.name):
            by_slot.setdefault(place, set()).add(fact)
    return {place: frozenset(here) for place, here in by_slot.items()}


def _silent(extractors: Sequence[Extractor], usual: Stability) -> set[str]:
    """Return the kinds that never show a fact, so that any fact is news: a tool that was never called is called."""
    shown = {fact.kind for fact in usual.known}
    return {one.name for one in extractors} - shown


def _usual(
    extractors: Sequence[Extractor], scenario: Scenario, sources: Sequence[AgentTrace], asked: bool = False
) -> Stability | None:
    if len(sources) < FEWEST:
        return None
    runs = [_facts(extractors, scenario, trace) for trace in sources]
    found = stability(runs, [one.name for one in extractors])
    if not asked:
        return found
    stable = {fact.kind for fact in found.expected}
    unstable = frozenset(fact.kind for fact in found.known) - stable
    return found._replace(compared_whole=unstable)


def _unusual(
    usual: Stability,
    found: tuple[frozenset[Fact], frozenset[Fact]],
    unmatched: tuple[frozenset[Fact], frozenset[Fact]],
    pairs: Same,
) -> tuple[frozenset[Fact], frozenset[Fact]]:
    """Return the unmatched facts that make a difference."""
    left, right = unmatched
    whole = usual.compared_whole
    expected = usual.expected | pairs.images(usual.expected)
    known = usual.known | pairs.images(usual.known) | found[0]
    news = {fact for fact in right if fact not in known and usual.is_news(fact)}
    return (
        frozenset(fact for fact in left if fact in usual.expected or fact.kind in whole),
        frozenset(fact for fact in right if fact in expected or fact.kind in whole) | frozenset(news),
    )


def _calibrated(extractor: Extractor, scenario: Scenario, sources: Sequence[AgentTrace]) -> Extractor:
    if isinstance(extractor, CalibratedComparer) and len(sources) >= FEWEST:
        return extractor.calibrated(scenario, tuple(sources))
    return extractor


def _facts(extractors: Sequence[Extractor], scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
    return frozenset().union(*(one.facts(scenario, trace) for one in extractors))
