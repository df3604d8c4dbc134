"""The state of a campaign for the live page, as one JSON document."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from agentmut.campaign import CampaignState, reason_without_texts
from agentmut.cli.progress import clock, describe
from agentmut.nouns import Intent, Mutant, Score, Status
from agentmut.report import interval, one_line, status_counts, status_name
from agentmut.usecases import progress_of

SHOWN = 200
"""Decisions and unnoticed changes that are sent, each."""
WORDLESS = "The words of changes are left out, since the project keeps no text (store.texts)."
UNNOTICED = (Status.SURVIVED, Status.NO_COVERAGE)


class Decisions:
    """The mutants in the order in which their status was first known."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Status, str]] = {}

    def take_in(self, state: CampaignState) -> Mapping[str, tuple[Status, str]]:
        """Return the status of each decided mutant, the latest decision last; controls are none."""
        for mutant in state.plan.mutants:
            standing = state.status(mutant.id)
            if standing is None or standing[0] is Status.NOT_DRAWN:
                self._known.pop(mutant.id, None)
            elif self._known.get(mutant.id) != standing:
                self._known.pop(mutant.id, None)
                self._known[mutant.id] = standing
        return self._known


def live_state(
    state: CampaignState, decisions: Decisions, ended: str = "", *, wordless: bool = False
) -> dict[str, Any]:
    """Return the state of a campaign in the words of the page. `ended` says how it ended, where it has.

    `wordless`: leave out the words of changes and of runs, as the project keeps no text.
    """
    known = decisions.take_in(state)
    mutants = {mutant.id: mutant for mutant in state.plan.mutants}
    latest_first = list(known)[::-1]
    rows = [_row(mutants[id], state, *known[id], wordless=wordless) for id in latest_first]
    unnoticed = [
        row
        for id, row in zip(latest_first, rows, strict=True)
        if known[id][0] in UNNOTICED and mutants[id].intent is Intent.DEGRADE
    ]
    spend, score = state.spend, state.score_so_far()
    return {
        "state": (ended or state.problem or _phase(state)) + (f" {WORDLESS}" if wordless else ""),
        "progress": describe(state).partition(" | ")[0],
        "share": progress_of(state).share,
        "score": interval(score) if score.value is not None else "–",
        "counts": _counts(score, known),
        "trials": f"{spend.trials:,}",
        "reused": f"{spend.reused:,} more taken from the store" if spend.reused else "",
        "cost": "unknown" if spend.unpriced else f"${spend.usd:.2f}",
        "time": f"{clock(spend.seconds)} so far",
        "decided": len(known),
        "unnoticed_count": len(unnoticed),
        "decisions": rows[:SHOWN],
        "unnoticed": unnoticed[:SHOWN],
        "baseline": [
            {"name": one_line(name), "passes": b.passes, "trials": b.trials, "wanted": b.wanted}
            for name, b in state.baselines.items()
        ],
        "stoppable": not ended,
        "ended": bool(ended),
    }


def _phase(state: CampaignState) -> str:
    if not state.baseline_complete:
        return "The unchanged agent runs on each scenario first."
    return "Broken copies of the agent run now." + (f" {state.notice}." if state.notice else "")


def _counts(score: Score, known: Mapping[str, tuple[Status, str]]) -> str:
    return status_counts(score) if score.value is not None else f"{Counter(known).total()} decided"


def _row(
    mutant: Mutant, state: CampaignState, status: Status, reason: str, *, wordless: bool
) -> dict[str, str]:
    arm = state.arms.get(mutant.id)
    open_ = arm is not None and arm.status is None
    killers = f"by {', '.join(arm.killed_by)}" if arm and status is Status.KILLED and arm.killed_by else ""
    reason = reason_without_texts(reason) if wordless else reason
    note = "so far: smaller drops are looked for" if open_ else killers or reason
    return {
        "id": mutant.id,
        "description": mutant.operator if wordless else one_line(mutant.description),
        "operator": mutant.operator,
        "status": status_name(status),
        "kind": status.value,
        "note": one_line(note),
    }
