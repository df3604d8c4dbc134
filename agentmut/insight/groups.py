"""Group killed mutants with the same evidence, and find those that subsume others.

A scenario kills a mutant where its own runs decided so (`MutantRow.killed_by`). Trials stop as soon as a mutant is
decided, so a scenario that is not named may kill it too: groups and subsumption speak of what was decided, and further
trials could tell mutants apart that are one here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut.nouns import SUITE, Intent, MutantRow, OperatorClass, Result, Status

_SEEN = re.compile(r"[:;]\s")
"""Behind it a failure says what was seen instead of what was wanted."""

Killers = frozenset[str]


class KillSignature(NamedTuple):
    """The evidence of a kill: the killing scenarios, and the kind of the first failure in each."""

    killers: Killers
    failures: tuple[tuple[str, str], ...]


def grouped(result: Result) -> Result:
    """Return the result with `group` and `subsumed_by` of its mutants.

    It speaks of degrading mutants of first order that single scenarios kill. A group is those that the same
    scenarios kill with failures of the same kind, as far as these are told; it is named by its first mutant, and
    mutants that are alone have none. A mutant is subsumed by another if every scenario that kills the other
    kills it too. Where that holds both ways the one that fails more seldom stands for both.
    """
    rows = [row for row in result.mutants if _counts(row)]
    groups, standing = _groups(rows), _standing(rows)
    changed = (
        row.model_copy(update={"group": groups.get(row.id, ""), "subsumed_by": standing.get(row.id, "")})
        for row in result.mutants
    )
    return result.model_copy(update={"mutants": tuple(changed)})


def dominators(rows: Iterable[MutantRow]) -> dict[str, tuple[str, ...]]:
    """Return the mutants that subsume others, each with their ids; the mutant with most ids comes first."""
    behind: dict[str, list[str]] = {}
    for row in rows:
        if row.subsumed_by:
            behind.setdefault(row.subsumed_by, []).append(row.id)
    return {
        id: tuple(found) for id, found in sorted(behind.items(), key=lambda each: (-len(each[1]), each[0]))
    }


def _counts(row: MutantRow) -> bool:
    first_order = row.operator_class is not OperatorClass.HIGHER_ORDER
    return (
        row.status is Status.KILLED and row.intent is Intent.DEGRADE and first_order and bool(_killers(row))
    )


def _killers(row: MutantRow) -> Killers:
    return frozenset(row.killed_by) - {SUITE}


def _groups(rows: Sequence[MutantRow]) -> dict[str, str]:
    """Return the first mutant of its group for each mutant that shares its evidence."""
    found: dict[KillSignature, list[str]] = {}
    for row in rows:
        found.setdefault(_signature(row), []).append(row.id)
    return {id: members[0] for members in found.values() if len(members) > 1 for id in members}


def _signature(row: MutantRow) -> KillSignature:
    killers = _killers(row)
    kinds = ((item.scenario, _kind(item.failure)) for item in row.evidence if item.scenario in killers)
    return KillSignature(killers, tuple(sorted(kinds)))


def _kind(failure: str) -> str:
    """Return the kind of a failure: the unmet expectation, or the exception's type.

    >>> _kind("expected a call of refund; called lookup, lookup")
    'expected a call of refund'
    """
    return _SEEN.split(failure, maxsplit=1)[0].strip()


def _standing(rows: Sequence[MutantRow]) -> dict[str, str]:
    """Return the subsuming mutant of each subsumed mutant. The subsuming one is itself not subsumed."""
    by_killers: dict[Killers, list[MutantRow]] = {}
    for row in rows:
        by_killers.setdefault(_killers(row), []).append(row)
    least = [one for one in by_killers if not any(other < one for other in by_killers)]
    hardest = {one: min(by_killers[one], key=_ease) for one in least}
    return {
        row.id: stands.id
        for killers, members in by_killers.items()
        for stands in [_for(killers, hardest)]
        for row in members
        if row.id != stands.id
    }


def _for(killers: Killers, hardest: Mapping[Killers, MutantRow]) -> MutantRow:
    return min((row for one, row in hardest.items() if one <= killers), key=_ease)


def _ease(row: MutantRow) -> tuple[float, int, str]:
    """Return how easily a mutant is killed: the share of failed runs where it was, then fewer trials."""
    found = [item for item in row.evidence if item.scenario in _killers(row)]
    trials = sum(item.trials for item in found)
    return sum(item.failures for item in found) / trials if trials else 1.0, -row.trials, row.id
