"""One mutant of a result: its change, its outcome, and the evidence."""

from pydantic import Field

from agentmut._base import Frozen
from agentmut.nouns.behaviour import MovedFeature
from agentmut.nouns.mutant import Effect, Intent, OperatorClass, Status
from agentmut.nouns.result_figures import CiJob, CiRed


class Target(Frozen):
    """The place of a mutant's change in the user's files; line and column count from 1."""

    path: str | None
    line: int | None = None
    column: int | None = None


class TextChange(Frozen):
    """The text that a mutant puts in the place of the characters `start` to `end`."""

    text: int
    """Index in `sources`."""
    start: int
    end: int
    after: str


class Evidence(Frozen):
    """The evidence on a mutant and one scenario."""

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
    """The places that some trial showed."""
    fewest_edits: int = 0
    """The places that the trial with the fewest showed."""
    requests: int = 0
    requests_shown: int = 0
    """Requests that show every edit which they could have shown."""
    first_missed: int = 0
    """Trials in which the first of these requests did not show it."""
    prompts: int = 0
    """Different system prompts of these requests: mostly, so many agents."""
    prompts_shown: int = 0
    """The prompts with which some request showed the change."""


class BehaviourChange(Frozen):
    """The result of the trace test for a mutant whose pass rates did not drop. It never moves the score."""

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
    """A new feature that shows in this share of the runs would have been noticed with a chance of 0.9."""
    losable: float | None = None
    """So would one that the original shows in this share of its runs, and the mutant in none. None in results of
    before 0.2."""
    shown: tuple[MovedFeature, ...] = ()
    """What is lost or new in the runs of `scenario`, one by one; empty in results of before 0.2."""


class Confirmation(Frozen):
    """The trials that were to confirm a kill: the original's beside the mutant's, on the killing scenarios."""

    scenarios: tuple[str, ...]
    trials: int
    """The mutant's trials there, with those since the kill."""
    failures: int
    original_trials: int
    """The original's trials since the kill."""
    original_failures: int
    log_evidence: float
    """Log Bayes factor for a mutant that is worse than the original is now."""
    held: bool
    """Whether the kill holds; False also where the run ended before that was known."""


class MutantRow(Frozen):
    """The outcome of one mutant."""

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
    """The p-value of a kill: the chance that a mutant that is no worse is killed on evidence as strong, at most. None
    for what was not killed, and in results of earlier versions."""
    grade: str = ""
    """The grade of a kill: certain, strong or moderate; see `Score`."""
    ruled_out: float | None = None
    """The drop of a pass rate that each scenario of a survivor has ruled out, with confidence 1 - beta."""
    reached: int | None = None
    """Scenarios that reach it, where it was tried on a sample of them (`statistics.clear_on`); None otherwise."""
    may_have_drop: int | None = None
    """For a survivor on a sample: the most of these scenarios that may have such a drop, at 95 % confidence."""
    gate_red: bool | None = None
    """Whether the observed rate of some scenario fell under the suite's own threshold."""
    ci_red: tuple[CiRed, ...] = ()
    """How likely a CI job would be red on this mutant; empty where no trial and no reach tells."""
    ci_jobs: tuple[CiJob, ...] = ()
    """Its runs after its kill, on which `ci_red` rests; empty where none were made."""
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
