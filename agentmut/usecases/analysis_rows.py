"""The document of `agentmut analyze`: rows on imported runs of an absent agent."""

from pydantic import Field

from agentmut._base import Frozen, __version__
from agentmut.insight import Coverage
from agentmut.nouns import Bounds, Origins, Reliability
from agentmut.store import ContractRow


class Evidence(Frozen):
    """The sources of the runs."""

    imported: int
    """Runs that another tool recorded."""
    origins: Origins
    """The share of foreign runs: of an analysis, all of them."""
    formats: tuple[str, ...]
    files: tuple[str, ...]
    """SHA-256 of the files that the runs were read from."""
    versions: tuple[str, ...]
    first: float | None = None
    """Start of the first run, in seconds since the epoch; None where no run has one."""
    last: float | None = None
    stored: int
    """Imported runs in the store, also those that were not asked for."""
    stored_bytes: int


class ScenarioRow(Frozen):
    """The runs of one scenario."""

    scenario: str
    runs: int
    """Runs that passed or failed."""
    passes: int
    interval: Bounds | None = None
    """The interval of the pass rate, jointly with those of all other scenarios; None without a judged run."""
    unjudged: int = 0
    """Runs that no recorded score and no evaluator judges."""
    tokens: int = 0
    usd: float | None = None
    """What all runs cost by their records; None where no record has a price."""


class GroupRow(Frozen):
    """The runs with one value of a field."""

    value: str
    scenarios: int
    runs: int
    passes: int
    pass_rate: Bounds
    """As a mean over scenarios, jointly with those of the other values."""


class EvaluatorRow(Frozen):
    """An evaluator's verdicts on all runs that it judges."""

    evaluator: str
    passes: int
    runs: int
    first: str = ""
    """Place and reason of the first run that failed it."""


class RelationCount(Frozen):
    """A relation that judges a run alone."""

    relation: str
    runs: int
    """Runs that it says something about."""
    violations: int
    first: tuple[str, ...] = ()
    """Place and reason of the first ones."""
    takes_runs: bool = False
    """Whether the relation compares a run with a further one, so that recorded runs alone say nothing."""


class SpentElsewhere(Frozen):
    """The cost of the runs by their records; agentmut itself spent nothing."""

    usd: float
    priced: int
    """Runs whose records have a price."""
    input_tokens: int
    output_tokens: int
    counted: int
    """Runs whose records have tokens."""


class Analysis(Frozen):
    """Imported runs alone, with no agent present."""

    schema_version: int = 1
    kind: str = "analysis"
    agentmut_version: str = __version__
    evidence: Evidence
    outcomes: dict[str, int]
    """How many runs passed, failed, are not judged, and are no evidence."""
    reliability: Reliability | None = None
    """None where nothing judges the runs."""
    scenarios: tuple[ScenarioRow, ...]
    by: str = ""
    """The field that `groups` are made by; empty without groups."""
    groups: tuple[GroupRow, ...] = ()
    coverage: Coverage
    evaluators: tuple[EvaluatorRow, ...] = ()
    contracts: tuple[ContractRow, ...] = ()
    relations: tuple[RelationCount, ...] = ()
    spent: SpentElsewhere
    scenarios_written: int = 0
    """Scenarios that were written into a file."""
    notes: tuple[str, ...] = Field(default=())
