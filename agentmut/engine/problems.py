"""Why a campaign cannot be carried out, in words that say what to do."""

from collections import Counter
from collections.abc import Collection, Mapping

from agentmut.engine.arm import Arm
from agentmut.engine.baseline import ScenarioBaseline, most_common_trouble
from agentmut.engine.trials import TrialResult
from agentmut.errors import RunError, UsageError
from agentmut.mutant import Status
from agentmut.trace import Outcome

DEAD_ENDPOINT = 25
"""Infrastructure failures in a row, over all mutants, after which the run is given up.

It is also given up when the last of its mutants have been, one after the other: that is no finished run.
"""
HOPELESS_BASELINE = 5
"""Trials per scenario after which an agent that has not passed once may be given up."""
HOPELESS_TRIALS = 20
"""Trials in total before that: an agent that passes so rarely is untestable in any case."""

KEPT = "Finished trials are kept, and reused by the same command."


def failure(problem: str, refused: bool, then: str = KEPT) -> RunError | UsageError:
    """The error that ends a run with a problem: of the project file where it was `refused`."""
    kind = UsageError if refused else RunError
    return kind(f"{problem.rstrip('.')}. {then}")


def early_problem(baselines: Collection[ScenarioBaseline]) -> str:
    """Why going on with the baseline is pointless; empty when it is not, or cannot be told yet."""
    finished = sum(b.finished for b in baselines)
    each = all(b.finished >= min(HOPELESS_BASELINE, b.wanted) for b in baselines)
    if not each or (finished < HOPELESS_TRIALS and not all(b.complete for b in baselines)):
        return ""
    trials = sum(b.trials for b in baselines)
    if not trials:
        return f"no baseline trial could be run: {most_common_trouble(baselines) or 'no result'}"
    if not any(b.passes for b in baselines):
        said = Counter(b.first_failure for b in baselines if b.first_failure).most_common(1)
        return (
            f"the agent failed every baseline trial ({trials} of {trials}). First reason: "
            f"{said[0][0] if said else 'none given'}. Fix the agent or the evaluators first"
        )
    return ""


def untestable_problem(baselines: Mapping[str, ScenarioBaseline]) -> str:
    """What to say when the finished baseline leaves no scenario to try mutants on."""
    rates = ", ".join(f"{name} {b.passes}/{b.trials}" for name, b in baselines.items())
    return (
        "no testable scenario: the original fails too often on each of them for a drop to show "
        f"({rates} passed). Fix the agent or the evaluators first"
    )


def dead_endpoint(trouble: int, last: TrialResult) -> str:
    """What to say after too much trouble with services in a row."""
    if last.outcome is Outcome.NOT_JUDGED:
        return (
            f"the last {trouble} trials could not be judged ({last.reason}). Once the judge can be asked, `agentmut "
            "resume`: finished trials are kept, and judged then"
        )
    return (
        f"the last {trouble} trials ended in infrastructure trouble ({last.reason}). Check the model endpoint and "
        "the network, then `agentmut resume`: finished trials are kept"
    )


def destroyed_problem(status: Status, reason: str) -> str:
    """What the fate of the destroyed agent says against the campaign; empty when it is as it must be."""
    if status in (Status.KILLED, Status.ERROR):
        return ""
    said = f" ({reason})" if reason else ""
    if status is Status.UNDECIDED:
        return (
            f"control failed: the destroyed agent (no prompt, no tools, no context) could not be "
            f"judged{said}. Nothing can be said of mutants before it is. Remove the trouble, then "
            "`agentmut resume`"
        )
    return (
        f"control failed: the destroyed agent (no prompt, no tools, no context) ended as {status}{said}. "
        "Either the mutations do not reach the agent, or the evaluators pass whatever it answers. Check "
        "that the agent is built from the config it is given, that no session fixture and no cache holds its "
        "answers from one run to the next, and that some evaluator fails on an agent without instructions"
    )


def identity_problem(arm: Arm) -> str:
    """What to say when an unchanged agent was killed."""
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
