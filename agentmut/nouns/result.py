"""`result.json`, schema version 1: the only source of every report. It grows by added fields only."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from agentmut._base import Frozen, UsageError, write_json
from agentmut.nouns.mutant import Effect, Intent, OperatorClass, Status

SCHEMA_VERSION = 1
SUITE = "the suite as a whole"
"""In `killed_by`: the runs of all scenarios together, where `statistics.suite_share` gives them a say."""


class AgentSummary(Frozen):
    """Which agent was measured."""

    adapter: str
    digest: str


class Bounds(Frozen):
    """A confidence interval."""

    estimate: float | None = None
    """None where there is nothing to estimate from, and in results of earlier versions."""
    low: float
    high: float
    level: float
    n: int | None = None
    """Observations behind it; None in results of earlier versions."""
    method: str


class BaselineRow(Frozen):
    """The original on one scenario."""

    scenario: str
    trials: int
    passes: int
    rate: float | None
    interval: Bounds | None
    threshold: float
    testable: bool
    """False where the original fails too often for a drop to show: no mutant is tried there."""
    no_evidence: int = 0
    """Trials that ended in infrastructure trouble and the like, and are not counted in `trials`."""
    reason: str = ""
    failure: str = ""
    """Why the first failed trial failed."""


class IdentityControl(Frozen):
    """Unchanged agents run as if they were mutants."""

    mutants: int
    killed: int
    trials: int = 0


class DestroyedControl(Frozen):
    """The agent without prompt, tools and context."""

    status: Status | None
    reason: str = ""
    trials: int = 0


class Controls(Frozen):
    """What the campaign says about itself."""

    identity: IdentityControl
    destroyed: DestroyedControl


class Score(Frozen):
    """Share killed among killed, survived and no_coverage, with its bounds; null where nothing counts.

    For `preserve` mutants it is the share not killed. `low` and `high` hold at `level`: the lower end speaks
    of mutants with any real drop, the upper end of those with a drop of at least delta.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    killed: int = 0
    survived: int = 0
    no_coverage: int = 0
    undecided: int = 0
    untestable: int = 0
    """Mutants that only scenarios reach on which the original fails too often; they widen the bounds."""
    equivalent: int = 0
    not_applied: int = 0
    ignored: int = 0
    error: int = 0
    certain: int = 0
    """Kills of this grade: all certain kills of the run are real, with confidence 0.95."""
    strong: int = 0
    """Kills whose p-value is at most 0.01, beside the certain ones."""
    moderate: int = 0
    """Kills at the rule's own level. In results of earlier versions no kill has a grade."""
    false_kills: int | None = None
    """Kills that may all be false: what the lower end takes off. None in results of earlier versions."""
    resolution: float | None = None
    """The upper end speaks of drops of at least this; None in results of earlier versions, and where all is of one
    drop, that of the rule."""
    missed: int | None = None
    """Survivors that may all have dropped by delta: what the upper end adds. None in results of earlier versions."""


class Target(Frozen):
    """Where a mutant changes the agent; line and column count from 1."""

    path: str | None
    line: int | None = None
    column: int | None = None


class PromptRule(Frozen):
    """An instruction of the prompt, as characters `start` to `end` of it."""

    start: int
    end: int
    line: int | None = None
    """Where it is written, counted from 1."""
    mutants: tuple[str, ...] = ()
    """Ids of the mutants that change something in it."""


class SourceText(Frozen):
    """A text that mutants change, without secrets: the prompt, or a document of the context."""

    path: str
    line: int | None = None
    """The line of that file where it begins."""
    text: str
    rules: tuple[PromptRule, ...] = ()
    """Of the prompt; empty where a secret was taken out of it, as nothing fits its characters then."""


class TextChange(Frozen):
    """What a mutant puts in the place of the characters `start` to `end` of a text."""

    text: int
    """Index in `sources`."""
    start: int
    end: int
    after: str


