"""Candidates for an assertion, and the runs that they are derived from."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from agentmut.insight.explain.views import View
from agentmut.nouns import Basis, EvaluatorSpec

Holds = Callable[[View], bool]


class Candidate(NamedTuple):
    """An evaluator that may distinguish the mutant from the original."""

    spec: EvaluatorSpec
    says: str
    """What it asks for, as a clause: `lookup_order is called`."""
    generality: float
    """From 0 (spells out one run) to 1 (speaks of the kind of behaviour)."""
    holds: Holds
    """What the evaluator will say, from what was read off a run already. The evaluator itself decides in the end."""
    grounded: int = 0
    """How near it is to what the mutant changes: `sensible.STATED`, `sensible.NEAR` or 0."""
    basis: Basis = Basis.SEEN
    """The ground on which a person may write it."""

    @property
    def firm(self) -> bool:
        """Return whether the prompt or the user asks for it."""
        return self.basis is not Basis.SEEN


class Contrast(NamedTuple):
    """The runs of both agents on one scenario."""

    original: Sequence[View]
    """The half of the original's runs that candidates are found on."""
    pool: Sequence[View]
    """The original's other runs and the mutant's, not told apart: see `family`."""
    least: float
    """The share of the original's runs in which a candidate has to hold."""
    often: float = 1
    """The number of runs of the pool in which something has to stand before it is worth forbidding."""

    def usual(self, holds: Holds) -> bool:
        """Return whether something holds in enough of the original's runs."""
        return share(holds, self.original) >= self.least

    @property
    def all_views(self) -> tuple[View, ...]:
        """Return the runs of both sides."""
        return (*self.original, *self.pool)


Proposer = Callable[[Contrast], Iterable[Candidate]]


def candidate(name: str, argument: JsonValue, says: str, generality: float, holds: Holds) -> Candidate:
    """Return a candidate, named by evaluator and argument."""
    return Candidate(EvaluatorSpec(name=name, argument=argument), says, generality, holds)


def share(holds: Holds, views: Sequence[View]) -> float:
    """Return the share of runs in which something holds; 0 without runs."""
    return sum(map(holds, views)) / len(views) if views else 0.0


def common(values: Iterable[Iterable[str]], least: float, of: float = 1) -> list[str]:
    """Return what occurs in at least this share of `of` collections, in alphabetical order."""
    from collections import Counter

    counted = Counter(value for each in values for value in set(each))
    return sorted(value for value, count in counted.items() if count >= least * of)
