"""A small set of assertions that kill the survivors, and that the agent passes together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentmut.insight.explain.stored_runs import Runs, StoredRuns, holds_in_each
from agentmut.judging import build
from agentmut.nouns import AssertionSuggestion, Rate

GENERAL = 0.25
"""What generality weighs beside the margin."""
SLIGHT = 0.35
"""An assertion of less generality, such as "there is a digit", is proposed where no other kills."""


def value(suggestion: AssertionSuggestion) -> tuple[bool, bool, int, int, float]:
    """Return the rank of a proposal: its ground, relevance to the change, other mutants killed, clarity, generality."""
    telling, worth = ranked(suggestion.margin, suggestion.generality)
    return suggestion.firm, telling, suggestion.grounded, len(suggestion.mutants), worth


def ranked(margin: float, generality: float) -> tuple[bool, float]:
    """Return the sort key of a proposal, the best first; nearly empty proposals come last."""
    return generality >= SLIGHT, margin + GENERAL * generality


def cover(
    mined: Iterable[AssertionSuggestion], wanted: Sequence[str], stored: StoredRuns
) -> tuple[AssertionSuggestion, ...]:
    """Return a few proposals that together kill the mutants, by greedy set cover.

    Each step takes the proposal that kills the most mutants which none so far kills: of the proposals that have to do
    with what a mutant changes, else of all.

    One that would push its scenario under its threshold, with those chosen before, is passed over.
    """
    left, pool, joint = set(wanted), list(mined), Joint(stored)
    chosen: list[AssertionSuggestion] = []
    while pool := [one for one in pool if left.intersection(one.mutants)]:
        best = max(pool, key=lambda one: _gain(one, left))
        pool.remove(best)
        if joint.add(best):
            chosen.append(best)
            left.difference_update(best.mutants)
    return tuple(map(joint.with_shared_rate, chosen))


def _gain(suggestion: AssertionSuggestion, left: set[str]) -> tuple[bool, bool, bool, int, int, float, str]:
    firm, telling, grounded, _, worth = value(suggestion)
    return (
        firm,
        telling,
        grounded > 0,
        len(left.intersection(suggestion.mutants)),
        grounded,
        worth,
        suggestion.id,
    )


@dataclass
class Joint:
    """Which of the original's runs pass each scenario with all assertions added so far."""

    stored: StoredRuns
    _passing: dict[str, Sequence[bool]] = field(default_factory=dict)

    def add(self, suggestion: AssertionSuggestion) -> bool:
        """Add an assertion, unless its scenario would fall under its threshold in all runs or in one half of them."""
        runs, before = self.stored.runs_on("", suggestion.scenario), self._now(suggestion.scenario)
        holds = holds_in_each(
            build(suggestion.evaluator, self.stored.catalogue),
            self.stored.scenario(suggestion.scenario),
            runs,
        )
        after = [passed and kept for passed, kept in zip(before, holds, strict=True)]
        if not enough(runs, before, after, self.stored.threshold(suggestion.scenario)):
            return False
        self._passing[suggestion.scenario] = after
        return True

    def with_shared_rate(self, suggestion: AssertionSuggestion) -> AssertionSuggestion:
        """Return the proposal with its scenario's pass rate under all proposals, in words where the rate is lower."""
        runs, now = self.stored.runs_on("", suggestion.scenario), self._now(suggestion.scenario)
        rate = Rate(held=sum(now), of=len(now))
        before = Rate(held=sum(run.passed for run in runs), of=len(runs))
        why = suggestion.why
        if rate != before:
            name = suggestion.scenario
            why += f"; with every assertion proposed here, {name} passes in {rate} runs instead of {before}"
        return suggestion.model_copy(update={"together": rate, "why": why})

    def _now(self, scenario: str) -> Sequence[bool]:
        return self._passing.get(scenario, [run.passed for run in self.stored.runs_on("", scenario)])


def enough(runs: Runs, before: Sequence[bool], after: Sequence[bool], least: float) -> bool:
    """Return whether the runs that pass are as many as asked for: of all, and of each half that mining looks at.

    What is not met already is no reason against an assertion that every passing run meets.
    """
    places = [place for place, run in enumerate(runs) if run.answered]
    for part in (range(len(runs)), places[0::2], places[1::2]):
        passing = sum(after[place] for place in part)
        if passing < least * len(part) and passing < sum(before[place] for place in part):
            return False
    return True
