"""Comparisons that hold for the baseline that is kept, and not only on average over baselines.

A rule whose false alarms are at most alpha on average over the draw of the baseline errs more often with an unlucky
one, and a kept baseline is drawn once and used many times. Here the agent is compared with the lowest pass rate that
the baseline's trials leave open. Where the true rate is no lower, which holds with the chance `CONFIDENCE`, every
comparison of an unchanged agent errs with a chance of at most alpha.
"""

from typing import TYPE_CHECKING

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table

if TYPE_CHECKING:
    from agentmut.stats.kill.characteristics import TableOf

CONFIDENCE = 0.95
"""The chance, over the draw of the baseline, that the promise of a comparison holds."""
STEPS_A_DECADE = 8
"""Levels that are tried are alpha times 10^(-k/8), so that baselines share decision tables."""
MOST_STEPS = 40


def doubt_of(scenarios: int, looks: int = 1) -> float:
    """Return the share of 1 - `CONFIDENCE` that one scenario has at the `looks`-th size of its baseline.

    A baseline may be made larger because of what it shows. So each size has a part, 1/(looks (looks + 1)): the parts of
    all sizes together are 1, and the promise holds for all sizes at once (Bonferroni), as it does for the scenarios.

    >>> doubt_of(1), round(doubt_of(10, looks=2), 6)
    (0.025, 0.000833)

    Raises `ValueError` for a count below 1.
    """
    scenarios, looks = check_count("scenarios", scenarios, 1), check_count("looks", looks, 1)
    return round(1 - CONFIDENCE, 12) / (scenarios * looks * (looks + 1))


def lowest_rate(passes: int, trials: int, doubt: float) -> float:
    """Return the one-sided Clopper-Pearson bound: the true pass rate is below it with a chance of at most `doubt`.

    0 where no trial passed. All of 100 passed, doubt 0.05: 0.05^(1/100) = 0.970.

    Raises `ValueError` for no trials, counts that do not fit, or a doubt outside (0, 1).
    """
    from scipy.special import betaincinv

    trials = check_count("trials", trials, 1)
    passes, doubt = check_count("passes", passes, 0, trials), check_rate("doubt", doubt)
    return 0.0 if passes == 0 else float(betaincinv(passes, trials - passes + 1, doubt))


def false_kill(table: KillTable, rate: float) -> float:
    """Return the exact chance that the table kills an agent whose true pass rate is `rate`, given its baseline.

    It rises as the rate falls: a sequence with a pass turned into a failure is killed no later.
    """
    from agentmut.stats.kill.characteristics import decision_probability

    return float(decision_probability(table, Decision.KILLED, 1 - check_rate("rate", rate, closed=True))[0])


def table_given(
    f0: int, n0: int, design: KillDesign, lowest: float, table_of: "TableOf | None" = None
) -> KillTable:
    """Return a decision table that kills an agent at the pass rate `lowest` with a chance of at most `design.alpha`.

    It is the table of `decision_table` at the largest level alpha 10^(-k/8) that a bisection finds to do. `table_of`
    may cache tables. At the last of 40 steps no kill is left to find, in practice; where one is, the promise is broken
    and `ArithmeticError` is raised.
    """
    made = table_of or decision_table

    def at(step: int) -> KillTable:
        return made(f0, n0, design._replace(alpha=design.alpha * 10 ** (-step / STEPS_A_DECADE)))

    if false_kill(at(0), lowest) <= design.alpha:
        return at(0)
    too_high, does = 0, MOST_STEPS
    while does - too_high > 1:
        middle = (too_high + does) // 2
        if false_kill(at(middle), lowest) <= design.alpha:
            does = middle
        else:
            too_high = middle
    table = at(does)
    if false_kill(table, lowest) > design.alpha:
        raise ArithmeticError(f"no level makes the kill rule valid given {f0} failures in {n0} trials")
    return table
