"""The answers that budgets buy, once a run has tried each scenario once and knows the price of a trial."""

from collections.abc import Iterable, Mapping

from agentmut.campaign import KILL, CampaignState, is_counted
from agentmut.nouns import Mutant
from agentmut.stats import Round
from agentmut.usecases.plan_figures import (
    Amount,
    FirstRound,
    Offer,
    RoundLine,
    chance_of_kill,
    offers_from,
    price_of,
)
from agentmut.usecases.remaining_time import survivor_trials


def has_looked(state: CampaignState) -> bool:
    """Return whether every scenario has its first trial, in a run with a budget that tries mutants by rounds."""
    plan = state.plan
    alone = not (plan.shard or plan.merged or plan.asks or plan.proxy)
    wanted = alone and plan.bounded and plan.rounds and plan.mutants and not state.problem
    return bool(wanted) and all(baseline.finished for baseline in state.baselines.values())


def first_look(state: CampaignState) -> tuple[Offer, ...]:
    """Return what the run's budget buys, and then larger ones, at the price of the trials so far.

    Scenarios are taken to pass at 0.95, and mutants to be reached by what has shown them so far. Half of the degrading
    mutants are taken to be killed, 0.9 of those that change the flow. Empty where no mutant that counts is reached.
    """
    lanes = {mutant.id: len(state.reaching(mutant).scenarios) for mutant in state.contenders}
    counted = sum(is_counted(mutant) and lanes[mutant.id] > 0 for mutant in state.contenders)
    plan = state.plan
    trials_of = survivor_trials(state.tables, plan.ladder, plan.rule, len(state.scenarios))
    in_rounds = list(zip(plan.ladder, trials_of, strict=True))
    rounds = [_round(state, lanes, each, trials) for each, trials in in_rounds]
    first, trials = in_rounds[0]
    controls = _spent(state, state.controls, lanes, trials)
    budget, price = state.plan.budget, price_of(rounds)
    own = budget.usd if price and not is_over(budget.usd, price, budget.trials) else None
    size = FirstRound(len(state.scenarios), first.baseline, controls, counted)
    return offers_from(rounds, size, own, budget.trials if own is None else None)


def is_over(usd: float | None, price: float, trials: int | None) -> bool:
    """Return whether the limit in trials ends the run before the limit in money does."""
    return usd is not None and trials is not None and trials * price < usd


def _round(state: CampaignState, lanes: Mapping[str, int], here: Round, trials: float) -> RoundLine:
    total = here.baseline * len(state.scenarios) + _spent(state, state.contenders, lanes, trials)
    money = state.money
    usd = total * money.usd / money.trials if money.usd else None
    return RoundLine(delta=here.delta, total=Amount(trials=total, usd=usd, minutes=None))


def _spent(state: CampaignState, mutants: Iterable[Mutant], lanes: Mapping[str, int], trials: float) -> float:
    """Return the trials of mutants up to a round in which a survivor takes so many on each scenario."""
    spent = 0.0
    for mutant in mutants:
        survives = lanes[mutant.id] * trials
        killed = _chance_of_kill(mutant, state)
        spent += killed * min(KILL, survives) + (1 - killed) * survives
    return spent * (1 + state.plan.rule.beside)


def _chance_of_kill(mutant: Mutant, state: CampaignState) -> float:
    if mutant.id == state.plan.destroyed.id:
        return 1.0
    return chance_of_kill(mutant) if is_counted(mutant) else 0.0
