"""The spending of a run, trial by trial."""

from dataclasses import replace

from agentmut.campaign.judge_use import merged, of_steps
from agentmut.campaign.limits import Spend
from agentmut.campaign.trials import Launch
from agentmut.nouns import Execution
from agentmut.recording import text_size
from agentmut.store import is_later


def spent_with(spend: Spend, launch: Launch, execution: Execution) -> Spend:
    """Return the spending after a trial, model judges included; a trial of another run is that run's expense."""
    if execution.trace.foreign:
        return replace(
            spend,
            trials=spend.trials + 1,
            baseline_trials=spend.baseline_trials + is_baseline(launch),
            foreign=spend.foreign + 1,
        )
    trace = execution.trace
    usd = trace.paid_usd
    return replace(
        with_gaps(spend, execution),
        trials=spend.trials + 1,
        baseline_trials=spend.baseline_trials + is_baseline(launch),
        usd=spend.usd + (usd or 0.0),
        unpriced=spend.unpriced + (usd is None),
        tokens=spend.tokens + trace.paid_tokens,
        cached_tokens=spend.cached_tokens + trace.cached_tokens,
        saved_usd=spend.saved_usd + trace.cache_saved_usd,
        abandoned=spend.abandoned + execution.abandoned,
        kept=spend.kept + text_size(trace),
        cut=spend.cut + bool(trace.texts_cut),
        judges=merged((*spend.judges, *of_steps(execution.judging))),
    )


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