class DecisionTable(Frozen):
    """What stopped trials on a scenario, as far as they went. The sequences are indexed by trials, from 0."""

    f0: int
    """Failures of the original, in `n0` trials."""
    n0: int
    alpha: float
    """The scenario's share of the level."""
    kill_at: tuple[int, ...]
    """Least number of failures that kills; more than the trials where none does."""
    survive_at: tuple[int, ...]
    """Greatest number of failures that survives; -1 where none does."""
    log_evidence: tuple[tuple[float, ...], ...]
    """Log evidence of a drop, log m1/m0, of each number of failures that trials can have come to undecided:
    the first is one more than the greatest `survive_at` of fewer trials."""


class Evidence(Frozen):
    """A mutant on one scenario."""

    scenario: str
    trials: int
    failures: int
    decision: str
    failure: str = ""
    """Why the first failed trial failed."""
    outcomes: str = ""
    """`0` for each trial that passed, `1` for each that failed, in their order; empty in earlier versions."""
    table: int | None = None
    """Index in `decision_tables`; None in results of earlier versions."""


class CiRed(Frozen):
    """The chance that a CI job is red: one that runs each scenario `runs` times, and is red if some scenario's
    observed rate is under its threshold.

    Trials of a mutant are stopped early, so its bounds describe and promise no coverage.
    """

    runs: int
    value: float | None
    """Null where some scenario has no trial to tell from."""
    low: float
    high: float
    level: float = 0.95


class CiNoticed(Frozen):
    """What a CI job would have made of the degrading mutants of one status."""

    mutants: int
    """Those with a chance of red."""
    let_through: int
    """Those that it is more likely to pass than not."""
    mean_red: float | None
    """Their mean chance of red; null without mutants."""


class CiRun(Frozen):
    """What a CI job that runs each scenario `runs` times would have seen."""

    runs: int
    left_out: int = 0
    """Scenarios without a trial of the original that is evidence, such as a test that is always skipped."""
    false_alarm: CiRed
    """The chance that it is red on the unchanged agent."""
    killed: CiNoticed
    survived: CiNoticed


class WitnessSummary(Frozen):
    """Proof of delivery: in how many trials the change was seen, and where.

    What is counted besides is that of these trials. A request counts if it could have shown the change: it shows it,
    or has what it changes as it was.
    """

    route: str
    trials: int
    of: int
    edits: int = 0
    """Places that the mutant changes; 0 in results of earlier versions."""
    edits_seen: int = 0
    """Those that some trial showed."""
    fewest_edits: int = 0
    """Those that the trial with the fewest showed."""
    requests: int = 0
    requests_shown: int = 0
    """Requests that show every edit which they could have shown."""
    first_missed: int = 0
    """Trials in which the first of these requests did not show it."""
    prompts: int = 0
    """Different system prompts of these requests: mostly, so many agents."""
    prompts_shown: int = 0
    """Those with which some request showed it."""


class BehaviourChange(Frozen):
    """What the trace test says of a mutant whose pass rates did not drop. It never moves the score."""

    changed: bool | None
    """Whether behaviour has changed; False where it is shown to be unchanged, None where neither is shown."""
    p: float
    """The smallest p-value over scenarios, corrected for their number (Holm)."""
    scenario: str = ""
    """Where it changed most."""
    feature: str = ""
    """What moved most there, in words."""
    trials: int = 0
    """Runs of the mutant that were compared, in all scenarios."""
    visible: float | None = None
    """A feature that shows in this share of the runs would have been noticed with a chance of 0.9."""


class Confirmation(Frozen):
    """The trials that were to confirm a kill: the original beside the mutant, on the scenarios that killed."""

    scenarios: tuple[str, ...]
    trials: int
    """Of the mutant there, those since the kill included."""
    failures: int
    original_trials: int
    """Of the original, made since the kill."""
    original_failures: int
    log_evidence: float
    """Log Bayes factor for a mutant that is worse than the original is now."""
    held: bool
    """Whether the kill holds; False also where the run ended before that was known."""


