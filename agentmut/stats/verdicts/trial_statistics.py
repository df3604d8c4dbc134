"""The trials that a pass rate counts: those that are evidence, or all."""

from collections.abc import Mapping
from typing import NamedTuple

from agentmut.nouns import Outcome
from agentmut.stats.checks import check_choice, check_count
from agentmut.stats.intervals.proportion import Interval, wilson


class PassRates(NamedTuple):
    """The pass rate of the agent, of the whole pipeline, and without timeouts, each with a Wilson interval.

    >>> print(pass_rates({Outcome.PASS: 9, Outcome.TIMEOUT: 1, Outcome.INFRASTRUCTURE: 10}))
    per protocol 0.900 [0.596, 0.982] (95% wilson, n=10); intention to treat 0.450 [0.258, 0.658] (95% wilson, n=20)
    """

    per_protocol: Interval
    """The pass rate of the agent when it runs: passes / (passes + fails + timeouts)."""
    intention_to_treat: Interval
    """The pass rate of the whole pipeline: passes / all trials."""
    in_time: Interval
    """The pass rate of the trials that ended before their timeout: passes / (passes + fails). It describes, and decides
    nothing: which trials end in time may depend on what they do."""

    def __str__(self) -> str:
        return f"per protocol {self.per_protocol}; intention to treat {self.intention_to_treat}"


def pass_rates(counts: Mapping[Outcome, int], level: float = 0.95) -> PassRates:
    """Return the pass rates from the number of trials with each outcome; outcomes left out count 0.

    Per protocol, a timeout is a failure, and trials that are no evidence about the agent (infrastructure,
    pre-validation, empty run) leave the denominator. Intention to treat counts every trial, and all but the
    passes as failures. Where no trial counts there is no estimate, and the interval is [0, 1].
    Leaving out outcomes is fair only if they have nothing to do with the agent; a crash that the agent
    provokes makes the per-protocol rate too high.

    Raises `ValueError` for a negative or fractional count, or a level outside (0, 1).
    """
    checked = {
        check_choice("an outcome", o, Outcome): check_count(f"counts[{o}]", n) for o, n in counts.items()
    }
    passes = checked.get(Outcome.PASS, 0)
    evidence = sum(n for outcome, n in checked.items() if outcome.is_evidence)
    in_time = evidence - checked.get(Outcome.TIMEOUT, 0)
    sizes = evidence, sum(checked.values()), in_time
    return PassRates(*(wilson(passes, size, level) for size in sizes))
