"""`verdicts.json`, schema version 1: the report of `agentmut test` and `agentmut baseline compare`."""

from collections.abc import Callable
from pathlib import Path

from pydantic import Field, ValidationError

from agentmut._base import Frozen, UsageError, write_json
from agentmut.nouns import AgentSummary, Behaviour, Bounds, Cost, EarlierLook, JudgeUse, Reliability, SetAside
from agentmut.stats import Verdict

SCHEMA_VERSION = 1


class BaselineSide(Frozen):
    """The stored baseline on one scenario."""

    passes: int
    trials: int
    lowest: float | None = None
    """The lowest true pass rate that its trials leave open; FAIL says that the agent is below it."""
    false_fail: float | None = None
    """The chance of FAIL for an agent at that rate, exact: an unchanged one fails no more often."""
    power: float | None = None
    """The chance of FAIL after a drop by `delta` from the observed rate, exact."""


class EffectRow(Frozen):
    """The size of the difference to the baseline, apart from its p-value."""

    difference: float
    """Pass rate now minus pass rate of the baseline."""
    cohens_h: float
    size: str
    """Cohen's word for h."""
    odds_ratio: float
    """Odds of passing now over those of the baseline."""
    odds_ratio_interval: Bounds


class ClauseRow(Frozen):
    """A clause of a contract that some trial violated."""

    clause: str
    kind: str
    """invariant, governance or postcondition."""
    severity: str
    trials: int
    """Trials that violated it for good."""
    recovered: int
    """Trials that violated it, and in which it held again in time."""
    step: int | None = None
    """Where the first of them did; None for the finished run. Steps count from 1, turns from 0."""
    turn: int | None = None
    tool: str | None = None
    said: str


class SatisfactionRow(Frozen):
    """The meaning of a PASS for (p, delta, k)-satisfaction (Proposition 3.4 of the AgentAssay paper)."""

    p: float
    delta: float
    k: int
    lacking: str
    """The conditions that are not met; empty where the satisfaction follows."""
    true_rate: Bounds | None = None
    """The interval of the rate at which runs satisfy the contract; its lower end is what is used."""
    rate: float | None = None
    """p': k further runs in a row reach it with the chance `chance`."""
    drift: float | None = None
    """The chance that they fall delta or more below the true rate is at most this."""
    chance: float
    lowest: float | None = None
    """The lowest rate of k trials in a row that was observed; None with fewer trials."""
    drop: float | None = None
    """How far that is below the rate of all trials."""


class ContractRow(Frozen):
    """A contract on one scenario."""

    contract: str
    vacuous: str = ""
    """The preconditions that do not hold, so that nothing was checked; empty where it applies."""
    clauses: tuple[ClauseRow, ...] = ()
    satisfaction: SatisfactionRow | None = None
    """None where the contract asks for none, or does not apply."""


class JudgedRate(Frozen):
    """A model judge's pass rate, corrected by its errors on answers that a human has judged."""

    judge: str
    passes: int
    trials: int
    """Trials that it judged."""
    different: int | None = None
    """How many different answers it judged: equal ones have one opinion. None where that is not known."""
    labels: int = 0
    sensitivity: Bounds | None = None
    specificity: Bounds | None = None
    corrected: Bounds | None = None
    """For a number of trials fixed beforehand; no estimate where the labels allow none."""
    problem: str = ""
    note: str = ""
    """Why the corrected interval is not to be taken at its word; empty for no reason."""


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
    """The interval of the pass rate, or of the difference to the baseline."""
    anytime: Bounds | None = None
    """The interval of the pass rate after a sequential test: valid although the trials were watched."""
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
    in_time: Bounds | None = None
    """Pass rate of the trials that ended before their timeout, which otherwise count as failures; None where none timed
    out. It decides nothing."""
    failure: str = ""
    """Why the first failed trial failed."""
    baseline: BaselineSide | None = None
    effect: EffectRow | None = None
    contracts: tuple[ContractRow, ...] = ()
    judged: tuple[JudgedRate, ...] = ()


