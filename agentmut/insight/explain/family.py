"""All candidates for a mutant on a scenario, and how clear a difference has to be among so many.

Looking at many candidates finds differences where there are none, so every one that could have been proposed counts.
Which these are may not hang on the runs that they are tested on. So candidates are read off one half of the original's
runs, and off the other half and the mutant's runs as one pool, in which nothing says which run is whose; those that
fail on the first half are dropped. Given pool and half, the family is then fixed, and if both sides of the pool behave
alike, every way of dividing it is as likely: Fisher's test, at the level of the family divided by its size, errs for
any of them with at most that level.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, count

from agentmut.insight.explain.argument_candidates import of_arguments
from agentmut.insight.explain.basis import basis_of
from agentmut.insight.explain.candidates import Candidate, Contrast, Proposer
from agentmut.insight.explain.ending_candidates import of_endings
from agentmut.insight.explain.field_candidates import of_fields
from agentmut.insight.explain.limit_candidates import of_limits, of_tools
from agentmut.insight.explain.meaning import Meaning, tools_named
from agentmut.insight.explain.occasion import Occasion
from agentmut.insight.explain.rule_candidates import of_rule
from agentmut.insight.explain.sensible import NEAR, STATED, grounding, is_sensible
from agentmut.insight.explain.stored_runs import Run, Runs, StoredRuns
from agentmut.insight.explain.text_candidates import of_facts, of_text
from agentmut.insight.explain.views import View
from agentmut.judging import as_text
from agentmut.nouns import Rate

PROPOSERS: tuple[Proposer, ...] = (
    of_tools, of_arguments, of_endings, of_facts, of_text, of_fields, of_limits,
)  # fmt: skip
FEWEST = 4
"""Runs of the original, in each half, and of the mutant, with fewer of which nothing is proposed."""
OFTEN = 0.5
"""What stands in fewer runs than this share of the mutant's is not forbidden."""

Pattern = tuple[bool, ...]
"""In which runs of the pool a candidate holds: first the held-out ones, then the mutant's."""


@dataclass(frozen=True)
class Family:
    """The candidates of a mutant on a scenario."""

    held_out: Runs
    """The half of the original's runs that no candidate was chosen by."""
    runs: Runs
    """The mutant's."""
    alpha: float
    """The chance, at most, that any candidate is called clear although both behave alike."""
    candidates: Mapping[Pattern, tuple[Candidate, ...]]
    """Features that hold in the same runs are one test."""

    @cached_property
    def level(self) -> float:
        """Return the level of each test: alpha / K, for the least K that covers every test that could reach it.

        A candidate that holds in nearly all runs, or in few, cannot; it needs no share of alpha. Tarone,
        Biometrics 46 (1990) 515-522.
        """
        least = sorted(self._p(min(held, len(self.held_out)), held) for held in map(sum, self.candidates))
        return next(self.alpha / k for k in count(1) if k >= len(least) or k * least[k] > self.alpha)

    def is_clear(self, candidate: Candidate) -> bool:
        """Return whether a candidate belongs to the family and holds clearly less often in the mutant's runs."""
        pattern = self._pattern(candidate)
        return pattern in self.candidates and self._p_of(pattern) <= self.level

    def clear(self) -> Iterator[tuple[Candidate, Rate, Rate]]:
        """Yield the candidates with a clear difference, with both rates; of equal candidates, the most general."""
        for pattern, equals in self.candidates.items():
            if self._p_of(pattern) <= self.level:
                held, out = sum(pattern[: len(self.held_out)]), len(self.held_out)
                rates = Rate(held=held, of=out), Rate(held=sum(pattern) - held, of=len(self.runs))
                for one in _one_of_a_kind(equals):
                    yield one, *rates

    def _pattern(self, candidate: Candidate) -> Pattern:
        return tuple(_holds(candidate, run) for run in (*self.held_out, *self.runs))

    def _p_of(self, pattern: Pattern) -> float:
        return self._p(sum(pattern[: len(self.held_out)]), sum(pattern))

    def _p(self, held_out: int, held: int) -> float:
        return _p(held_out, len(self.held_out), held - held_out, len(self.runs))


