"""The operators that a project can use: installed operators, and the project's own."""

from collections.abc import Iterator
from typing import Any

from agentmut._base import PluginError, one_line
from agentmut.seams import Group, Operator, ProjectCatalogue, declaration_faults


class OperatorCatalogue(ProjectCatalogue[Operator]):
    """Operators by id. An installed operator is imported on first use, a project's own operator at once."""

    group = Group.OPERATORS

    def faults(self, kind: Any) -> Iterator[str]:
        """Return what is wrong with what an operator declares."""
        return declaration_faults(kind)

    def load(self, name: str) -> Operator:
        """Return the operator of an id. Raise `PluginError` if it is unknown or unsound."""
        kind = self.kind(name)
        try:
            return kind()
        except Exception as error:
            raise PluginError(f"operator {name!r}: {kind.__name__}() raised {one_line(error)}") from error
