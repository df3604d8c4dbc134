"""Budgets, and the baseline size that a budget allows."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from agentmut._base import Frozen
from agentmut.campaign.judge_use import merged
from agentmut.campaign.trials import TrialResult
from agentmut.nouns import CUT_BY_BUDGET, HookUse, JudgeUse, SpentBudget
from agentmut.project import BudgetSettings

BASELINE_SHARE = 0.4
"""Largest part of a budget that an automatic baseline may take."""
BASELINE_MINIMUM = 30
"""Trials per scenario below which the promised error rates would not hold at a useful cost."""


@dataclass(frozen=True)
class Spend:
    """What a run has spent so far, in this process and before an interruption."""

    trials: int = 0
    baseline_trials: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Trials that called a model without a known price."""
    without_price: frozenset[str] = frozenset()
    """The models in them that no price is known of."""
    without_tokens: frozenset[str] = frozenset()
    """The models in them whose replies report no tokens."""
    tokens: int = 0
    cached_tokens: int = 0
    """Input tokens that prompt caches of services held, in this process."""
    saved_usd: float = 0.0
    """What that took off the cost, in this process."""
    judges_usd: float = 0.0
    """What model judges cost; no part of `usd`, which is the agent's, but of the budget."""
    judges: tuple[JudgeUse, ...] = ()
    """What the judges of a suite that judges its own runs took in this process, by model; likewise."""
    hooks: tuple[HookUse, ...] = ()
    """What setup and teardown of scenarios asked of models, by model; likewise."""
    seconds: float = 0.0
    """Time at work."""
    reused: int = 0
    """Trials taken over from other runs."""
    foreign: int = 0
    """Trials that another tool ran, looked at by this run or taken over from other runs."""
    abandoned: int = 0
    kept: int = 0
    """Characters that are kept of what the trials say."""
    cut: int = 0
    """Trials of which not all is kept."""
    over_budget: int = 0
    """Trials that a budget in money has cut, before this process too."""
    over_budget_usd: float = 0.0
    """What these cost; a part of `usd`."""
    age: float = 0.0
    """Seconds since the oldest trial of the original that was taken from the store."""

    @property
    def all_judges_usd(self) -> float:
        """Return the cost of all model judges; a resumed run begins with this cost."""
        return self.judges_usd + sum(use.usd or 0.0 for use in self.judges)

    @property
    def beside_agent_usd(self) -> float:
        """Return the cost of all model judges and of scenarios' hooks."""
        return self.all_judges_usd + sum(use.usd or 0.0 for use in self.hooks)


ISOLATED_AFTERWARDS = (
    "code of yours stopped or crashed the command's first process, so later trials had processes of their own"
)
CUT = (
    "{} trials have more text than the store keeps (store.max_text, max_trial, max_run): their texts are cut"
)


def together(before: Spend, after: Spend) -> Spend:
    """Return what both parts of a run have spent; the second begins with what the store knows of the first."""
    return replace(
        after,
        reused=before.reused + after.reused,
        age=max(before.age, after.age),
        without_price=before.without_price | after.without_price,
        without_tokens=before.without_tokens | after.without_tokens,
        judges=merged((*before.judges, *after.judges)),
    )


class BaselineLimit(Frozen):
    """The budget that cuts an automatic baseline. It is fixed with the plan, so a resumed run has the same baseline."""

    usd: float | None = None
    minutes: float | None = None
    concurrency: int = 1


class AllowedBaseline(Frozen):
    """The baseline trials per scenario that a limit allows, or why it allows too few."""

    trials: int
    refusal: str = ""


def budget_reached(budget: BudgetSettings, spend: Spend, in_flight: int) -> str:
    """Return why the budget allows no further trial; an empty text if it allows one.

    Under a budget in money the first trial runs alone: it tells the cost.
    """
    found = spent_budget(budget, spend, in_flight)
    if budget.usd is not None and in_flight and not spend.trials and (not found or found.budget != "trials"):
        return "no trial has shown yet what a trial costs"
    return words_of(found, spend) if found else ""


def spent_budget(budget: BudgetSettings, spend: Spend, in_flight: int) -> SpentBudget | None:
    """Return the budget that allows no further trial. Trials in flight count at the mean cost so far."""
    if budget.trials is not None and spend.trials + in_flight >= budget.trials:
        return SpentBudget(budget="trials", limit=budget.trials)
    spent = spend.usd + spend.beside_agent_usd
    mean = spent / spend.trials if spend.trials else 0.0
    if budget.usd is not None and spent + mean * (in_flight + 1) > budget.usd:
        return SpentBudget(budget="usd", limit=budget.usd)
    if budget.minutes is not None and spend.seconds >= 60 * budget.minutes:
        return SpentBudget(budget="minutes", limit=budget.minutes)
    return None


