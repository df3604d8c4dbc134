"""`result.json`, schema version 1: the only source of every report. It grows by added fields only."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from agentmut._base import Frozen
from agentmut.nouns.foreign import Origins
from agentmut.nouns.mutant import Status
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.reliability import Reliability
from agentmut.nouns.result_figures import Bounds, CiRun, Score, VisibleChanges
from agentmut.nouns.result_html import result_html

SCHEMA_VERSION = 1
SUITE = "the suite as a whole"
"""In `killed_by`: the runs of all scenarios together, where `statistics.suite_share` gives them a say."""


class AgentSummary(Frozen):
    """Which agent was measured."""

    adapter: str
    digest: str
    name: str = ""
    """`module:function` that builds or runs it; empty where it has none, and in results of before 0.2."""


class BaselineRow(Frozen):
    """The original agent on one scenario."""

    scenario: str
    trials: int
    """Trials that mutants were compared with."""
    passes: int
    rate: float | None
    interval: Bounds | None
    threshold: float
    testable: bool
    """False where the original fails too often for a drop to show: no mutant is tried there."""
    no_evidence: int = 0
    """Trials that ended in infrastructure trouble and the like, and are not counted in `trials`."""
    beside: int = 0
    """How many of the trials confirmed kills: finer rounds compared mutants with these trials, too."""
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
    """The controls of the campaign."""

    identity: IdentityControl
    destroyed: DestroyedControl


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
    """The rules of the prompt; empty where a secret was taken out of it, as nothing fits its characters then."""


class ToolText(Frozen):
    """A tool as the model gets it, without secrets."""

    name: str
    path: str = ""
    """The file where it is written; empty where that is not known."""
    line: int | None = None
    description: str = ""
    parameters: str = ""
    """The JSON Schema, as text."""


class DecisionTable(Frozen):
    """The decision table of a scenario, up to the last trial that used it. Sequences are indexed by trials, from 0."""

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


class Drift(Frozen):
    """A change of the service that the trials show, in all scenarios together."""

    since: float
    """The drift is not earlier; seconds since the epoch."""
    until: float
    """The drift is not later; seconds since the epoch."""
    change: float
    """How the pass rate changes, as a mean over scenarios; negative for a fall."""
    p: float
    """The p-value of no drift, by the Bayes factor of all trials."""
    not_confirmed: tuple[str, ...] = ()
    """Ids of the mutants that have a kill which did not hold against the original of the same time."""
    across: tuple[str, ...] = ()
    """Ids of the mutants that are not killed and had trials after it: they are compared with the earlier baseline."""
    in_doubt: tuple[str, ...] = ()
    """Ids of the mutants whose kill holds against the original on its own scenario, and does not hold by what the
    original's later trials on the other scenarios say of the drift."""


class ServiceWatch(Frozen):
    """Trials of the original after the baseline, to the end of the run."""

    sentinels: int
    """Trials at fixed intervals among those of the mutants."""
    confirming: int
    """Trials that were to confirm kills."""
    drift: Drift | None = None


