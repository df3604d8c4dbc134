"""`relations.json`, schema version 1: the report of `agentmut relations`."""

import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from agentmut._base import Frozen, UsageError, nearest, write_json
from agentmut.nouns import AgentSummary, Bounds, Cost, EarlierLook, Expectation, Family, JudgeUse, Score
from agentmut.stats import Verdict

SCHEMA_VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Finding(StrEnum):
    """The verdict of pairs of runs on a relation."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "not_applicable"
    """The relation says nothing here. That is no PASS."""


class Counts(Frozen):
    """Violations among pairs."""

    violations: int
    pairs: int


class Violation(Frozen):
    """The first pair in which the relation does not hold, shortened."""

    repeat: int
    """Which run of the unchanged agent it starts from."""
    change: str
    """What the follow-up changed."""
    source_input: str
    source_output: str
    follow_up_input: str
    follow_up_output: str
    difference: str


class Change(Frozen):
    """The change of violations since an earlier version (Proposition 6.1 of the AgentAssay paper)."""

    earlier: Counts
    verdict: Verdict
    """FAIL: violated more often than then. PASS: a rise by delta is ruled out."""
    reason: str
    p_adjusted: float


class RelationRow(Frozen):
    """One relation on one scenario."""

    relation: str
    """Its name, with its argument where it has one."""
    family: Family
    expectation: Expectation
    scenario: str
    finding: Finding
    reason: str
    violations: int = 0
    pairs: int = 0
    """Pairs that were judged, up to the one that decided."""
    interval: Bounds | None = None
    """The interval of the rate of violations."""
    identity: Counts | None = None
    """The unchanged agent against itself, judged by the same relation; None where the tolerance is the measure."""
    tolerance: float | None = None
    compared: tuple[str, ...] = ()
    """Kinds of facts that an agreement of two runs rests on; empty where the relation compares no two runs."""
    silent: dict[str, int] = Field(default_factory=dict)
    """Why pairs were not judged -> how many. They count neither way."""
    needed: int | None = None
    """Further pairs after which a verdict is likely, if the observed rates are the true ones."""
    p_fail: float = 1.0
    p_adjusted: float = 1.0
    method: str = ""
    measured: dict[str, str] = Field(default_factory=dict)
    """What the pairs were made and judged by; violations are compared only with those under the same."""
    free: bool = False
    """It judged runs that were there already: nothing was run for it."""
    example: Violation | None = None
    change: Change | None = None


class PooledCounts(Frozen):
    """One relation over all its scenarios: the pairs whose number was fixed in advance."""

    scenarios: int
    violations: int
    pairs: int
    identity: Counts | None = None
    """Violations of the unchanged agent against itself on these scenarios; None where the tolerance is the measure."""
    p_value: float
    p_adjusted: float
    """Over all relations on scenarios and all relations together (Holm)."""
    failed: bool
    method: str


class RelationSummary(Frozen):
    """One relation over its scenarios."""

    relation: str
    finding: Finding
    why: str
    """What a violation means."""
    counts: dict[str, int]
    """Finding -> scenarios."""
    pooled: PooledCounts | None = None
    """Over all its scenarios together; None where it has fewer than two, and in reports of before 0.2."""


class RelationReport(Frozen):
    """Verdicts of metamorphic relations on the unchanged agent."""

    schema_version: int = SCHEMA_VERSION
    agentmut_version: str
    kind: Literal["relations"] = "relations"
    run_id: str
    status: str
    """finished, budget, interrupted or failed."""
    problem: str = ""
    forgotten: bool = False
    """Runs that raised before they did anything are not reused."""
    seed: int
    project: str = ""
    agent: AgentSummary
    finding: Finding
    reason: str
    alpha: float
    family: str
    """What the correction was applied to."""
    needed: int | None = None
    relations: tuple[RelationSummary, ...]
    rows: tuple[RelationRow, ...]
    against: str = ""
    """Name of the saved report that violations were compared with."""
    changed: Verdict | None = None
    """FAIL if some relation is violated more often than in that report."""
    changed_reason: str = ""
    cost: Cost
    """What the agent's runs cost."""
    judges: tuple[JudgeUse, ...] = ()
    settings: dict[str, str | float | int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    conditions: str = ""
    """Digest of what shaped the runs besides agent and scenario; empty in reports of before 0.2."""
    looks: tuple[EarlierLook, ...] = ()
    """Earlier checks that judged the same relations on the same agent with other settings."""


def write_relations(report: RelationReport, folder: Path) -> Path:
    """Write `relations.json` into a run's folder, whole or not at all. Raises `StoreError`."""
    return write_json(report, folder / "relations.json", "give the same command again")


def check_report_name(name: str) -> str:
    """Return a saved report's name, fit for a file. Raises `UsageError`."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"the name of a saved report has letters, digits, dots, dashes and underscores, at most 64, got {name!r}."
        )
    return name


def save_relations(report: RelationReport, name: str, folder: Path) -> Path:
    """Store a report under a name; it replaces an earlier one of that name. Raise `StoreError`."""
    return write_json(report, folder / f"{check_report_name(name)}.json", "give the same command again")


def read_saved_relations(name: str, folder: Path) -> RelationReport:
    """Return the report with a name. Raise `UsageError` if there is none, or the file is invalid."""
    path = folder / f"{check_report_name(name)}.json"
    try:
        return RelationReport.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted(found.stem for found in folder.glob("*.json"))
        hint = nearest(name, known) if known else f"`agentmut relations --save {name}` makes one."
        raise UsageError(f"there is no saved report {name!r}. {hint}") from None
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(
            f"{path} cannot be read as a report on relations: {said}. Delete it, or let `agentmut relations --save "
            f"{name}` make it anew."
        ) from None


class RelationKill(Frozen):
    """A relation that a surviving mutant violates more often than the unchanged agent."""

    mutant: str
    operator: str
    relation: str
    scenario: str
    violations: int
    pairs: int
    original: Counts
    example: Violation | None = None


class NotStored(Frozen):
    """A relation that cannot be judged from stored runs alone: follow-up runs are missing."""

    relation: str
    scenarios: tuple[str, ...]
    pairs: int
    """Pairs of the unchanged agent without a stored follow-up run. With none of them judged, no mutant can be."""
    mutant_pairs: int
    """Pairs of mutants without one, where the unchanged agent's were judged."""
    mutants: tuple[str, ...]
    """Ids of the survivors that were tried on these scenarios."""


class ComparedMutants(Frozen):
    """A relation on a scenario, and the survivors whose pairs were compared with the unchanged agent's."""

    relation: str
    scenario: str
    mutants: tuple[str, ...]
    measured: dict[str, str]
    """What the pairs were made and judged by."""


class SurvivorsReport(Frozen):
    """The findings of relations on the survivors of a campaign."""

    schema_version: int = SCHEMA_VERSION
    agentmut_version: str
    kind: Literal["relations on survivors"] = "relations on survivors"
    run_id: str
    campaign: str
    """The run whose survivors they are; its `result.json` has the kills too."""
    status: str
    problem: str = ""
    forgotten: bool = False
    """Runs that raised before they did anything are not reused."""
    survivors: int
    tried: int
    """Survivors that some relation could be compared on."""
    kills: tuple[RelationKill, ...]
    score: Score
    score_with_relations: Score | None
    cost: Cost
    """What the agent's runs cost."""
    judges: tuple[JudgeUse, ...] = ()
    not_stored: tuple[NotStored, ...] = ()
    """By relation: what only runs could tell."""
    runs_needed: int = 0
    """Runs at most that judging these takes, where a follow-up is one run."""
    compared: tuple[ComparedMutants, ...] = ()
    """What was judged; empty in reports of before 0.2, like the next five."""
    alpha: float = 0.0
    """The chance that relations kill a mutant without effect, at most."""
    seed: int | None = None
    agent: str = ""
    """Digest of the unchanged agent's config."""
    settings: dict[str, str | float | int] = Field(default_factory=dict)
    conditions: str = ""
    """Digest of what shaped the runs besides agent and scenario."""
    looks: tuple[EarlierLook, ...] = ()
    """Earlier checks that judged the same relations on the same mutants with other settings."""
    notes: tuple[str, ...] = ()

    @property
    def killed(self) -> tuple[str, ...]:
        """Return ids of the mutants that relations kill."""
        return tuple(dict.fromkeys(kill.mutant for kill in self.kills))


_Written: TypeAdapter[RelationReport | SurvivorsReport] = TypeAdapter(
    Annotated[RelationReport | SurvivorsReport, Field(discriminator="kind")]
)


def read_relations(path: Path) -> RelationReport | SurvivorsReport:
    """Read a `relations.json`. Raise `UsageError` if it is missing or invalid."""
    return parse_relations(lambda: path.read_text(encoding="utf-8"), str(path))


def parse_relations(text: Callable[[], str], place: str) -> RelationReport | SurvivorsReport:
    """Return the report in a text that `text` reads from a place. Raise `UsageError` if it cannot."""
    try:
        return _Written.validate_json(text())
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(f"{place} cannot be read as a report on relations: {said}.") from None
