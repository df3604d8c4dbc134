"""`verdicts.json`, schema version 1: what `agentmut test` and `agentmut baseline compare` found."""

from pathlib import Path

from pydantic import Field, ValidationError

from agentmut.errors import UsageError
from agentmut.files.whole_files import write_json
from agentmut.frozen import Frozen
from agentmut.result import AgentSummary, Bounds, Cost
from agentmut.stats.verdicts import Verdict

SCHEMA_VERSION = 1


class BaselineSide(Frozen):
    """The stored baseline on one scenario."""

    passes: int
    trials: int


class EffectRow(Frozen):
    """How large the difference to the baseline is, whatever its p-value."""

    difference: float
    """Pass rate now minus pass rate of the baseline."""
    cohens_h: float
    size: str
    """Cohen's word for h."""
    odds_ratio: float
    """Odds of passing now over those of the baseline."""
    odds_ratio_interval: Bounds


class ScenarioVerdict(Frozen):
    """One scenario."""

    scenario: str
    verdict: Verdict
    """After the correction for the number of scenarios."""
    reason: str
    passes: int
    trials: int
    """Trials that are evidence, up to the one that decided."""
    threshold: float | None = None
    """The pass rate asked for; None in a comparison."""
    interval: Bounds | None
    """Of the pass rate, or of the difference to the baseline."""
    anytime: Bounds | None = None
    """Of the pass rate after a sequential test: valid although the trials were watched."""
    p_fail: float
    """p-value of the test whose rejection is FAIL."""
    p_adjusted: float
    needed: int | None
    """Further trials after which a verdict is likely, if the observed rates are the true ones. After a fixed number
    of trials they belong to a new sample: going on with the old one would be a second look."""
    method: str
    outcomes: dict[str, int] = Field(default_factory=dict)
    """How many trials ended in each way, those that are no evidence included."""
    per_protocol: Bounds | None = None
    """Pass rate of the trials that are evidence."""
    intention_to_treat: Bounds | None = None
    """Pass rate of all trials, trouble with the machinery counted as not passed."""
    failure: str = ""
    """Why the first failed trial failed."""
    baseline: BaselineSide | None = None
    effect: EffectRow | None = None


class BaselineUsed(Frozen):
    """Which stored baseline the agent was compared with."""

    name: str
    saved: float
    """Seconds since the epoch."""
    run_id: str
    agent: AgentSummary
    same_agent: bool
    """Nothing that shapes a trial has changed since: only a drift of the service could show."""
    not_compared: dict[str, str] = Field(default_factory=dict)
    """Scenarios of the suite that were left out, each with the reason."""


class VerdictReport(Frozen):
    """Verdicts on the agent as it is."""

    schema_version: int = SCHEMA_VERSION
    agentmut_version: str
    kind: str
    """test or compare."""
    run_id: str
    status: str
    """finished, budget, interrupted or failed."""
    problem: str = ""
    seed: int
    project: str = ""
    agent: AgentSummary
    verdict: Verdict
    """Of the suite (Eq. 12 of the AgentAssay paper)."""
    reason: str
    family: str
    """What the correction was applied to."""
    correction: str
    alpha: float
    needed: int | None = None
    scenarios: tuple[ScenarioVerdict, ...]
    baseline: BaselineUsed | None = None
    cost: Cost
    settings: dict[str, str | float | int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_verdicts(path: Path) -> VerdictReport:
    """Read a `verdicts.json`. Raises `UsageError` when it is missing or not one."""
    try:
        return VerdictReport.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(f"{path} cannot be read as verdicts of schema {SCHEMA_VERSION}: {said}.") from None


def write_verdicts(report: VerdictReport, folder: Path) -> Path:
    """Write `verdicts.json` into a run's folder, whole or not at all. Raises `StoreError`."""
    return write_json(report, folder / "verdicts.json", "give the same command again")
