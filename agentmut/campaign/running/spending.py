"""The spending of a run, by the trials that ended together."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from agentmut.campaign.judge_use import hooks_of_steps, merged, merged_hooks, of_steps
from agentmut.campaign.limits import Spend
from agentmut.campaign.trials import Launch
from agentmut.nouns import Execution
from agentmut.recording import text_size
from agentmut.store import is_later


def spent_with(spend: Spend, ended: Iterable[tuple[Launch, Execution]]) -> Spend:
    """Return the spending after trials, model judges included; a trial of another run is that run's expense."""
    sums, saved_usd = Counter[str](), spend.saved_usd
    usd, judges, hooks, own = spend.usd, spend.judges, spend.hooks, list[Execution]()
    for launch, execution in ended:
        sums["trials"] += 1
        sums["baseline_trials"] += is_baseline(launch)
        trace = execution.trace
        if trace.foreign:
            sums["foreign"] += 1
            continue
        own.append(execution)
        paid = trace.paid_usd
        usd += paid or 0.0
        saved_usd += trace.cache_saved_usd
        sums["unpriced"] += paid is None
        sums["tokens"] += trace.paid_tokens
        sums["cached_tokens"] += trace.cached_tokens
        sums["abandoned"] += execution.abandoned
        sums["kept"] += text_size(trace)
        sums["cut"] += bool(trace.texts_cut)
        judges = merged((*judges, *of_steps(execution.judging))) if execution.judging else judges
        hooks = merged_hooks((*hooks, *hooks_of_steps(execution.hooks))) if execution.hooks else hooks
    counted: dict[str, Any] = {name: getattr(spend, name) + number for name, number in sums.items()}
    spend = replace(spend, usd=usd, saved_usd=saved_usd, judges=judges, hooks=hooks, **counted)
    for execution in own:
        spend = with_gaps(spend, execution)
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
