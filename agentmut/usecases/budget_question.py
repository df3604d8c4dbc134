"""The question before an expensive run: one rule for every verb that runs the agent."""

from agentmut._base import UsageError
from agentmut.campaign import Plan, Spend, dollars, spent_budget
from agentmut.nouns import SpentBudget
from agentmut.project import BudgetSettings
from agentmut.store import Store, StoredRun

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


def refuse_spent(store: Store, run: str, usd: float | None, trials: int | None) -> None:
    """Raise `UsageError` where a run that goes on has already used up the limits that are given now.

    Nothing could be run, and a sample of mutants that is chosen for so little money would say less than before.
    """
    spent = store.spent(run)
    whole = "The limit is that of the whole run, so give more than that"
    cost = spent.usd + spent.judges_usd + sum(use.usd or 0.0 for use in spent.hooks)
    if usd is not None and cost >= usd:
        raise UsageError(f"run {run} has cost {dollars(cost)} already, and --usd is {usd:g}. {whole}.")
    if trials is not None and spent.trials >= trials:
        raise UsageError(
            f"run {run} has made {spent.trials} trials already, and --trials is {trials}. {whole}."
        )


def spent_before(store: Store, stored: StoredRun, plan: Plan) -> SpentBudget | None:
    """Return the budget that ended a run and ends it again at once; None for a run that another cause ended."""
    if stored.status != "budget":
        return None
    return spent_budget(plan.budget, Spend(**store.spent(stored.id)._asdict()), 0)


def _times(usd: float | None, trials: int) -> float | None:
    return None if usd is None else usd * trials
