"""What `agentmut watch` says of the runs that arrived: its charts, and the versions that made the runs."""

from agentmut._base import Frozen, __version__
from agentmut.insight import NearestVersion
from agentmut.nouns import BrokenRecord, Origins
from agentmut.usecases.drift import Watch


class ChartRow(Frozen):
    """One chart."""

    chart: str
    """cusum or page-hinkley."""
    of: str
    """`pass rate` or `behaviour`."""
    in_control: float | None = None
    """Runs to a false alarm on average; None where nothing is watched."""
    simulated: bool = False
    """Whether that length is simulated on the reference's runs; else it is exact at the reference's rate."""
    watched: int = 0
    level: float = 0.0
    """Now, as a share of the threshold."""
    alarm_at: int | None = None
    """Which watched run raised the alarm, from 1."""
    run: str = ""
    """Where that run stands."""
    started: float | None = None
    """When that run started, in seconds since the epoch."""
    reason: str = ""
    """Why nothing is watched, where it is not."""


class VersionRuns(Frozen):
    """How many runs come from one version of the agent."""

    version: str
    reference: int
    watched: int


class WatchReport(Frozen):
    """What has become of an agent in the runs that arrived."""

    schema_version: int = 1
    kind: str = "watch"
    agentmut_version: str = __version__
    reference: int
    """First runs that the others are held against."""
    watched: int
    added: int | None = None
    """Runs that this command imported; None where it was given no source."""
    broken: tuple[BrokenRecord, ...] = ()
    """Records of the source that could not be read."""
    in_control: float
    """Runs to the first false alarm of any chart, on average, or more, if the reference's pass rate is the true one.
    As to behaviour, what the reference leaves open is allowed for at `GUARD`."""
    pass_rate: Watch
    """The pass rate of all runs together, with the chance of a false alarm in as many runs."""
    within_scenarios: bool
    """Whether a run's behaviour is compared with runs of its own scenario; else with all runs together."""
    charts: tuple[ChartRow, ...]
    origins: Origins = Origins()
    """The runs of the reference and the watched ones, and how many of them another tool recorded."""
    versions: tuple[VersionRuns, ...] = ()
    """The versions of the agent that made these runs, the most frequent one first."""
    nearest: NearestVersion | None = None
    """The version nearest to the runs from the alarm on, or to all watched runs; None with fewer than two versions."""

    @property
    def changed(self) -> bool:
        """Return whether any chart has raised an alarm."""
        return any(row.alarm_at for row in self.charts)

    @property
    def enough(self) -> bool:
        """Return whether anything is watched."""
        return any(row.in_control is not None and row.watched for row in self.charts)
