"""The reasons why a campaign cannot continue, each with its remedy."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from shlex import quote
from typing import Protocol

from agentmut._base import RunError, UsageError
from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.reach import NEVER_CARRIED
from agentmut.campaign.fresh_trials import FreshTrials
from agentmut.campaign.trials import TrialResult
from agentmut.nouns import Ending, Mutant, Outcome, Status

DEAD_ENDPOINT = 25
"""Infrastructure failures in a row, over all mutants, after which the run is given up.

It is also given up when the last of its mutants have been, one after the other: that is no finished run.
"""
HOPELESS_BASELINE = 5
"""Trials per scenario after which an agent that has not passed once may be given up."""
HOPELESS_TRIALS = 20
"""Trials in total before that: an agent that passes so rarely is untestable in any case."""

NOT_REUSED = "runs are not reused"
_KEPT_TOO = "finished trials are kept"
KEPT = "Finished trials are kept, and reused by the same command."


def failure(problem: str, refused: bool, then: str = KEPT) -> RunError | UsageError:
    """Return the error that ends a run with a problem: a `UsageError` of the project file if it was `refused`.

    `then` follows, unless the problem says itself what becomes of finished trials.
    """
    kind = UsageError if refused else RunError
    says_what_is_kept = any(sentence in problem for sentence in (_KEPT_TOO, NOT_REUSED))
    return kind(f"{problem.rstrip('.')}.{'' if says_what_is_kept else f' {then}'}")


class OriginalRuns(Protocol):
    """The trials of the unchanged agent on one scenario, whatever their purpose."""

    @property
    def wanted(self) -> int:
        """Return the largest number of trials that the scenario needs."""
        ...

    @property
    def finished(self) -> int:
        """Return the number of trials so far."""
        ...

    @property
    def complete(self) -> bool:
        """Return whether no further trial will be run."""
        ...

    @property
    def trials(self) -> int:
        """Return the number of trials that are evidence."""
        ...

    @property
    def first_failure(self) -> str:
        """Return the reason of the first failed trial."""
        ...

    @property
    def no_evidence(self) -> Counter[str]:
        """Return the reasons of trials that are no evidence, with their numbers."""
        ...

    @property
    def never_began(self) -> Counter[str]:
        """Return trials that raised before a model answered or a tool was called, by the type of the exception."""
        ...


class ReusingRuns(OriginalRuns, Protocol):
    """The trials of a scenario, some of which were taken from the store."""

    @property
    def fresh(self) -> FreshTrials:
        """Return the trials that are not from the store."""
        ...


class _FreshRuns:
    """The fresh trials alone. `OriginalRuns`."""

    def __init__(self, lane: ReusingRuns) -> None:
        self.wanted = lane.wanted
        self.complete = lane.complete
        self.finished = lane.fresh.finished
        self.trials = lane.fresh.trials
        self.first_failure = lane.fresh.first_failure
        self.no_evidence = lane.fresh.no_evidence
        self.never_began = lane.fresh.never_began


def cannot_run(lanes: Collection[ReusingRuns]) -> str:
    """Return why the agent cannot run at all; an empty text if it can, or if the trials cannot tell yet.

    That every one raised the same before it did anything is no failure that a pass rate could tell of: a key, a
    server or a package is missing, or the agent is broken from its first line. Stored trials that ran do not speak
    against it: they are of the same code and config, so that something around the agent has gone since.
    """
    now = _now(lanes)
    shown = now or lanes
    trials, raised = _trials(shown), _never_began(shown)
    if raised.total() < trials or len(raised) > 1 or _not_judged(shown) or not _suffice(shown):
        return ""
    if not trials:
        return f"{no_evidence(shown)}. Fix that first; these {NOT_REUSED}"
    every_trial = f"Each of {trials} trials" if trials > 1 else "The only trial"
    if now:
        every_trial = f"Each of {trials} new trials" if trials > 1 else "The only new trial"
    before = (
        ". Stored trials of this agent ran, so something around it is missing now, perhaps a key or a server"
    )
    return (
        f"the agent cannot run: {_first_reason(shown)}. {every_trial} raised this, and no answer of a model and no "
        f"call of a tool was seen{before if now else ''}. Fix it first; {'the new' if now else 'these'} {NOT_REUSED}"
    )


def unbegun(lanes: Collection[ReusingRuns]) -> bool:
    """Return whether each trial so far raised an error before it did anything: the agent may be unable to run."""
    shown = _now(lanes) or lanes
    trials = _trials(shown)
    return 0 < trials == _never_began(shown).total() and not _not_judged(shown)


def _now(lanes: Collection[ReusingRuns]) -> list[_FreshRuns]:
    """Return the fresh trials of scenarios whose stored trials ran; an empty list while too few trials are there.

    An error that stored trials raised too is one that the agent raises now and then. A scenario that was never run
    before may be one that the agent fails at: trials of other scenarios say nothing about it.
    """
    fresh = [_FreshRuns(lane) for lane in lanes]
    before = _never_began(lanes) - _never_began(fresh)
    if before.keys() & _never_began(fresh).keys() or not any(map(_ran_before, lanes)):
        return []
    return [lane for lane in fresh if lane.finished or not lane.complete]


def _ran_before(lane: ReusingRuns) -> bool:
    """Return whether stored trials of the scenario ran, and fresh trials are there to compare with them."""
    stored = lane.trials - lane.fresh.trials
    return lane.fresh.trials > 0 and stored > lane.never_began.total() - lane.fresh.never_began.total()


def _trials(lanes: Iterable[OriginalRuns]) -> int:
    return sum(lane.trials for lane in lanes)


def _never_began(lanes: Iterable[OriginalRuns]) -> Counter[str]:
    return sum((lane.never_began for lane in lanes), Counter[str]())


def early_problem(baselines: Collection[ScenarioBaseline]) -> str:
    """Return why further trials of the baseline are pointless; an empty text while they may be useful."""
    if problem := cannot_run(baselines):
        return problem
    if any(b.passes for b in baselines) or not _suffice(baselines):
        return ""
    if said := no_evidence(baselines):
        return said
    trials = sum(b.trials for b in baselines)
    return (
        f"the agent failed every baseline trial ({trials} of {trials}). First reason: {_first_reason(baselines)}. Fix "
        "the agent or the evaluators first"
    )


def no_evidence(lanes: Collection[OriginalRuns]) -> str:
    """Return why no finished trial could be judged; an empty text if at least one is evidence."""
    if any(lane.trials for lane in lanes):
        return ""
    return f"no trial gave evidence: {(most_common_trouble(lanes) or 'no result').rstrip('. ')}"


def most_common_trouble(lanes: Iterable[OriginalRuns]) -> str:
    """Return the most common reason why trials are no evidence; an empty text if there is none."""
    total = sum((lane.no_evidence for lane in lanes), Counter[str]())
    return total.most_common(1)[0][0] if total else ""


def _not_judged(lanes: Iterable[OriginalRuns]) -> bool:
    """Return whether the agent ran and only its judge failed: such a run is stored and judged later."""
    return any(reason.startswith(f"{Ending.NOT_JUDGED}:") for lane in lanes for reason in lane.no_evidence)


def _suffice(lanes: Collection[OriginalRuns]) -> bool:
    """Return whether the trials suffice to give up an agent that has never passed."""
    finished = sum(lane.finished for lane in lanes)
    every_lane = all(lane.finished >= min(HOPELESS_BASELINE, lane.wanted) or lane.complete for lane in lanes)
    return every_lane and (finished >= HOPELESS_TRIALS or all(lane.complete for lane in lanes))


def _first_reason(lanes: Iterable[OriginalRuns]) -> str:
    reasons = Counter(lane.first_failure for lane in lanes if lane.first_failure).most_common(1)
    return reasons[0][0].rstrip(". ") if reasons else "none given"


def failing_problem(baselines: Mapping[str, ScenarioBaseline]) -> str:
    """Return the message for a suite in which some scenarios pass and others failed each of their first trials."""
    first, *others = (name for name, b in baselines.items() if b.never_passes)
    reason = baselines[first].first_failure.rstrip(". ") or "no reason given"
    too = f", and so {'do' if len(others) > 1 else 'does'} {', '.join(others)}" if others else ""
    return (
        f"scenario {first} fails each of its first {baselines[first].trials} runs{too}: {reason}. Read what was said: "
        f"`agentmut trials {quote(first)} --failed`. Then fix or remove it, or leave it out: `agentmut run --continue`"
    )


def untestable_problem(baselines: Mapping[str, ScenarioBaseline]) -> str:
    """Return the message for a finished baseline that leaves no scenario to try mutants on."""
    rates = ", ".join(f"{name} {b.passes}/{b.trials}" for name, b in baselines.items())
    lost = sum(b.no_evidence.total() for b in baselines.values())
    if lost > sum(b.trials - b.passes for b in baselines.values()):
        trouble = most_common_trouble(baselines.values()).rstrip(". ")
        return (
            f"no testable scenario: too few trials of the original are evidence for a drop to show ({rates} passed). "
            f"{lost} trials are no evidence, most often since {trouble}. Fix that first"
        )
    return (
        "no testable scenario: the original fails too often on each of them for a drop to show "
        f"({rates} passed). Fix the agent or the evaluators first"
    )


def dead_endpoint(trouble: int, last: TrialResult, then: str = "`agentmut resume`") -> str:
    """Return the message after too many troubled trials in a row; `then` names the command that continues."""
    if last.outcome is Outcome.NOT_JUDGED:
        return (
            f"the last {trouble} trials could not be judged ({last.reason}). Once the judge can be asked, {then}: "
            f"{_KEPT_TOO}, and judged then"
        )
    return (
        f"the last {trouble} trials ended in infrastructure trouble ({last.reason}). Check the model endpoint and "
        f"the network, then {then}: {_KEPT_TOO}"
    )


def destroyed_problem(status: Status, reason: str) -> str:
    """Return what is wrong with the control of the destroyed agent; an empty text if the control ended as it must."""
    if status in (Status.KILLED, Status.ERROR):
        return ""
    in_brackets = f" ({reason})" if reason else ""
    if status is Status.UNDECIDED:
        return (
            f"control failed: the destroyed agent (no prompt, no tools, no context) could not be "
            f"judged{in_brackets}. Nothing can be said of mutants before it is. Remove the trouble, then "
            "`agentmut resume`"
        )
    if status is Status.UNTESTABLE:
        return (
            f"control failed: the destroyed agent (no prompt, no tools, no context) could not be tested{in_brackets}. "
            "Nothing can be said of mutants before it is. Fix the agent or the evaluators of these scenarios first"
        )
    if status is Status.NOT_APPLIED:
        seen = reason.partition(": ")[2] if reason.startswith(NEVER_CARRIED) else reason
        return f"control failed: no mutation reaches the agent: {seen or 'its requests show none'}"
    return (
        f"control failed: the destroyed agent (no prompt, no tools, no context) ended as {status}{in_brackets}: the "
        "evaluators pass whatever it answers, or its answers come from a cache or a session fixture. Add an evaluator "
        "that fails on an agent without instructions"
    )


def undestroyed_problem(arm: Arm | None) -> str:
    """Return why the control of the destroyed agent fails where no round has killed it; empty if one has."""
    return destroyed_problem(arm.rests.status, arm.rests.reason) if arm and arm.rests else ""


def identity_problem(arm: Arm) -> str:
    """Return the message for a campaign whose unchanged agent was killed."""
    lane = next((lane for lane in arm.lanes if lane.decision == "killed"), None)
    where = f"scenario {lane.scenario}" if lane else ", ".join(arm.killed_by)
    failures, trials = (
        (lane.failures, lane.trials) if lane else (sum(x.failures for x in arm.lanes), arm.evidence)
    )
    return (
        f"control failed: an unchanged agent ({arm.mutant.description}) was called killed by {where} "
        f"({failures} of {trials} trials failed). Something other than the mutation changes "
        "between trials: state kept by the agent, a service that drifts, or a rate limit. Kills of this "
        "run mean nothing"
    )


def control_problem(arm: Arm, destroyed: Mutant, identity: Collection[Mutant]) -> str:
    """Return why a control fails that has its answer; empty for one that holds, and for any other mutant."""
    if arm.status is not None and arm.mutant.id == destroyed.id:
        return destroyed_problem(arm.status, arm.reason)
    return identity_problem(arm) if arm.mutant in identity and arm.status is Status.KILLED else ""


def other_model(wanted: str, baselines: Iterable[ScenarioBaseline]) -> str:
    """Return why a run on another model cannot continue, as no request names the model; an empty text if one does."""
    asked = {shape.model for b in baselines for seen in b.footprints.values() for shape in seen.requests} - {
        ""
    }
    if not wanted or not asked or wanted in asked:
        return ""
    return (
        f"the agent was not asked with {wanted}: its requests name {', '.join(sorted(asked))}. mutation.proxy needs "
        "an agent that takes its model from its config, or `agent.route: wire`, where the request's model is changed"
    )