class BaselineUsed(Frozen):
    """Which stored baseline the agent was compared with."""

    name: str
    saved: float
    """Seconds since the epoch."""
    run_id: str
    agent: AgentSummary
    confidence: float | None = None
    """The chance, over the draw of the baseline, that no true rate is below `lowest` of its scenario."""
    false_fail: float | None = None
    """Given the baseline, an unchanged agent fails on some scenario with at most this chance."""
    same_agent: bool
    """Nothing that shapes a trial has changed since: only a drift of the service could show."""
    not_compared: dict[str, str] = Field(default_factory=dict)
    """Scenarios of the suite that were left out, each with the reason."""


class SeriesAdded(Frozen):
    """The change of the baseline of one scenario by `compare --update`."""

    scenario: str
    passes: int
    trials: int
    """Trials of the new series that are evidence."""
    replaces: bool
    """The agent or its evaluators are not those of the earlier series, which count no longer."""
    total_passes: int
    total_trials: int
    looks: int
    """How many sizes the baseline has had now."""


class BaselineUpdate(Frozen):
    """The change of the baseline by `compare --update` after the verdict."""

    said: str
    run_id: str = ""
    """The run of the new series; empty where none was run."""
    scenarios: tuple[SeriesAdded, ...] = ()
    """Empty where nothing was added."""
    cost: Cost | None = None


class VerdictReport(Frozen):
    """Verdicts on the unchanged agent."""

    schema_version: int = SCHEMA_VERSION
    agentmut_version: str
    kind: str
    """test or compare."""
    run_id: str
    status: str
    """finished, budget, interrupted or failed."""
    problem: str = ""
    forgotten: bool = False
    """Runs that raised before they did anything are not reused."""
    seed: int
    project: str = ""
    agent: AgentSummary
    verdict: Verdict
    """The verdict on the suite (Eq. 12 of the AgentAssay paper)."""
    reason: str
    family: str
    """What the correction was applied to."""
    correction: str
    alpha: float
    needed: int | None = None
    scenarios: tuple[ScenarioVerdict, ...]
    reliability: Reliability | None = None
    """What these trials say. None in reports of earlier versions, and where no trial is evidence."""
    behaviour: Behaviour | None = None
    """Against a stored baseline; None where it was not asked for. It changes no verdict."""
    baseline: BaselineUsed | None = None
    update: BaselineUpdate | None = None
    """None where no update was asked for."""
    cost: Cost
    judges: tuple[JudgeUse, ...] = ()
    settings: dict[str, str | float | int] = Field(default_factory=dict)
    quarantined: tuple[SetAside, ...] = ()
    """Trials that outages of a service spoiled; they were run again."""
    evidence_older_than_evaluators: tuple[str, ...] = ()
    """Scenarios whose evaluators may have been chosen by looking at the runs that they judge here."""
    looks: tuple[EarlierLook, ...] = ()
    """Earlier runs that decided the same with other settings."""
    notes: tuple[str, ...] = ()


def read_verdicts(path: Path) -> VerdictReport:
    """Read a `verdicts.json`. Raise `UsageError` if it is missing or invalid."""
    return parse_verdicts(lambda: path.read_text(encoding="utf-8"), str(path))


def parse_verdicts(text: Callable[[], str], place: str) -> VerdictReport:
    """Return the verdicts in a text that `text` reads from a place. Raise `UsageError` if it cannot."""
    try:
        return VerdictReport.model_validate_json(text())
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(f"{place} cannot be read as verdicts of schema {SCHEMA_VERSION}: {said}.") from None


def write_verdicts(report: VerdictReport, folder: Path) -> Path:
    """Write `verdicts.json` into a run's folder, whole or not at all. Raises `StoreError`."""
    return write_json(report, folder / "verdicts.json", "give the same command again")


FORGOTTEN = "runs that raised before they did anything are not reused"


def becoming(forgotten: bool) -> str:
    """Return the fate of finished trials if the command is given again."""
    return FORGOTTEN if forgotten else "finished trials are reused"
