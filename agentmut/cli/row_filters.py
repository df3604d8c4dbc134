"""Options that narrow which mutants of a result are listed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentmut._base import UsageError, nearest

if TYPE_CHECKING:
    from agentmut.nouns import MutantRow, Result


class Filters(NamedTuple):
    """The options that narrow which mutants are listed."""

    classes: list[str] | None
    operators: list[str] | None
    mutants: list[str] | None
    scenarios: list[str] | None

    def refuse(self, why: str) -> None:
        """Raise `UsageError` where an option is given."""
        if any(self):
            raise UsageError(why)

    def kept(self, result: "Result") -> "list[MutantRow]":
        """Return the mutants that all options let through."""
        kept = _filtered(result.mutants, "--class", self.classes, lambda row: [row.operator_class.value])
        kept = _of_operators(kept, self.operators, result.mutants)
        names = [row.scenario for row in result.baseline]
        kept = _filtered(kept, "--scenario", self.scenarios, _tried_on, result.mutants, names)
        return _beginning(kept, self.mutants)

    def listed(self, kept: "Sequence[MutantRow]") -> frozenset[str] | None:
        """Return the ids of the mutants to list; none where nothing is filtered."""
        return frozenset(row.id for row in kept) if any(self) else None


def _filtered(
    rows: "Sequence[MutantRow]",
    option: str,
    wanted: list[str] | None,
    values: "Callable[[MutantRow], Iterable[str]]",
    everything: "Sequence[MutantRow]" = (),
    known: Iterable[str] = (),
) -> "list[MutantRow]":
    """Return the rows with one of the wanted values. Raises `UsageError` for a value that the run does not have."""
    ids: dict[str, set[str]] = defaultdict(set, {name: set() for name in known})
    for row in everything or rows:
        for value in values(row):
            ids[value].add(row.id)
    for name in wanted or ():
        if name not in ids:
            raise UsageError(f"{option} {name}: the run has no such thing. {nearest(name, ids)}")
    kept = set().union(*(ids[name] for name in wanted)) if wanted else {row.id for row in rows}
    return [row for row in rows if row.id in kept]


def _of_operators(
    rows: "Sequence[MutantRow]", wanted: list[str] | None, everything: "Sequence[MutantRow]"
) -> "list[MutantRow]":
    """Return the rows whose operator fits a name, a class or a pattern.

    Raises `UsageError` for one that fits none.
    """
    from agentmut.seams import is_named, unknown_name

    known = {row.operator for row in everything}
    unknown = unknown_name(wanted or (), known)
    if unknown is not None:
        raise UsageError(f"--operator {unknown}: no operator of the run fits. {nearest(unknown, known)}")
    kept = {name for name in known if wanted is None or any(is_named(name, each) for each in wanted)}
    return [row for row in rows if row.operator in kept]


def _tried_on(row: "MutantRow") -> Iterable[str]:
    return [item.scenario for item in row.evidence]


def _beginning(rows: "Sequence[MutantRow]", wanted: list[str] | None) -> "list[MutantRow]":
    for prefix in wanted or ():
        if not any(row.id.startswith(prefix) for row in rows):
            raise UsageError(f"--mutant {prefix}: the run has no such mutant.")
    return [row for row in rows if not wanted or row.id.startswith(tuple(wanted))]
