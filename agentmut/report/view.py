"""The options of a report."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agentmut.insight import Coverage, FailingRuns, MutantRuns
    from agentmut.nouns import AssertionSuggestion
    from agentmut.store import RelationReport, Rescored, SurvivorsReport


WIDTH = 80
"""Columns of a report that no terminal shows."""


class Extra(NamedTuple):
    """What a report shows beside `result.json`: documents of the run's folder, and stored runs."""

    rescored: "Rescored | None" = None
    relations: "tuple[RelationReport | SurvivorsReport, ...]" = ()
    coverage: "Coverage | None" = None
    runs: "tuple[MutantRuns, ...]" = ()
    """Stored runs side by side, as many as a page has room for; HTML alone shows them."""
    assertions: "tuple[AssertionSuggestion, ...]" = ()
    """Proposed for survivors, each for the first of its `mutants`; HTML alone shows them."""
    where: Mapping[str, str] = MappingProxyType({})
    """Scenario -> the file and line where it is written."""
    failing: "tuple[FailingRuns, ...]" = ()
    """Failed runs of the unchanged agent, by scenario; HTML alone shows them."""
    files: Mapping[str, str] = MappingProxyType({})
    """Mutant id -> the page of its own that it has beside this one, as a relative address."""
    project: str = ""
    """Name of the project's folder; empty where it is not known."""
    stale: str = ""
    """What has changed in the project since the run, in a sentence; empty where nothing has, or that is not known."""
    no_runs: str = ""
    """Why the page shows no stored runs, or not all of them, in a sentence."""


class View(NamedTuple):
    """The options of a report: which mutants it lists, and in what form."""

    color: bool = False
    width: int = WIDTH
    full: bool = False
    """Whether the terminal shows the whole report of a run, and not its summary."""
    listed: frozenset[str] | None = None
    """Ids of the mutants that are listed; None for all. Scores stay those of the whole run."""
    project_option: str = ""
    """The option that leads `agentmut show` to the project."""
    prefix: str = ""
    """The project's folder as seen from the working directory."""
    extra: Extra = Extra()
    """What the run's folder holds besides: HTML shows all of it, terminal and Markdown a rescored score."""
