"""The options of a report."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agentmut.insight import Coverage
    from agentmut.store import RelationReport, Rescored, SurvivorsReport


WIDTH = 80
"""Columns of a report that no terminal shows."""


class Extra(NamedTuple):
    """The documents of a run's folder other than `result.json`."""

    rescored: "Rescored | None" = None
    relations: "tuple[RelationReport | SurvivorsReport, ...]" = ()
    coverage: "Coverage | None" = None


class View(NamedTuple):
    """The options of a report: which mutants it lists, and in what form."""

    color: bool = False
    width: int = WIDTH
    listed: frozenset[str] | None = None
    """Ids of the mutants that are listed; None for all. Scores stay those of the whole run."""
    project_option: str = ""
    """The option that leads `agentmut show` to the project."""
    prefix: str = ""
    """The project's folder as seen from the working directory."""
    extra: Extra = Extra()
    """What the run's folder holds besides: HTML shows all of it, terminal and Markdown a rescored score."""
