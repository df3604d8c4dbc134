"""The protocol of a report format, and the capabilities that a format can declare."""

from abc import abstractmethod
from typing import Any, ClassVar, Protocol

from agentmut.nouns import Result
from agentmut.seams.capability import Capability


class ReportView(Protocol):
    """The settings for showing a result."""

    @property
    def color(self) -> bool:
        """Return whether the report may be coloured for a terminal."""

    @property
    def width(self) -> int:
        """Return the columns of the page."""

    @property
    def listed(self) -> frozenset[str] | None:
        """Return the ids of the mutants to list; None for all. Scores stay those of the whole run."""

    @property
    def prefix(self) -> str:
        """Return the project's folder as seen from the working directory."""


class ReportFormat(Protocol):
    """Writes a result for a reader. Built without arguments."""

    name: ClassVar[str]
    """The value of `--format`."""

    def render(self, result: Result, view: ReportView) -> str:
        """Return the whole document, with its last line break. `result` holds only the listed mutants."""


class ShowsWholeRun(Capability, kind="report_formats"):
    """The format is given the whole result and all that the run's folder holds, and narrows the mutants itself."""


class ShowsRescored(Capability, kind="report_formats"):
    """The format shows the score of the same trials under changed evaluators."""


class CanBeAppended(Capability, kind="report_formats"):
    """Two documents of the format in one file are still readable."""


class ComparesResults(Capability, kind="report_formats"):
    """The format can show what changed between two results."""

    @abstractmethod
    def compare(self, found: Any, view: Any) -> str:
        """Return the comparison as a document, with its last line break."""
