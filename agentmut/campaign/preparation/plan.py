"""A run before its first trial: everything that decides which trials are run and in which order."""

import secrets
import time

from pydantic import Field

from agentmut._base import Frozen, gone_again
from agentmut.campaign.limits import BaselineLimit
from agentmut.campaign.preparation.identity import Environment
from agentmut.nouns import Mutant
from agentmut.project import BudgetSettings
from agentmut.stats import Round

CAMPAIGNS = ("run", "cheap_model")
"""Kinds of runs with a plan of mutants, as a supervisor is told them."""


def new_run_id(now: float) -> str:
    """Return a run's id: the time of its plan (UTC) to 1/4096 s, so ids sort by time.

    The last three digits are random, for runs that are planned at once.

    >>> new_run_id(1_795_342_110.5)[:-3]
    '20261122-100830-800'
    """
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{moment}-{int(now % 1 * 4096):03x}{secrets.token_hex(2)[:3]}"


def left_run_id() -> str:
    """Return the id of the run that a command's first process has left, so that its budget counts what was spent.

    Empty in a first process, and where the run is a campaign: that is taken from the store as it was planned.
    """
    left = gone_again()
    return left.run if left and left.kind not in CAMPAIGNS else ""


def planned_at(run_id: str) -> str:
    """Return the minute (UTC) in a run's id; an empty text for an id without a time.

    >>> planned_at("20261122-100830-80031f"), planned_at("r1")
    ('2026-11-22 10:08 UTC', '')
    """
    try:
        moment = time.strptime(run_id[:15], "%Y%m%d-%H%M%S")
    except ValueError:
        return ""
    return time.strftime("%Y-%m-%d %H:%M UTC", moment)


class Rule(Frozen):
    """The kill rule's parameters."""

    alpha: float = 0.05
    beta: float = 0.10
    delta: float = 0.20
    n_max: int = 100
    suite_share: float = 0.0
    """The part of alpha that the scenarios together may spend."""
    clear_on: int = 0
    """Scenarios beyond which a survivor is cleared on a sample, and the most random ones in it; 0: on all."""
    beside: float = 0.02
    """Sentinels a launch of a mutant: trials of the original to the end of the campaign. 0: no sentinel, and kills are
    final without trials of the original beside them."""
    keeps_confirming: bool = False
    """Whether trials of the original that confirmed kills are part of the baseline of finer rounds."""


class Shard(Frozen):
    """One part of a campaign whose mutants are divided among several runs."""

    number: int
    """From 1 to `of`."""
    of: int
    mutants: tuple[str, ...]
    """Ids of all mutants of the campaign, in their order."""

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class RunPlan(Frozen):
    """The part of a plan that every kind of run stores."""

    kind: str
    """What the run is for: the verb that started it."""
    run_id: str
    started: float
    """Seconds since the epoch."""
    seed: int
    scenarios: tuple[str, ...]
    budget: BudgetSettings = BudgetSettings()
    limits_given: dict[str, int | float] = Field(default_factory=dict)
    """Limits of the budget that the command line gave, by their key: `resume` keeps them."""
    suite_digest: str = ""
    config_digest: str = ""
    evaluators: dict[str, str] = Field(default_factory=dict)
    """Scenario -> digest of its set of evaluators, which was fixed before the trials that this run may use."""
    first: dict[str, int] = Field(default_factory=dict)
    """Scenario -> the repeat with which the original's trials begin, unless it is 0: earlier ones are older than its
    evaluators, or belong to a baseline that the trials are compared with."""
    environment: Environment
    concurrency: int = 16
    window: int = 1
    """Launch k of a mutant (or of a scenario under test) looks at the results of its launches 1..k-window."""
    fresh: bool = False
    """Take no trial over from other runs."""
    max_age: float | None = None
    """Seconds before the start from which trials may be taken over; None for any."""

    @property
    def bounded(self) -> bool:
        """Return whether any budget bounds the run."""
        return any(limit is not None for limit in (self.budget.usd, self.budget.trials, self.budget.minutes))


class Proxy(Frozen):
    """A cheap model that has decided the mutants of a campaign, of which a random part is tried."""

    model: str
    run_id: str
    """The run in which the cheap model decided the mutants."""
    part: float
    """The part of the counted mutants that is tried."""


class Plan(RunPlan):
    """The plan of a campaign; it is stored, so that `resume` continues the same campaign."""

    kind: str = "run"
    baseline: int
    """Trials of the original per scenario; the most, where a `baseline_limit` may cut it."""
    first_of_mutants: dict[str, int] = Field(default_factory=dict)
    """Scenario -> the repeat with which mutants' trials begin, unless it is 0: by earlier ones the evaluators may have
    been chosen."""
    baseline_limit: BaselineLimit | None = None
    """The budget in money or time that cuts an automatic baseline, once the first trials show their cost."""
    mutants: tuple[Mutant, ...]
    identity: tuple[Mutant, ...]
    destroyed: Mutant
    ignored: dict[str, str] = Field(default_factory=dict)
    """Mutant id -> the user's reason."""
    rule: Rule = Rule()
    rounds: tuple[Round, ...] = ()
    """The rounds, coarsest first; empty for a single one with `rule.delta` and `baseline`, as before 0.2."""
    order: tuple[str, ...] = ()
    """Mutant ids, those to be tried first at the front; empty for the order of `mutants`. Changes no decision."""
    sample: tuple[str, ...] = ()
    """Mutant ids in the order in which they are drawn where not all are tried; empty in plans of before 0.2."""
    precision: float | None = None
    """The score is wanted to so much on each side: a sample of the mutants may be enough."""
    asks: str = ""
    """The cheap model that this run asks in the place of the agent's own; empty in other runs."""
    proxy: Proxy | None = None
    """The cheap model whose verdicts are combined with those of this run; None without one."""
    shard: Shard | None = None
    """Which part of the campaign this run is; None where it is the whole."""
    merged: tuple[str, ...] = ()
    """The runs of the shards that this one puts together."""
    selective: float | None = None
    """The share of operators that selective mutation was asked to keep."""
    stops_at_failing: bool = False
    """Whether a scenario that fails each of its first trials stops the campaign, before the rest of the baseline."""
    after_kills: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """Scenario -> the passes that the largest CI job needs there, and its runs: what a mutant is run for after its
    kill. Empty where no such runs are made."""
    price: tuple[str, ...] = ()
    """What the run makes anew since evaluators are newer than stored trials, in a sentence each."""
    notes: tuple[str, ...] = ()
    """What a reader of the result has to know about the choice of mutants."""

    @property
    def ladder(self) -> tuple[Round, ...]:
        """Return the rounds of the campaign: at least one."""
        return self.rounds or (Round(self.rule.delta, self.baseline, 1.0),)

    @property
    def worst_case_trials(self) -> int:
        """Return an upper bound on the trials of the run: every scenario of every mutant to the end."""
        arms = len(self.mutants) - len(self.ignored) + len(self.identity) + 1
        return len(self.scenarios) * (self.baseline + arms * self.rule.n_max)
