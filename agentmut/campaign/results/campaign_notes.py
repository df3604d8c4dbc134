"""The notes of a campaign: what limits its figures, and what went otherwise than planned."""

from collections.abc import Iterator

from agentmut._base import gone_again
from agentmut.campaign.decision.baseline import age_note
from agentmut.campaign.decision.clearing import FOREMOST
from agentmut.campaign.decision.reach import HOLDERS
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.limits import CUT, ISOLATED_AFTERWARDS, Spend, money_notes
from agentmut.campaign.results.forking import fork_notes
from agentmut.campaign.results.set_aside import set_aside, set_aside_notes
from agentmut.campaign.shards.shards import SHARED
from agentmut.nouns import Status


def campaign_notes(state: CampaignState) -> Iterator[str]:
    """Yield what a reader has to know of a campaign besides its figures, one sentence each, without a full stop."""
    yield from state.plan.notes
    yield from fork_notes(state)
    if state.remark:
        yield state.remark
    if state.notice:
        yield state.notice.rstrip(".")
    yield from _of_clearing(state)
    yield from set_aside_notes(set_aside(state.set_aside))
    yield from _of_baseline(state)
    yield from _of_shard(state)
    yield from money_notes(state.spend)
    if old := age_note(state.spend.age, "mutants are compared with trials of the original that are"):
        yield old
    yield from _of_trials(state.spend)


def _of_clearing(state: CampaignState) -> Iterator[str]:
    """Yield how far the upper end of the score and its interval were taken."""
    if sampled := sum(arm.clearing is not None for arm in state.arms.values()):
        yield (
            f"{sampled} mutants were tried on the {FOREMOST} most related scenarios and at most "
            f"{state.plan.rule.clear_on} random ones of those that reach them (statistics.clear_on; `all` tries "
            "them on each). The upper end of the score counts these scenarios only: the whole suite may notice more "
            "mutants"
        )
    if state.is_precise:
        yield (
            f"ended once the interval of the score was within {state.plan.precision:g} to each side of its middle, "
            "as statistics.precision asks"
        )


def _of_baseline(state: CampaignState) -> Iterator[str]:
    """Yield the scenarios on which no mutant can show, and a control that could not be run."""
    untestable = [n for n, b in state.baselines.items() if b.complete and not state.testable(n)]
    if untestable:
        yield f"no mutant was tried on {', '.join(untestable)}: see the baseline for the reason"
    for name, baseline in state.baselines.items():
        if baseline.complete and baseline.holds_answer(state.suite.workers):
            asked = f"asked its model in {baseline.asked} of {baseline.asked + baseline.silent} runs"
            yield f"test {name} {asked}: {HOLDERS} holds the answer; mutants cannot show there"
    destroyed = state.status(state.plan.destroyed.id)
    if destroyed and destroyed[0] is Status.ERROR:
        yield f"the destroyed agent could not be run ({destroyed[1]}), so that control says nothing"


def _of_shard(state: CampaignState) -> Iterator[str]:
    """Yield what a baseline that shards share lacks."""
    plan, trouble = state.plan, sum(b.no_evidence.total() for b in state.baselines.values())
    if plan.shard and state.spend.baseline_trials:
        ran = state.spend.baseline_trials
        yield f"this shard has run {ran} baseline trials itself, so it cannot be merged. {SHARED.rstrip('.')}"
    if not plan.mutants and trouble:
        again = "give --baseline-only again before you copy it, or every shard runs them for itself"
        yield f"{trouble} baseline trials gave no evidence: {again}"


def _of_trials(spend: Spend) -> Iterator[str]:
    if gone_again():
        yield ISOLATED_AFTERWARDS
    if spend.cut:
        yield CUT.format(spend.cut)
    if spend.abandoned:
        abandoned = f"{spend.abandoned} runs were abandoned at their timeout"
        yield f"{abandoned}; `isolate: process` would end them"
