"""Drift of a pass rate: a CUSUM over trials in the order of their making, with the error rates of its alarms."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentmut._base import Frozen

if TYPE_CHECKING:
    from agentmut.stats import Cusum

REFERENCE = 50
"""Trials that the others are held against, unless said otherwise: the first ones."""
IN_CONTROL = 10_000.0
"""Trials from one false alarm to the next, on average."""
POINTS = 24
"""Nodes of the quadrature over what the reference leaves open."""
LARGEST_RATE = 0.995
"""Reference rates are taken to be no larger: at 1 the first failure would be an alarm."""


class Watch(Frozen):
    """One watched scenario. Every probability assumes independent trials."""

    scenario: str
    reference_passes: int
    reference_trials: int
    pass_rate: float | None = None
    """The reference's, (passes + 1/2) / (trials + 1); None where nothing is watched."""
    drop: float
    in_control: float | None = None
    """Trials to a false alarm on average, if the reference's rate is the true one; exact."""
    after_drop: float | None = None
    """Trials to the alarm on average, once the rate has dropped by `drop`; exact."""
    watched: int = 0
    """Trials after the reference."""
    watched_passes: int = 0
    alarm_at: int | None = None
    """Which of them raised the alarm, from 1."""
    since: str = ""
    """The run that made the trial at which the alarm was raised."""
    false_alarm: float | None = None
    """The chance of an alarm in as many trials if nothing has changed, averaged over what the reference leaves open
    about the rate."""
    reason: str = ""
    """Why nothing is watched, where it is not."""


class Chart(NamedTuple):
    """The settings of the charts."""

    drop: float
    reference: int = REFERENCE
    in_control: float = IN_CONTROL


def watch(scenario: str, passed: Sequence[bool], chart: Chart) -> Watch:
    """Compare all later trials of a scenario with the first ones; `passed` is in the order of their making.

    The chart is `agentmut.stats.sequential.run_length.cusum_for` at the reference's rate. That rate is an estimate, so
    `false_alarm` is averaged over its posterior (Jeffreys): what the chart does to a rate that has not changed at all.
    """
    from agentmut.stats import DriftState, cusum_for

    first, later = passed[: chart.reference], passed[chart.reference :]
    counts = Watch(
        scenario=scenario,
        reference_passes=sum(first),
        reference_trials=len(first),
        drop=chart.drop,
        watched=len(later),
        watched_passes=sum(later),
    )
    if not later:
        said = f"only {len(passed)} trials are stored, and the first {chart.reference} are the reference"
        return counts.model_copy(update={"reason": said})
    rate = min(LARGEST_RATE, (sum(first) + 0.5) / (len(first) + 1))
    if rate - chart.drop <= 0.005:
        return counts.model_copy(
            update={"reason": f"it passes too rarely ({sum(first)}/{len(first)}) for a drop to show"}
        )
    plan = cusum_for(rate, chart.drop, chart.in_control)
    state = DriftState()
    for each in later:
        state = plan.chart.update(state, each)
    return counts.model_copy(
        update={
            "pass_rate": rate,
            "in_control": plan.in_control,
            "after_drop": plan.after_drop,
            "alarm_at": state.alarm_at,
            "false_alarm": _false_alarm(plan.chart, sum(first), len(first), len(later)),
        }
    )


def _false_alarm(chart: "Cusum", passes: int, trials: int, horizon: int) -> float:
    """Return the mean exact chance of an alarm over the posterior of the rate, at its mid-quantiles."""
    from scipy.stats import beta

    from agentmut.stats import alarm_chance

    a, b = passes + 0.5, trials - passes + 0.5
    rates = [float(beta.ppf((i + 0.5) / POINTS, a, b)) for i in range(POINTS)]
    return sum(alarm_chance(chart, rate, horizon) for rate in rates) / POINTS
