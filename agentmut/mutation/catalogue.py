"""The operators that a project can use: the installed ones, and its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentmut._base import PluginError, UsageError, import_object, one_line
from agentmut.seams import Catalogue, Group, Operator, declaration_faults, signature_faults


class OperatorCatalogue:
    """Operators by id. Installed ones are imported when they are asked for, a project's own at once."""

    def __init__(self, own: Mapping[str, type[Operator]]) -> None:
        self._installed = Catalogue.of(Group.OPERATORS)
        self._own = own

    @classmethod
    def of(cls, references: Sequence[str], root: Path) -> "OperatorCatalogue":
        """The catalogue with the operators that `module:object` references name, found from `root`.

        Raises `UsageError` for what cannot be imported, is no operator, or has the id of another one.
        """
        catalogue = cls({})
        for reference in references:
            found = _own(reference, root)
            if found.id in catalogue.names:
                raise UsageError(
                    f"{reference} has the id {found.id!r}, which another operator has. Give it one of its own"
                )
            catalogue = cls({**catalogue._own, found.id: found})
        return catalogue

    @property
    def names(self) -> tuple[str, ...]:
        """All ids, sorted."""
        return tuple(sorted({*self._installed.names, *self._own}))

    def load(self, name: str) -> Operator:
        """The operator of an id. Raises `PluginError` when it is unknown or unsound."""
        kind: type[Operator] = self._own[name] if name in self._own else self._installed.load(name)
        if faults := list(declaration_faults(kind)):  # a project's own one has been looked at before
            raise PluginError(f"operator {name!r}: {'; '.join(faults)}. Correct {kind.__module__}")
        try:
            return kind()
        except Exception as error:
            raise PluginError(f"operator {name!r}: {kind.__name__}() raised {one_line(error)}") from error


def _own(reference: str, root: Path) -> type[Operator]:
    found = import_object(reference, root)
    faults = signature_faults(found, Group.OPERATORS, getattr(found, "id", "")) or tuple(
        declaration_faults(found)
    )
    if faults:
        raise UsageError(
            f"{reference} is no operator: {'; '.join(faults)}. "
            "`agentmut.seams.make_operator.operator` makes one of a function"
        )
    operator: type[Operator] = found
    return operator