def family_of(stored: StoredRuns, mutant: str, scenario: str) -> Family | None:
    """Return the family of a mutant on a scenario, at the campaign's alpha divided by the mutant's scenarios.

    None where there are too few runs.
    """
    key = (mutant, scenario)
    if key not in stored.families:
        stored.families[key] = _family(stored, mutant, scenario)
    kept: Family | None = stored.families[key]
    return kept


def halves(original: Runs) -> tuple[Runs, Runs]:
    """Return every second run of the original, to find candidates, and the other runs, which are held out."""
    return original[0::2], original[1::2]


def _family(stored: StoredRuns, mutant: str, scenario: str) -> Family | None:
    (found, held_out), runs = halves(stored.runs_on("", scenario)), stored.runs_on(mutant, scenario)
    if min(map(len, (found, held_out, runs))) < FEWEST:
        return None
    least, pool = stored.threshold(scenario), (*held_out, *runs)
    there = stored.scenario(scenario).evaluators
    family: dict[Pattern, list[Candidate]] = {}
    contrast = Contrast(_views(found), _views(pool), least, OFTEN * len(runs))
    turns = " ".join(map(as_text, stored.scenario(scenario).turns))
    for one in _proposed(contrast, stored.meaning(mutant), turns):
        if one.spec not in there and sum(_holds(one, run) for run in found) >= least * len(found):
            family.setdefault(tuple(_holds(one, run) for run in pool), []).append(one)
    alpha = stored.campaign.plan.rule.alpha / len(stored.runs(mutant))
    return Family(held_out, runs, alpha, {pattern: tuple(equals) for pattern, equals in family.items()})


def _views(runs: Runs) -> list[View]:
    return [run.view for run in runs if run.answered]


def _holds(candidate: Candidate, run: Run) -> bool:
    return run.answered and candidate.holds(run.view)


def _proposed(contrast: Contrast, meaning: Meaning | None, turns: str) -> Iterator[Candidate]:
    """Yield each candidate once: first those that rules of the prompt ask for, then those read from the runs."""
    seen = set()
    occasion = Occasion(meaning, turns, contrast.original) if meaning else None
    stated = _of_rules(occasion) if occasion else ()
    for candidate in chain(stated, *(proposer(contrast) for proposer in PROPOSERS)):
        written = candidate.spec.model_dump_json()
        if written in seen:
            continue
        seen.add(written)
        near = _near(candidate, occasion.meaning) if occasion else candidate
        if occasion is None:
            yield near
        elif is_sensible(near, occasion):
            yield near._replace(basis=basis_of(near, occasion))


def _of_rules(occasion: Occasion) -> Iterator[Candidate]:
    """Yield what the changed rules ask for; where no rule is changed, what the prompt asks for on this occasion.

    Where tools are changed, these are the rules that name one of them.
    """
    meaning = occasion.meaning
    for one in of_rule(meaning):
        yield one._replace(grounded=STATED)
    for rule in () if meaning.rule else meaning.other_rules:
        if occasion.calls_for(rule) and (not meaning.tools or tools_named(rule, meaning.tools)):
            for one in of_rule(replace(meaning, rule=rule)):
                yield one._replace(grounded=NEAR)


def _near(candidate: Candidate, meaning: Meaning) -> Candidate:
    return candidate._replace(grounded=max(candidate.grounded, grounding(candidate.spec, meaning)))


def _one_of_a_kind(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Keep the most general candidate of each evaluator among those that hold in the same runs."""
    best: dict[str, Candidate] = {}
    for one in candidates:
        known = best.get(one.spec.name)
        if known is None or _worth(one) > _worth(known):
            best[one.spec.name] = one
    return list(best.values())


def _worth(candidate: Candidate) -> tuple[bool, int, float]:
    return candidate.firm, candidate.grounded, candidate.generality


@lru_cache(maxsize=4096)
def _p(held_by_original: int, original: int, held_by_mutant: int, runs: int) -> float:
    from agentmut.stats import Alternative, fisher_test

    if held_by_original / original <= held_by_mutant / runs:
        return 1.0
    return fisher_test(held_by_original, original, held_by_mutant, runs, Alternative.GREATER).p_value
