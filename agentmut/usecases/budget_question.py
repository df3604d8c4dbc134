"""The question before an expensive run: one rule for every verb that runs the agent."""

from agentmut.project import BudgetSettings

NO_BUDGET = "No budget is set."


def why_ask(budget: BudgetSettings, most_trials: int, usd_per_trial: float | None) -> str:
    """Return why a person should be asked before a run of at most so many trials; empty if nobody need be asked.

    Without `budget.ask_above`, a run is asked about if no budget bounds it. With `budget.ask_above`, a run is asked
    about if its worst case, within the budget, exceeds one of the limits there. A price that is not known may be any
    price: a limit in money then asks, unless a budget in money lies within the limit.
    """
    above = budget.ask_above
    if above is None:
        limits = (budget.usd, budget.trials, budget.minutes)
        return NO_BUDGET if all(limit is None for limit in limits) else ""
    trials = most_trials if budget.trials is None else min(most_trials, budget.trials)
    if above.trials is not None and trials > above.trials:
        return f"That may be {trials} trials, more than budget.ask_above.trials ({above.trials})."
    if above.usd is None:
        return ""
    known = [each for each in (budget.usd, _times(usd_per_trial, trials)) if each is not None]
    if not known:
        return f"No price is known yet, so it may exceed budget.ask_above.usd ({above.usd:g})."
    if min(known) > above.usd:
        return f"That may cost {min(known):.2f} USD, more than budget.ask_above.usd ({above.usd:g})."
    return ""


def remedy(why: str) -> str:
    """Return the remedy for a run without a person to ask."""
    if why == NO_BUDGET:
        return "Set `budget:` in the project file, or pass --yes."
    return "Pass --yes, or raise the limit."


def _times(usd: float | None, trials: int) -> float | None:
    return None if usd is None else usd * trials