def words_of(found: SpentBudget, spend: Spend) -> str:
    """Return which budget is used up, as reports say it."""
    if found.budget == "usd":
        spent = dollars(spend.usd + spend.beside_agent_usd)
        return f"the budget of {found.limit:g} USD is used up (spent {spent})"
    limit = f"{found.limit:.0f}" if found.budget == "trials" else f"{found.limit:g}"
    return f"the budget of {limit} {found.budget} is used up"


def baseline_within_trials(
    budget: int | None, wanted: int, scenarios: int, *, automatic: bool
) -> AllowedBaseline:
    """Return the baseline under a budget of trials; an automatic one is cut, a fixed one has to fit."""
    if budget is None:
        return AllowedBaseline(trials=wanted)
    if not automatic:
        needed = wanted * scenarios
        reason = f"too small for the baseline: {scenarios} scenarios with {wanted} trials each are {needed}"
        return AllowedBaseline(
            trials=wanted,
            refusal="" if needed <= budget else _refusal("trials", f"{budget}", reason, f"{needed}"),
        )
    affordable = min(wanted, int(BASELINE_SHARE * budget) // scenarios)
    needed = math.ceil(BASELINE_MINIMUM * scenarios / BASELINE_SHARE)
    return _checked(affordable, "trials", f"{budget}", f"{needed}", f"{scenarios} scenarios")


SMALLEST_BASELINE = 10
"""Trials per scenario of the smallest first baseline: where a budget is not enough for the usual one."""
USUAL_SHARE, LARGEST_SHARE = 0.5, 0.6
"""The part of a budget that the usual first baseline may take, and the smallest one: mutants need the rest."""


def first_round_within_trials(budget: int | None, baseline: int, scenarios: int) -> AllowedBaseline:
    """Return the first round's baseline under a budget of trials, or why the budget is too small for any."""
    if budget is None:
        return AllowedBaseline(trials=baseline)
    who = f"on each of {scenarios} scenarios"
    return _first_round("trials", budget, baseline, scenarios, scenarios, who)


def first_round_within(
    limit: BaselineLimit, first: Collection[TrialResult], baseline: int
) -> AllowedBaseline:
    """Return the first round's baseline under a limit in money or time, by the first trial of every scenario."""
    usd = sum(result.usd or 0.0 for result in first)
    minutes = sum(result.seconds for result in first) / limit.concurrency / 60
    cuts = [
        _first_round(
            unit,
            budget,
            baseline,
            once,
            len(first),
            f"on each scenario, one trial on each took {_amount(once, unit)}",
        )
        for unit, budget, once in (("usd", limit.usd, usd), ("minutes", limit.minutes, minutes))
        if budget is not None
    ]
    return min(cuts, key=lambda cut: (not cut.refusal, cut.trials), default=AllowedBaseline(trials=baseline))


def dollars(usd: float) -> str:
    """Return an amount of money with its cents, and a small amount with two digits that say something.

    >>> dollars(12.3), dollars(0.00123), dollars(0)
    ('$12.30', '$0.0012', '$0')
    """
    return f"${usd:.2f}" if usd >= 0.1 else f"${usd:.2g}"


def _amount(value: float, unit: str) -> str:
    return f"${value:.3g}" if unit == "usd" else f"{value:.3g} {unit}"


def _first_round(
    unit: str, budget: float, usual: int, once: float, scenarios: int, who: str
) -> AllowedBaseline:
    """Return the cut for the first round; `once` is the price of one trial of each of `scenarios`."""
    smallest = min(SMALLEST_BASELINE, usual)
    if usual * once <= USUAL_SHARE * budget:
        return AllowedBaseline(trials=usual)
    if smallest * once <= LARGEST_SHARE * budget:
        return AllowedBaseline(trials=smallest)
    needed = smallest * once / LARGEST_SHARE
    reason = f"too small for the coarsest answer: its baseline takes {smallest} trials {who}, and mutants need the rest"
    enough = f"{math.ceil(needed)}" if unit == "trials" else f"{_rounded_up(needed):g}"
    few = int(LARGEST_SHARE * budget * scenarios / (smallest * once))
    return AllowedBaseline(trials=smallest, refusal=_refusal(unit, f"{budget:g}", reason, enough, few))


def baseline_within(limit: BaselineLimit, first: Collection[TrialResult], wanted: int) -> AllowedBaseline:
    """Return the baseline under a limit, from the first trial of every scenario: a function of nothing else."""
    usd = sum(result.usd or 0.0 for result in first)
    minutes = sum(result.seconds for result in first) / limit.concurrency / 60
    cuts = [
        _within("usd", limit.usd, usd, len(first), wanted),
        _within("minutes", limit.minutes, minutes, len(first), wanted),
    ]
    return min(cuts, key=lambda cut: cut.trials)


def _within(
    unit: str, budget: float | None, per_round: float, scenarios: int, wanted: int
) -> AllowedBaseline:
    """Return the cut within a budget; `per_round` is the price of one trial of every scenario."""
    if budget is None or per_round * wanted <= BASELINE_SHARE * budget:
        return AllowedBaseline(trials=wanted)
    affordable = int(BASELINE_SHARE * budget / per_round)
    needed = _rounded_up(BASELINE_MINIMUM * per_round / BASELINE_SHARE)
    took = f"{scenarios} scenarios take {_amount(per_round, unit)} for one trial each, by their first trials, and"
    return _checked(affordable, unit, f"{budget:g}", f"{needed:g}", took)


def _checked(affordable: int, unit: str, budget: str, needed: str, who: str) -> AllowedBaseline:
    if affordable >= BASELINE_MINIMUM:
        return AllowedBaseline(trials=affordable)
    reason = (
        f"too small for a baseline: {who} need at least {BASELINE_MINIMUM} trials each within "
        f"{100 * BASELINE_SHARE:.0f} % of the budget, which is enough for {affordable}"
    )
    return AllowedBaseline(trials=affordable, refusal=_refusal(unit, budget, reason, needed))


def _refusal(unit: str, budget: str, text: str, needed: str, few: int | None = None) -> str:
    """Return why a budget is refused, and what is enough; `few` scenarios fit into it, where that is known."""
    fewer = {None: ", or measure fewer scenarios with --scenario", 0: ""}.get(
        few,
        f", or measure a part with `--sample-scenarios {few}`: the whole suite notices at least what the part notices",
    )
    return f"budget.{unit} is {budget}, {text}. Raise it to {needed}{fewer}; finished trials are reused."


def _rounded_up(value: float) -> float:
    """Return two significant digits, never less."""
    unit: float = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit


def price_missing(models: Collection[str], unreported: Collection[str] = ()) -> str:
    """Return why a budget in money cannot be kept; `unreported` names the models whose replies report no tokens."""
    if unreported and not set(models) - set(unreported):
        return (
            f"budget.usd cannot be kept: {_reports_no_tokens(unreported)}, or limit trials or minutes instead"
        )
    unpriced = sorted(set(models) - set(unreported))
    return (
        f"budget.usd needs a price for {_models(unpriced)}: add budget.prices, as in `prices: "
        f"{{{unpriced[0] or 'model-name'}: {{input: 1.0, output: 4.0}}}}` (US dollars per million tokens), or limit "
        "trials or minutes instead"
    )


def cost_unknown(spend: Spend) -> str:
    """Return why there is no figure in money; an empty text if there is one."""
    if not spend.unpriced:
        return ""
    reasons = []
    if spend.without_price:
        reasons.append(f"no price is known of {_models(spend.without_price)} (set budget.prices)")
    if spend.without_tokens:
        reasons.append(_reports_no_tokens(spend.without_tokens))
    return f"the cost is unknown: {'; '.join(reasons) or 'some calls of models have no price (set budget.prices)'}"


def money_notes(spend: Spend) -> Iterator[str]:
    """Yield what a report has to say about money: an unknown cost, and trials that the budget has cut."""
    if unknown := cost_unknown(spend):
        yield unknown
    if spend.over_budget:
        yield (
            f"{CUT_BY_BUDGET}{spend.over_budget} trials under way cost {dollars(spend.over_budget_usd)} and ended at "
            "their next model call. They are no evidence: with more money, `agentmut resume` or the same command runs "
            "them again"
        )


def _reports_no_tokens(models: Collection[str]) -> str:
    return (
        f"the replies of {_models(models)} report no tokens (where they are streamed, ask for them, as for OpenAI by "
        "`stream_options: {include_usage: true}`)"
    )


def _models(names: Collection[str]) -> str:
    return f"model{'s' if len(names) > 1 else ''} {', '.join(sorted(name or '(unnamed)' for name in names))}"
