"""Whether a trial reached the part that its mutant changes, and why a mutant's change never showed."""

from agentmut.campaign.trials import TrialResult
from agentmut.nouns import CHANGED as FLOW_CHANGED
from agentmut.nouns import Edit, Mutant, Reach
from agentmut.trial import KEPT_REPLIES, PASSING, SuiteConfig, absence


def went_past(mutant: Mutant, result: TrialResult, shown: bool) -> bool:
    """Return whether a trial missed the part that the mutant changes, as can happen to an agent that varies its path.

    It made too few calls of a tool for a fault of it to show; or the flow is changed, but the run did not enter the
    node, did not decide for the way that leads elsewhere now, or had nothing to pass that is withheld. `shown`: the
    change, or for a part of a pair that part, has a witness.
    """
    if mutant.reach is Reach.RAN:
        if shown or FLOW_CHANGED not in result.footprint.marks:
            return False
        elsewhere = bool(mutant.subject) and mutant.subject not in result.footprint.nodes
        return elsewhere or any(_flow_key(edit) in _ONCE_IN_A_WHILE for edit in mutant.edits)
    if mutant.edits and all(edit.part in PASSING for edit in mutant.edits):
        return not shown
    wanted = {Reach.CALLED: 1, Reach.REPEATED: 2}.get(mutant.reach, 0)
    faulty = bool(mutant.edits) and all(edit.is_fault for edit in mutant.edits)
    return faulty and result.tools.get(mutant.subject, 0) < wanted


_ONCE_IN_A_WHILE = frozenset({"branches", "handoffs", "state"})
"""Parts of a flow that a run may pass by although it enters the node."""


def _flow_key(edit: Edit) -> str:
    return edit.path[1] if edit.path[0] == "orchestration" and len(edit.path) > 1 else ""


def passed_by(mutant: Mutant, trials: int) -> str:
    """Return why a mutant that every trial went past has no coverage."""
    withheld = [str(edit.before) for edit in mutant.edits if _flow_key(edit) == "state" and edit.before]
    if withheld:
        return f"none of {trials} trials had anything under {' and '.join(withheld)} to withhold from {mutant.subject}"
    if any(edit.part in PASSING for edit in mutant.edits):
        return f"none of {trials} trials had a request or reply that this changes"
    if mutant.reach is Reach.RAN:
        return f"none of {trials} trials came to this part of the flow"
    often = " more than once" if mutant.reach is Reach.REPEATED else ""
    return f"none of {trials} trials called {mutant.subject}{often}, and few of the original's trials did"


def arrived_nowhere(
    mutant: Mutant, trials: int, result: TrialResult, suite: SuiteConfig | None = None
) -> str:
    """Say why a mutant counts as not applied; `result` is the last trial that should have shown it.

    The cause is told by what that trial showed, compared with the config of `suite`.
    """
    ended = f"; the last one ended with: {result.reason}" if result.reason else ""
    parts = {edit.path[0] for edit in mutant.edits}
    if any(edit.is_fault for edit in mutant.edits):
        return (
            f"the fault changed no result of {mutant.subject} in {trials} trials: the results hold nothing that this "
            f"fault changes, or the calls do not pass agentmut{ended}"
        )
    if parts == {"orchestration"}:
        key = ".".join(["orchestration", *filter(None, dict.fromkeys(map(_flow_key, mutant.edits)))])
        return (
            f"the changed flow took effect in none of {trials} trials: the adapter did not carry it out, and the "
            f"agent did not read {key} of its config{ended}"
        )
    if parts == {"history"}:
        return (
            f"no turn of {trials} trials had other earlier turns: the runs ended before their second turn, or the "
            f"graph keeps its turns in its own state, which agentmut does not change{ended}"
        )
    if suite is None or result.footprint.lost:
        return f"none of {trials} trials showed the change in what was sent to the model or read from the config{ended}"
    if suite.on_wire and not (result.footprint.requests or result.footprint.strangers):
        return f"none of {trials} trials showed the change: {KEPT_REPLIES}{ended}"
    cause = absence(mutant, suite.full, [result.footprint], suite.on_wire)
    return f"none of {trials} trials showed the change: {cause}{ended}"
