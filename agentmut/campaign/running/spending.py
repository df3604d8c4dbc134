"""The spending of a run, by the trials that ended together."""

from collections.abc import Iterable
from dataclasses import replace

from agentmut.campaign.judge_use import hooks_of_steps, merged, of_steps
from agentmut.campaign.limits import Spend
from agentmut.campaign.running.ports import Ports
from agentmut.campaign.running.work import Work
from agentmut.campaign.trials import Launch
from agentmut.nouns import Ending, Execution
from agentmut.store import StoredTrial, is_later


class RunSpending:
    """Keeps `work.spend`: it begins with what earlier processes of the run have spent."""

    def __init__(self, work: Work, ports: Ports) -> None:
        self._work = work
        self._judges_usd = ports.judges_usd
        self._now = ports.elapsed or ports.now
        work.spend = Spend(**ports.store.spent(work.plan.run_id)._asdict())
        self._begun = self._now() - work.spend.seconds
        # a session may carry out several runs
        self._judges_before = work.spend.judges_usd - ports.judges_usd()
        self._noted = self._now()
        self._paid_before = work.spend.usd + work.spend.beside_agent_usd
        self._judged_before = work.spend.all_judges_usd
        self._purse = ports.purse
        self._limit()

    def _limit(self) -> None:
        """Tell the purse what model calls of trials may cost from now on; judges have their part of the budget."""
        budget = self._work.plan.budget.usd
        if budget is not None and self._purse is not None:
            judges = self._work.spend.all_judges_usd - self._judged_before
            self._purse.limit(budget - self._paid_before - judges)

    def add(self, ended: Iterable[tuple[Launch, Execution]]) -> None:
        """Add trials that this run has executed, with the time and the judges so far."""
        judges = self._judges_before + self._judges_usd()
        spend = replace(self._work.spend, seconds=self._now() - self._begun, judges_usd=judges)
        self._work.spend = spent_with(spend, ended)
        self._limit()

    def add_stored(self, launch: Launch, stored: StoredTrial, age: float) -> None:
        """Add a trial from the store; a trial that this run executed before an interruption is counted already."""
        spend = self._work.spend
        if stored.run != self._work.plan.run_id:
            spend = replace(spend, reused=spend.reused + 1)
        else:
            spend = with_gaps(spend, stored.execution)
        if stored.execution.trace.foreign:
            spend = replace(spend, foreign=spend.foreign + 1)
        self._work.spend = replace(spend, age=max(spend.age, age)) if is_baseline(launch) else spend

    def seconds_to_note(self) -> float | None:
        """Return the time at work, once a second: how much is lost when the process is killed."""
        now = self._now()
        if now - self._noted < 1:
            return None
        self._noted = now
        return now - self._begun


def spent_with(spend: Spend, ended: Iterable[tuple[Launch, Execution]]) -> Spend:
    """Return the spending after trials, model judges included; a trial of another run is that run's expense."""
    trials = list(ended)
    own = [execution for _, execution in trials if not execution.trace.foreign]
    traces = [execution.trace for execution in own]
    judges, hooks = spend.judges, spend.hooks
    for execution in own:
        judges = merged((*judges, *of_steps(execution.judging))) if execution.judging else judges
        hooks = merged((*hooks, *hooks_of_steps(execution.hooks))) if execution.hooks else hooks
    paid = [trace.paid_usd for trace in traces]
    over = [e.trace.paid_usd or 0.0 for e in own if e.ending is Ending.CUT]
    spend = replace(
        spend,
        trials=spend.trials + len(trials),
        baseline_trials=spend.baseline_trials + sum([is_baseline(launch) for launch, _ in trials]),
        foreign=spend.foreign + len(trials) - len(own),
        usd=sum([usd or 0.0 for usd in paid], spend.usd),
        saved_usd=sum([trace.cache_saved_usd for trace in traces], spend.saved_usd),
        unpriced=spend.unpriced + paid.count(None),
        tokens=spend.tokens + sum([trace.paid_tokens for trace in traces]),
        cached_tokens=spend.cached_tokens + sum([trace.cached_tokens for trace in traces]),
        abandoned=spend.abandoned + sum([execution.abandoned for execution in own]),
        kept=spend.kept + sum([trace.characters for trace in traces]),
        cut=spend.cut + sum([trace.texts_cut > 0 for trace in traces]),
        judges=judges,
        hooks=hooks,
        over_budget=spend.over_budget + len(over),
        over_budget_usd=sum(over, spend.over_budget_usd),
    )
    for execution, price in zip(own, paid, strict=True):
        spend = with_gaps(spend, execution) if price is None else spend
    return spend


def is_baseline(launch: Launch) -> bool:
    """Return whether a trial of the original belongs to the baseline, rather than to the trials beside mutants."""
    return not launch.mutant and not is_later(launch.repeat)


def with_gaps(spend: Spend, execution: Execution) -> Spend:
    """Return the spending with the models that have no price; the store does not count these models."""
    answered = execution.trace.unpriced_models
    silent = execution.trace.unreported_models if answered else answered
    unpriced = answered - silent
    if silent <= spend.without_tokens and unpriced <= spend.without_price:
        return spend
    return replace(
        spend,
        without_tokens=spend.without_tokens | silent,
        without_price=spend.without_price | unpriced,
    )
