"""The operators and mutants of a command."""

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from agentmut._base import Frozen, UsageError, nearest
from agentmut.campaign.selection.caps import by_instruction, capped, sampled
from agentmut.campaign.selection.targets import at_targets
from agentmut.mutation import Changes, DroppedCandidate, Generation, touches
from agentmut.nouns import Intent, Mutant, Origin
from agentmut.project import MutationSettings
from agentmut.seams import class_of, is_named, unknown_name

HARMLESS_PART = 4
"""One of so many mutants of a sample is a `preserve` one."""


class Selection(Frozen):
    """The filters of the command line; an empty filter lets everything through."""

    classes: tuple[str, ...] = ()
    operators_named: tuple[str, ...] = ()
    """Operators, or patterns like `prompt.*`."""
    intents: tuple[Intent, ...] = ()
    mutants: tuple[str, ...] = ()
    """Mutant ids, or the beginnings of some."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Second-order mutants to add, by the ids of their parts."""
    second_order: int | None = None
    """How many second-order mutants to sample, instead of what the project file says."""
    selective: float | None = None
    """The share of operators to keep, instead of what the project file says."""
    targets: tuple[str, ...] = ()
    """Places, as `agentmut.campaign.selection.targets` reads them."""
    changes: Changes | None = None
    """Only mutants that touch what changed."""
    sample: int | None = None
    """At most so many mutants in all; goes before the project file's `mutation.sample`."""

    @property
    def narrows_operators(self) -> bool:
        """Return whether operators of the project are left out."""
        return bool(self.classes or self.operators_named)

    def operators(self, known: Sequence[str], settings: MutationSettings) -> tuple[str, ...]:
        """Return the names of the operators to use. The command line narrows the project file's choice."""
        classes = {class_of(name) for name in known}
        _refuse_unknown("--class", self.classes, classes)
        if unknown := unknown_name(self.operators_named, known):
            _refuse_unknown("--operator", (unknown,), known)
        in_use = [name for name in known if _in_project(name, settings)]
        chosen = [name for name in in_use if self._names(name)]
        self._refuse_idle(in_use, chosen, settings)
        return tuple(chosen)

    def asks_for(self, operator: str, settings: MutationSettings) -> bool:
        """Return whether an on-demand operator is asked for: by name, by a pattern, or by `mutation.incidents`."""
        patterns = (*self.operators_named, *(settings.operators or ()))
        return settings.incidents or any(fnmatchcase(operator, pattern) for pattern in patterns)

    def _names(self, operator: str) -> bool:
        """Return whether the classes and the operators that are given let an operator through."""
        by_class = not self.classes or class_of(operator) in self.classes
        return by_class and (
            not self.operators_named or any(is_named(operator, p) for p in self.operators_named)
        )

    def _refuse_idle(self, in_use: Sequence[str], chosen: Sequence[str], settings: MutationSettings) -> None:
        """Raise `UsageError` for a class or pattern that adds nothing, rather than ignore it silently."""
        options = [
            *(("--class", name) for name in self.classes),
            *(("--operator", pattern) for pattern in self.operators_named),
        ]
        for option, name in options:
            if not any(is_named(operator, name) for operator in in_use):
                key = "operators" if settings.operators is not None else "classes"
                raise UsageError(
                    f"{option} {name}: `mutation.{key}` of the project file leaves it out. Add it there, or leave "
                    f"out {option} {name}: the command line only narrows what the project file chose."
                )
            if not any(is_named(operator, name) for operator in chosen):
                other = "--operator" if option == "--class" else "--class"
                raise UsageError(
                    f"{option} {name}: {other} names none of these operators, and a mutant has to match both options."
                )


def select_mutants(
    mutants: Iterable[Mutant],
    selection: Selection,
    settings: MutationSettings,
    origin: Origin,
    ignored: Collection[str] = (),
) -> tuple[Mutant, ...]:
    """Return the mutants that the selection names, under the caps of the project file and of the command line.

    Where ids are named there are no caps. Mutants that are ignored take nobody's place under a cap.
    """
    chosen = _named(tuple(mutants), selection, origin)
    if selection.mutants:
        return chosen
    config = origin.config
    wanted = [mutant for mutant in chosen if mutant.id not in ignored]
    kept = capped(wanted, settings.per_instruction, by_instruction(config))
    kept = capped(kept, settings.per_operator, lambda mutant: mutant.operator)
    kept = _sampled(kept, settings.sample if selection.sample is None else selection.sample)
    ids = {mutant.id for mutant in kept} | set(ignored)
    return tuple(mutant for mutant in chosen if mutant.id in ids)


def narrowed_drops(
    generation: Generation, selection: Selection, origin: Origin
) -> tuple[DroppedCandidate, ...]:
    """Return the dropped candidates that pass the filters; one whose edits do not fit has no place, and passes."""
    would_be = (drop.mutant for drop in generation.dropped if drop.mutant)
    wanted = {mutant.id for mutant in _filtered((*generation.mutants, *would_be), selection, origin)}
    return tuple(drop for drop in generation.dropped if drop.mutant is None or drop.mutant.id in wanted)


def _sampled(mutants: Sequence[Mutant], most: int | None) -> tuple[Mutant, ...]:
    """Sample at most `most` mutants; three quarters of them count in the score if there are enough.

    The part of each intent is fixed, so that a mutant more or less still moves no more than one in and one out.
    """
    if most is None:
        return tuple(mutants)
    harmless = [mutant for mutant in mutants if mutant.intent is Intent.PRESERVE]
    harmful = [mutant for mutant in mutants if mutant.intent is not Intent.PRESERVE]
    some = max(most // HARMLESS_PART, most - len(harmful))
    kept = {
        mutant.id for mutant in (*sampled(harmless, some), *sampled(harmful, most - min(some, len(harmless))))
    }
    return tuple(mutant for mutant in mutants if mutant.id in kept)


def checked_share(share: float | None) -> float | None:
    """Return the share of operators that the command line names. Raises `UsageError`."""
    if share is not None and not 0 < share <= 1:
        raise UsageError(f"--selective: a share is above 0 and at most 1, got {share:g}.")
    return share


def _named(found: tuple[Mutant, ...], selection: Selection, origin: Origin) -> tuple[Mutant, ...]:
    for wanted in selection.mutants:
        if not wanted:
            raise UsageError("--mutant: the id is empty, and would name every mutant.")
        if not any(mutant.id.startswith(wanted) for mutant in found):
            raise UsageError(f"--mutant {wanted}: no such mutant. `agentmut mutants` lists them all.")
    return _filtered(found, selection, origin)


def _filtered(mutants: tuple[Mutant, ...], selection: Selection, origin: Origin) -> tuple[Mutant, ...]:
    if selection.mutants:
        mutants = tuple(m for m in mutants if m.id.startswith(selection.mutants))
    if selection.intents:
        mutants = tuple(m for m in mutants if m.intent in selection.intents)
    if selection.targets:
        mutants = at_targets(mutants, selection.targets, origin)
    if selection.changes is not None:
        mutants = tuple(m for m in mutants if touches(selection.changes, m, origin.config))
    return mutants


def _in_project(name: str, settings: MutationSettings) -> bool:
    if settings.operators is not None:
        return any(is_named(name, pattern) for pattern in settings.operators)
    return settings.classes is None or class_of(name) in settings.classes


def _refuse_unknown(option: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"{option} {name}: there is no such {option.strip('-')}. {nearest(name, known)}")
