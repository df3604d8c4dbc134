"""What a report format looks like to the core, and the capabilities that it can declare."""

from abc import abstractmethod
from typing import Any, ClassVar, Protocol

from agentmut.nouns import Result
from agentmut.seams.capability import Capability


class ReportView(Protocol):
    """How a result is to be shown."""

    @property
    def color(self) -> bool:
        """Return whether the report may be coloured for a terminal."""

    @property
    def width(self) -> int:
        """Return the columns of the page."""

    @property
    def listed(self) -> frozenset[str] | None:
        """Return the ids of the mutants that are listed; None for all. Scores stay those of the whole run."""

    @property
    def prefix(self) -> str:
        """Return the project's folder as seen from the working directory."""


class ReportFormat(Protocol):
    """Writes a result for a reader. Built without arguments."""

    name: ClassVar[str]
    """The value of `--format`."""

    def render(self, result: Result, view: ReportView) -> str:
        """Return the whole document, with its last line break. `result` holds the listed mutants alone."""


class ShowsWholeRun(Capability, kind="report_formats"):
    """The format is given the whole result and all that the run's folder holds, and narrows the mutants itself."""


class ShowsRescored(Capability, kind="report_formats"):
    """The format shows the score that changed evaluators give the same trials."""


class CanBeAppended(Capability, kind="report_formats"):
    """Two documents of the format in one file can still be read."""


class ComparesResults(Capability, kind="report_formats"):
    """The format can show what changed between two results."""

    @abstractmethod
    def compare(self, found: Any, view: Any) -> str:
        """Return the comparison as a document, with its last line break."""