class Drift(Frozen):
    """A change of the service that the original's own trials show, in all scenarios together."""

    since: float
    """The drift is not earlier; seconds since the epoch."""
    until: float
    """The drift is not later; seconds since the epoch."""
    change: float
    """Of the pass rate, as a mean over scenarios; negative for a fall."""
    p: float
    """Of trials like these without any drift."""
    not_confirmed: tuple[str, ...] = ()
    """Ids of the mutants that have a kill which did not hold against the original of the same time."""
    across: tuple[str, ...] = ()
    """Ids of the mutants that are not killed and had trials after it: they are compared with the earlier baseline."""


class ServiceWatch(Frozen):
    """Trials of the original after the baseline, to the end of the run."""

    sentinels: int
    """Trials at fixed intervals among those of the mutants."""
    confirming: int
    """Trials that were to confirm kills."""
    drift: Drift | None = None


class MutantRow(Frozen):
    """What became of one mutant."""

    id: str
    operator: str
    operator_class: OperatorClass = Field(alias="class")
    intent: Intent
    effect: Effect | None = None
    """What its operator declares that it does; None also in results of before 0.2."""
    status: Status
    target: Target
    before: str
    after: str
    changes: tuple[TextChange, ...] = ()
    """Where `sources` are changed; empty where something else is, or they could not be kept."""
    description: str
    subject: str = ""
    parts: tuple[str, ...] = ()
    """Ids of the two mutants that a higher-order mutant is made of."""
    killed_by: tuple[str, ...] = ()
    """Scenarios whose own runs suffice, and `SUITE` where those of all together do."""
    p_value: float | None = None
    """Of a kill: the chance that a mutant that is no worse is killed on evidence as strong, at most. None for what was
    not killed, and in results of earlier versions."""
    grade: str = ""
    """Of a kill: certain, strong or moderate; see `Score`."""
    ruled_out: float | None = None
    """Of a survivor: the drop of a pass rate that each scenario has ruled out, with confidence 1 - beta."""
    gate_red: bool | None = None
    """Whether the observed rate of some scenario fell under the suite's own threshold."""
    ci_red: tuple[CiRed, ...] = ()
    """How likely a CI job would be red on this mutant; empty where no trial and no reach tells."""
    ci_as_original: int = 0
    """Scenarios that reach the change and were not tried. Where no drop was found, `ci_red` counts the original's
    trials with the mutant's for the value and the lower bound; the upper bound takes an untried scenario as always
    failing."""
    gap: str | None = None
    """What is missing where it was not killed: `assertion`, `scenario` or `unknown`."""
    behaviour: BehaviourChange | None = None
    killed_by_relations: tuple[str, ...] = ()
    """`relation @ scenario` whose rate of violations rose, by `agentmut relations --survivors`; no part of `status`."""
    group: str = ""
    """Id of the first mutant that the same scenarios kill in the same way; empty where it is alone."""
    subsumed_by: str = ""
    """Id of a mutant whose killing scenarios all kill this one too, and which is harder to kill."""
    witness: WitnessSummary | None = None
    evidence: tuple[Evidence, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    """Kills and what confirmed them; the last is the latest. Empty in results of before 0.2."""
    trials: int = 0
    usd: float | None = 0.0
    reason: str = ""


class Cost(Frozen):
    """Every trial of the run, before and after an interruption, baseline and controls included."""

    trials: int
    baseline_trials: int
    tokens: int
    usd: float | None
    """None when a model that was called has no known price."""
    seconds: float
    reused: int = 0
    """Trials taken over from earlier runs, at no cost."""
    abandoned_threads: int = 0


class SetAside(Frozen):
    """Trials that an outage of a service spoiled: they are no evidence, and were run again."""

    reason: str
    trials: int
    since: float
    """When the first of them ended, in seconds since the epoch."""
    until: float
    """When the last of them ended."""


class JudgeUse(Frozen):
    """What a model judge has cost since the run's last start, apart from the agent's own runs."""

    model: str
    """provider:name; the name alone where a judge of another tool's suite asked it."""
    input_tokens: int
    output_tokens: int
    usd: float | None
    """None where the model has no known price."""
    questions: int = 0
    """Put to the model; 0 where they are not counted."""
    reused: int = 0
    """Opinions that were at hand from earlier, at no cost."""


class EarlierLook(Frozen):
    """An earlier run that decided the same question with other settings."""

    run_id: str
    when: str
    """The minute (UTC) at which it was planned; empty where its id does not tell."""
    alpha: float
    """The level of its kill rule."""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    differs: tuple[str, ...]
    """The settings that differ: what it had, and what this run has."""


class Result(Frozen):
    """One run of `agentmut run`.

    `score` and `robustness` speak of mutants of first order. Second-order mutants have a row of their own in
    `classes` and `operators`: their parts are counted already.
    """

    schema_version: int = SCHEMA_VERSION
    agentmut_version: str
    run_id: str
    status: str
    """finished, budget, interrupted or failed."""
    problem: str = ""
    seed: int
    project: str = ""
    agent: AgentSummary
    baseline: tuple[BaselineRow, ...]
    controls: Controls
    service: ServiceWatch | None = None
    """None in results of before 0.2, and where no trial of the original was run beside mutants."""
    score: Score
    robustness: Score
    score_with_relations: Score | None = None
    """The score where mutants killed by relations count as killed; None where no relation was run on mutants."""
    classes: dict[str, Score]
    operators: dict[str, Score]
    mutants: tuple[MutantRow, ...]
    ci: tuple[CiRun, ...] = ()
    cost: Cost
    judges: tuple[JudgeUse, ...] = ()
    rule: Mapping[str, float] = Field(default_factory=dict)
    """Parameters of the kill rule."""
    shard: str = ""
    """`k/n` where this run is one part of a campaign: its score speaks of its own mutants alone."""
    merged: tuple[str, ...] = ()
    """Runs of the shards that this result puts together."""
    looks: tuple[EarlierLook, ...] = ()
    """Earlier runs that decided the same with other settings. Empty for a first look, and in results of earlier
    versions."""
    selective: float | None = None
    """The share of operators that selective mutation kept (Eq. 24 of the AgentAssay paper): the score then speaks of
    these operators alone, which `operators` lists and `notes` explains."""
    evidence_older_than_evaluators: tuple[str, ...] = ()
    """Scenarios whose evaluators may have been chosen by looking at the runs that they judge here."""
    notes: tuple[str, ...] = ()
    quarantined: tuple[SetAside, ...] = ()
    """What outages spoiled, one entry a reason; `agentmut trials --quarantined` shows the trials."""
    sources: tuple[SourceText, ...] = ()
    """The prompt first, if there is one; empty in results of earlier versions."""
    decision_tables: tuple[DecisionTable, ...] = ()
    """What stopped the trials: `evidence` refers to them. Empty in results of earlier versions."""


def write_result(result: Result, folder: Path) -> Path:
    """Write `result.json` into a run's folder, whole or not at all. Raises `StoreError`."""
    return write_json(result, folder / "result.json", "`agentmut resume`")


def read_result(path: Path) -> Result:
    """Read a `result.json`. Raises `UsageError` when it is missing or not one."""
    try:
        result = Result.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist. Run `agentmut run` first, or name another run.") from None
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read as a result of schema {SCHEMA_VERSION}: {_first_fault(error)}. `agentmut "
            "resume` writes it anew."
        ) from None
    if result.schema_version > SCHEMA_VERSION:
        raise UsageError(
            f"{path} is a result of schema {result.schema_version}, and this agentmut reads {SCHEMA_VERSION}. Read "
            "it with the version of agentmut that wrote it."
        )
    return result


def _first_fault(error: Exception) -> str:
    """Return the place and the fault that pydantic names first; else the first line of what went wrong."""
    if not isinstance(error, ValidationError):
        return str(error).splitlines()[0]
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
