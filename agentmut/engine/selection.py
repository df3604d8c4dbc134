"""Which operators and mutants a command is about."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from agentmut.errors import UsageError, nearest
from agentmut.frozen import Frozen
from agentmut.mutant import Mutant
from agentmut.project_schema import IgnoredMutant, MutationSettings


class Selection(Frozen):
    """The filters of the command line; empty ones let everything through."""

    classes: tuple[str, ...] = ()
    operators_named: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    """Mutant ids, or the beginnings of some."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Second-order mutants to add, by the ids of their parts."""
    second_order: int | None = None
    """How many second-order mutants to sample, instead of what the project file says."""
    selective: float | None = None
    """The share of operators to keep, instead of what the project file says."""

    def operators(self, known: Sequence[str], settings: MutationSettings) -> tuple[str, ...]:
        """Names of the operators to use. The command line narrows what the project file chose."""
        classes = {name.split(".")[0] for name in known}
        _refuse_unknown("--class", self.classes, classes)
        _refuse_unknown("--operator", self.operators_named, known)
        chosen = [name for name in known if _in_project(name, settings)]
        if self.classes:
            chosen = [name for name in chosen if name.split(".")[0] in self.classes]
        if self.operators_named:
            chosen = [name for name in chosen if name in self.operators_named]
        return tuple(chosen)


def select_mutants(
    mutants: Iterable[Mutant], selection: Selection, per_operator: int | None
) -> tuple[Mutant, ...]:
    """The mutants that the selection names, at most `per_operator` of each operator.

    The cap keeps the smallest ids: hashes, so a fair sample, and the same one in every run.
    """
    found = tuple(mutants)
    if selection.mutants:
        for wanted in selection.mutants:
            if not any(mutant.id.startswith(wanted) for mutant in found):
                raise UsageError(f"--mutant {wanted}: no such mutant. `agentmut mutants` lists them all.")
        return tuple(m for m in found if m.id.startswith(selection.mutants))
    if per_operator is None:
        return found
    by_operator: dict[str, list[str]] = defaultdict(list)
    for mutant in found:
        by_operator[mutant.operator].append(mutant.id)
    kept = {id for ids in by_operator.values() for id in sorted(ids)[:per_operator]}
    return tuple(mutant for mutant in found if mutant.id in kept)


def checked_share(share: float | None) -> float | None:
    """The share of operators that the command line names. Raises `UsageError`."""
    if share is not None and not 0 < share <= 1:
        raise UsageError(f"--selective: a share is above 0 and at most 1, got {share:g}.")
    return share


def ignored_mutants(mutants: Sequence[Mutant], ignore: Iterable[IgnoredMutant]) -> dict[str, str]:
    """Id and reason of each mutant that the project file tells to ignore."""
    return {m.id: entry.reason for entry in ignore for m in mutants if m.id.startswith(entry.mutant)}


def _in_project(name: str, settings: MutationSettings) -> bool:
    if settings.operators is not None:
        return name in settings.operators
    return settings.classes is None or name.split(".", maxsplit=1)[0] in settings.classes


def _refuse_unknown(option: str, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise UsageError(f"{option} {name}: there is no such thing. {nearest(name, known)}")
