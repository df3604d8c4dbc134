"""The progress of a campaign: figures for a bar, and a sentence."""

from typing import NamedTuple

from agentmut.campaign import CampaignState

BASELINE = 0.2
"""Share of the bar that is the baseline's."""


class CampaignProgress(NamedTuple):
    """The progress of a campaign."""

    share: float | None
    """From 0 to 1, as a bar shows it; no estimate of time. None where the end is not known."""
    text: str
    """The phase with its numbers, the trials and the money."""


def progress_of(state: CampaignState) -> CampaignProgress:
    """Return how far a campaign is, by what is known now."""
    wanted = sum(b.wanted for b in state.baselines.values()) or 1
    done = min(sum(b.finished for b in state.baselines.values()), wanted)
    decided = sum(state.status(mutant.id) is not None for mutant in state.plan.mutants)
    mutants = len(state.plan.mutants)
    share = BASELINE * done / wanted
    if state.baseline_complete and mutants:
        share = BASELINE + (1 - BASELINE) * decided / mutants
    phase = f"mutants {decided}/{mutants}" if state.baseline_complete else f"baseline {done}/{wanted}"
    spend = state.spend
    money = "cost unknown" if spend.unpriced else f"${spend.usd:.2f}"
    return CampaignProgress(round(share, 4), f"{phase}, {spend.trials} trials, {money}")
