"""The score of a campaign whose mutants a cheap model has decided too."""

from collections.abc import Iterator, Sequence

from agentmut.campaign.decision.sample import is_counted
from agentmut.campaign.decision.scoring import DECISIONS, LEVEL, judged
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.session import Session
from agentmut.nouns import CheapModel, Mutant, Result, Score, Status, read_result
from agentmut.stats import ProxiedScore, ProxyOnlyMutants, proxied_score


def cheap_run(session: Session, plan: Plan) -> Result | None:
    """Return the run of the plan's cheap model; None without one. Raise `UsageError` if its result is missing."""
    if plan.proxy is None:
        return None
    return read_result(session.project.runs / plan.proxy.run_id / "result.json")


def with_cheap_model(score: Score, state: CampaignState) -> tuple[Score, CheapModel | None]:
    """Return the score improved by the cheap model, with the gain; the plain score without a cheap model."""
    cheap, proxy = state.cheap, state.plan.proxy
    if cheap is None or proxy is None or not score.not_drawn:
        return score, None
    verdicts = {row.id: row.status for row in cheap.mutants}
    counted = [
        (m, (state.status(m.id) or (Status.UNDECIDED,))[0]) for m in state.plan.mutants if is_counted(m)
    ]
    decided = [(mutant, status) for mutant, status in counted if status in DECISIONS]
    scored = _score(
        state, score, decided, [m for m, status in counted if status is Status.NOT_DRAWN], verdicts
    )
    if scored is None:
        return score, None
    interval, adds = scored
    assert interval.estimate is not None
    ends = {"value": interval.estimate, "low": interval.low, "high": interval.high}
    report = CheapModel(
        model=proxy.model,
        run_id=proxy.run_id,
        decided=sum(status in (Status.KILLED, Status.SURVIVED) for status in verdicts.values()),
        both=sum(status in (Status.KILLED, Status.SURVIVED) for _, status in decided),
        rho=round(adds.rho, 4),
        weight=round(adds.weight, 4),
        saved=round(adds.saved, 4),
        is_worth_it=adds.is_worth_it,
        low=score.low,
        high=score.high,
        trials=cheap.cost.trials,
        usd=cheap.cost.usd,
    )
    return score.model_copy(update={name: round(end, 6) for name, end in ends.items()}), report


def _score(
    state: CampaignState,
    score: Score,
    decided: Sequence[tuple[Mutant, Status]],
    others: Sequence[Mutant],
    verdicts: dict[str, Status],
) -> ProxiedScore | None:
    killed = sum(verdicts.get(mutant.id) is Status.KILLED for mutant in others)
    return proxied_score(
        [judged(status, state.arms.get(mutant.id), score.resolution) for mutant, status in decided],
        [verdicts.get(mutant.id) is Status.KILLED for mutant, _ in decided],
        ProxyOnlyMutants(killed, len(others) - killed),
        score.no_coverage,
        1 - LEVEL,
        score.resolution,
    )


def cheap_model_notes(known: CheapModel | None, state: CampaignState) -> Iterator[str]:
    """Yield what the cheap model was good for."""
    cheap: Result | None = state.cheap
    if cheap is None:
        return
    price = f" (${cheap.cost.usd:.2f})" if cheap.cost.usd else ""
    ran = f"in {cheap.cost.trials} trials{price}, which the cost of this run does not include"
    if known is None:
        yield f"the cheap model of mutation.proxy decided mutants {ran}, and adds nothing to the score"
        return
    yield (
        f"{known.model} decided {known.decided} mutants {ran}. The agent's own model decided {known.both} of them "
        f"too, and the verdicts correlate with rho = {known.rho:.2f}. For a score as precise, this saves "
        f"{100 * max(0.0, known.saved):.0f} % of the mutants that the agent's own model would have to decide"
    )
    if not known.is_worth_it:
        yield f"a cheap model with rho below 0.3 is not worth its price: take {known.model} out of mutation.proxy"
