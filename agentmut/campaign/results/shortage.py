"""How much more budget a first answer needs, where a budget ended before any mutant had its answer."""

from collections.abc import Iterator

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.sample import expected_trials, is_counted
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.running.work import Stop
from agentmut.nouns import SHORT_OF_BUDGET, Score


def shortage_notes(state: CampaignState, stop: Stop, score: Score) -> Iterator[str]:
    """Yield how much is missing for a first answer, where a budget ended before any mutant had its answer."""
    if stop is not Stop.BUDGET or score.value is not None or not score.undecided:
        return
    budget = state.plan.budget
    limits = ", ".join(
        f"{limit:g} {unit}"
        for limit, unit in ((budget.trials, "trials"), (budget.usd, "USD"), (budget.minutes, "minutes"))
        if limit is not None
    )
    yield f"{SHORT_OF_BUDGET}{limits}) ended before a mutant had its answer: {_missing(state)}. {_KEPT}"


_KEPT = "Finished trials are kept: the same command with a larger budget goes on from here"


def _missing(state: CampaignState) -> str:
    """Return about how many trials the first answer still takes, and their cost."""
    needs = [need for arm in _open(state) if (need := _need(state, arm)) is not None]
    spend, trials = state.spend, max(2, round(min(needs))) if needs else _next_baseline(state)
    usd = f" (${trials * spend.usd / spend.trials:.2g})" if spend.usd and spend.trials else ""
    if state.round < 0:
        return f"no mutant is tried yet, and the first baseline takes {trials} further trials{usd}"
    if not needs:
        return f"no drop can show yet, and the next baseline takes {trials} further trials{usd}"
    return f"about {trials} further trials{usd} are missing for the first one"


def _next_baseline(state: CampaignState) -> int:
    """Return how many trials of the original are missing of this round's baseline, or else of the next one's.

    Before the first round, those are the trials that the first baseline lacks.
    """
    for step in state.plan.ladder[max(0, state.round) :]:
        if lacking := sum(max(0, step.baseline - b.counts[1]) for b in state.baselines.values()):
            return lacking
    return 0


def _open(state: CampaignState) -> list[Arm]:
    ids = [mutant.id for mutant in state.plan.mutants if is_counted(mutant) and mutant.id in state.arms]
    return [state.arms[id] for id in ids if not state.arms[id].is_answered]


def _need(state: CampaignState, arm: Arm) -> float | None:
    """Return about how many more trials an undecided mutant takes in its round; None if it waits for a finer round.

    One that has taken more than it was expected to has half of that before it, for want of a better guess.
    """
    whole = expected_trials(arm.mutant, state.reaching(arm.mutant), state.measured)
    return max(whole / 2, whole - arm.trials.own) if whole else None
