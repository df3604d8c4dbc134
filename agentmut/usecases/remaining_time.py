"""The time that a campaign will take from now on: of the present round, and of all rounds."""

from functools import lru_cache
from typing import NamedTuple

from agentmut.campaign import KILL, Arm, CampaignState, Rule, Tables, is_counted
from agentmut.nouns import Status
from agentmut.stats import KillDesign, Round, design_in, level_for, mean_trials
from agentmut.usecases.plan_figures import USUAL_RATE, chance_of_kill

LATER = 0.1
"""The chance of a kill of a mutant that has survived a round, or that is tried when the expected kills are made."""


class TimeLeft(NamedTuple):
    """Seconds, at the pace so far."""

    this_round: float
    whole: float
    """To the end of the last round, or until the budget is used up."""


def time_left(state: CampaignState) -> TimeLeft | None:
    """Return the expected time of a campaign's remaining trials; None before a mutant is tried.

    In the first round half of the degrading mutants are taken to be killed, as in a plan; since kills take few trials
    and come first, later ones are mostly survivors. A survivor takes in all what the last round alone takes. Scenarios
    are taken to pass at 0.95.
    """
    spend = state.spend
    if state.round < 0 or not spend.trials:
        return None
    here, whole = _trials_left(state)
    pace = spend.seconds / spend.trials
    left = min([whole * pace, *_left_of_budget(state, pace)])
    return TimeLeft(min(here * pace, left), left)


def _trials_left(state: CampaignState) -> tuple[float, float]:
    """Return the trials until all mutants have their answer in this round, and until the end of the last round."""
    plan, chance = state.plan, _chance_of_a_kill(state)
    a_lane = survivor_trials(state.tables, plan.ladder, plan.rule, len(state.scenarios))
    waits = bool(state.sample and state.sample.waiting)  # then no finer round follows
    first, last = a_lane[state.round], a_lane[state.round if waits else -1]
    here = whole = 0.0
    for arm in state.arms.values():
        if arm.status is None:
            killed = 0.0 if arm.is_answered else _chance(arm, state, chance)
            here += 0.0 if arm.is_answered else _left_of(arm, killed, first)
            whole += _left_of(arm, killed, last, first)
    beside = 1 + plan.rule.beside
    undrawn = _undrawn(state) * (0.5 * KILL + 0.5 * first * _mean_lanes(state)) if waits else 0.0
    grown = 0 if waits else plan.ladder[-1].baseline - plan.ladder[state.round].baseline
    return here * beside + undrawn, whole * beside + undrawn + grown * len(state.scenarios)


def _left_of(arm: Arm, killed: float, survives: float, first: float | None = None) -> float:
    """Return the trials left of a mutant; a survivor takes so many on each scenario, `first` in the present round."""
    lanes, done = len(arm.lanes), arm.trials.consumed
    kill = min(KILL, lanes * (survives if first is None else first))
    return killed * max(0.0, kill - done) + (1 - killed) * max(0.0, lanes * survives - done)


def _chance(arm: Arm, state: CampaignState, chance: float) -> float:
    if arm.mutant.id == state.plan.destroyed.id:
        return 1.0
    return chance if is_counted(arm.mutant) else 0.0


def _chance_of_a_kill(state: CampaignState) -> float:
    """Return the chance that a mutant without an answer is killed: kills that are expected and not made yet."""
    counted = [arm for arm in state.arms.values() if is_counted(arm.mutant)]
    still_open = sum(not arm.is_answered for arm in counted)
    if state.round > 0 or not still_open:
        return LATER
    wanted = sum(chance_of_kill(arm.mutant) for arm in counted)
    made = sum(arm.status is Status.KILLED for arm in counted)
    return min(1.0, max(LATER, (wanted - made) / still_open))


def _undrawn(state: CampaignState) -> int:
    """Return how many mutants the budget or the precision will probably draw besides those that are drawn."""
    sample = state.sample
    assert sample is not None
    return max(0, max(sample.looks, key=lambda look: look.share).drawn - sample.drawn)


def _mean_lanes(state: CampaignState) -> float:
    return sum(len(arm.lanes) for arm in state.arms.values()) / max(1, len(state.arms))


def _left_of_budget(state: CampaignState, pace: float) -> list[float]:
    """Return the seconds after which each limit of the budget will be reached."""
    budget, spend = state.plan.budget, state.spend
    price = spend.usd / spend.trials
    found = [] if budget.minutes is None else [60 * budget.minutes - spend.seconds]
    found += [] if budget.trials is None else [(budget.trials - spend.trials) * pace]
    found += [] if budget.usd is None or not price else [(budget.usd - spend.usd) / price * pace]
    return [max(0.0, seconds) for seconds in found]


@lru_cache(maxsize=4)
def survivor_trials(
    tables: Tables, ladder: tuple[Round, ...], rule: Rule, scenarios: int
) -> tuple[float, ...]:
    """Return for each round the mean trials of a survivor on one of all scenarios, which fails as the original."""
    level = level_for(scenarios, rule.alpha * (1 - rule.suite_share))
    found = []
    for each in ladder:
        design = design_in(each, KillDesign(level, rule.beta, rule.delta, rule.n_max))
        failures = round((1 - USUAL_RATE) * each.baseline)
        found.append(mean_trials(tables.get(failures, each.baseline, design), 1 - USUAL_RATE))
    return tuple(found)