class HookUse(Frozen):
    """The requests of scenarios' `setup` and `teardown` to one model, before and after an interruption."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    """None where the model has no known price."""


class Cost(Frozen):
    """Every trial of the run, before and after an interruption, baseline and controls included."""

    trials: int
    baseline_trials: int
    tokens: int
    usd: float | None
    """None when a model that was called has no known price."""
    seconds: float
    cached_tokens: int = 0
    """Input tokens that prompt caches of services held, since the run was last resumed."""
    saved_usd: float = 0.0
    """What these took off the cost, in US dollars; `usd` is what was left to pay."""
    reused: int = 0
    """Trials taken over from earlier runs, at no cost."""
    foreign: int = 0
    """Trials that another tool ran and recorded, at no cost; those taken over from earlier runs included."""
    origins: Origins = Origins()
    """The same as a share of all trials that the report rests on. Always made of the counts here."""
    abandoned_threads: int = 0
    hooks: tuple[HookUse, ...] = ()
    """What scenarios' `setup` and `teardown` asked of models, by model: no part of `tokens` and `usd`."""
    simulated: bool = False
    """Whether `agentmut simulate` answered all model requests, so that `usd` is a list price that nobody paid. False in
    results of earlier versions."""

    @model_validator(mode="before")
    @classmethod
    def _with_origins(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        runs = value.get("trials", 0) + value.get("reused", 0)
        return {**value, "origins": {"runs": runs, "foreign": value.get("foreign", 0)}}


class Sampled(Frozen):
    """The random sample of mutants that was tried, where not all were."""

    mutants: tuple[str, ...]
    """Ids of those drawn, in the order of their draw, those without coverage left out."""
    ends: tuple[int, ...]
    """How many of them each look had, the last one all."""
    shares: tuple[float, ...]
    """The part of the score's error, 1 - level, that each look has."""


class CheapModel(Frozen):
    """The effect of a cheap model on the score (`mutation.proxy`)."""

    model: str
    run_id: str
    """The run in which it decided the mutants."""
    decided: int
    """Mutants that it killed or cleared."""
    both: int
    """Counted mutants that both models decided."""
    rho: float
    """The correlation of the two models' verdicts on them."""
    weight: float
    """The weight lambda that its verdicts have in the score."""
    saved: float
    """The part of the mutants that the agent's own model did not have to decide for a score as precise."""
    is_worth_it: bool
    """Whether rho is 0.3 or more."""
    low: float | None = None
    """The ends of the score's interval without the cheap model."""
    high: float | None = None
    trials: int = 0
    """Trials of its run, which the cost of this run leaves out."""
    usd: float | None = None


SHORT_OF_BUDGET = "the budget ("
"""How the note begins that says how much is missing for a first answer."""
CUT_BY_BUDGET = "cut by the budget: "
"""How the note begins that tells of trials under way when the budget in money was used up."""


class SetAside(Frozen):
    """Trials that an outage of a service spoiled: they are no evidence, and were run again."""

    reason: str
    trials: int
    since: float
    """When the first of them ended, in seconds since the epoch."""
    until: float
    """When the last of them ended."""


class JudgeUse(Frozen):
    """The cost of a model judge since the run's last start, apart from the agent's own runs."""

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


class SuitePart(Frozen):
    """The part of the suite that a run measured.

    What the part notices, the whole suite notices too. So the lower end of the score holds for the suite, and the upper
    end for the part only.
    """

    scenarios: int
    """In the part."""
    of: int
    """In the suite."""


class EarlierLook(Frozen):
    """An earlier run that decided the same question with other settings."""

    run_id: str
    when: str
    """The minute (UTC) at which it was planned; empty where its id does not tell."""
    alpha: float
    """The chance of a wrong decision that its rule leaves open."""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    """The verdict of a test or a comparison; empty for a campaign."""
    differs: tuple[str, ...]
    """The settings that differ: what it had, and what this run has."""


class SpentBudget(Frozen):
    """The budget that ended a run."""

    budget: Literal["trials", "usd", "minutes"]
    """Which limit of the section `budget`."""
    limit: float


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
    ended_by: SpentBudget | None = None
    """The budget that ended the run. None for other endings, and in results of earlier versions."""
    seed: int
    project: str = ""
    agent: AgentSummary
    baseline: tuple[BaselineRow, ...]
    reliability: Reliability | None = None
    """What the original's runs in `baseline` say. None in results of earlier versions, and where no run is evidence."""
    controls: Controls
    service: ServiceWatch | None = None
    """None in results of before 0.2, and where no trial of the original was run beside mutants."""
    score: Score
    robustness: Score
    score_with_relations: Score | None = None
    """The score where mutants killed by relations count as killed; None where no relation was run on mutants."""
    visible_changes: VisibleChanges | None = None
    """The second figure beside the score. None before survivors are explained, and in results of before 0.2."""
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
    sample: Sampled | None = None
    """None where no mutant was left out of a random sample, and in results of before 0.2."""
    suite_part: SuitePart | None = None
    """None where the whole suite was measured, and in results of before 0.2."""
    cheap_model: CheapModel | None = None
    """None where no cheap model decided mutants, or too few were decided by both; None in results of before 0.2."""
    asks: str = ""
    """The cheap model that this run asked in the place of the agent's own (`mutation.proxy`); empty in other runs."""
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
    tools: tuple[ToolText, ...] = ()
    """The tools of the unchanged agent; empty in results of before 0.2."""
    decision_tables: tuple[DecisionTable, ...] = ()
    """What stopped the trials: `evidence` refers to them. Empty in results of earlier versions."""

    def _repr_html_(self) -> str:
        """Return what a notebook shows of the result."""
        unfinished = "" if self.status == "finished" else f"the run is not finished ({self.status})"
        return result_html(self.score, self.classes, self.mutants, self.problem or unfinished)
