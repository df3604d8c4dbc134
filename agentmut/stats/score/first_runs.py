"""A CI job replayed from the trials of a kill, which stopped when they had failed often enough.

Such trials show too many failures: they stop at bad luck. The job's R runs are therefore taken to be the first R
trials of the sequence, whose number was fixed beforehand, and averaged over all orders of passes and failures that
the rule would have ended in the same place (Rao and Blackwell; for one trial it is the estimate of Girshick, Mosteller
and Savage, Ann. Math. Statist. 17 (1946) 13-23). Where the sequence is shorter than R, the runs that are missing fail
at the estimated rate. Over all sequences, killed or not, the estimate has no bias where R is at most their length.
Among killed mutants alone a part is left: a mutant that is hardly worse is killed by bad luck only.

A campaign in rounds judges one sequence by several tables, one after the other: a table takes over where the one
before it has decided for survival, and reads the sequence from its start. The orders are counted by that rule.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from agentmut.stats.checks import check_count
from agentmut.stats.kill.rule import Decision, KillTable


class KillPlace(NamedTuple):
    """The place where the trials of one scenario ended with a kill."""

    tables: tuple[KillTable, ...]
    """The tables that judged them, in the order of the rounds."""
    trials: int
    failures: int


_Seen = tuple[Decision, ...]
"""What each table says of a sequence so far."""
_Counts = tuple[float, float]
"""Orders of passes and failures: all, and those whose first runs are green."""


def killed_where(tables: Sequence[KillTable], outcomes: str) -> KillPlace | None:
    """Return where outcomes in launch order, `1` for each failure, ended with a kill; None if no table kills.

    Outcomes after the kill are not read.
    """
    seen, failures = _begin(tables), 0
    for n, outcome in enumerate(outcomes, 1):
        failures += outcome == "1"
        seen = _after(tables, seen, n, failures)
        now = _present(seen)
        if now is not Decision.CONTINUE:
            return KillPlace(tuple(tables), n, failures) if now is Decision.KILLED else None
    return None


@lru_cache(maxsize=8192)
def replayed_green(killed: KillPlace, needed: int, runs: int) -> float:
    """Return the estimated chance that at least `needed` of `runs` runs pass, in [0, 1].

    Raises `ValueError` for impossible counts, and for a place where the tables do not kill.

    >>> from agentmut.stats.kill.rule import decision_table
    >>> from agentmut.stats.kill.rule import KillDesign
    >>> tables = (decision_table(2, 50, KillDesign()),)
    >>> replayed_green(killed_where(tables, "1" * 20), 1, 1)
    0.0
    """
    check_count("needed", needed, 0, check_count("runs", runs, 1))
    allowed = runs - needed
    if runs <= killed.trials:
        every, green = _orders(killed, runs, allowed)
        return green / every
    if killed.failures > allowed:
        return 0.0
    from scipy.special import bdtr

    failing = 1 - replayed_green(killed, 1, 1)
    return float(bdtr(allowed - killed.failures, runs - killed.trials, failing))


def _orders(killed: KillPlace, runs: int, allowed: int) -> _Counts:
    """Count the orders of outcomes that the rule ends in this place; green: at most `allowed` of the first `runs`
    failed.
    """
    alive: dict[tuple[int, _Seen], _Counts] = {(0, _begin(killed.tables)): (1.0, 1.0)}
    ended = (0.0, 0.0)
    for n in range(1, killed.trials + 1):
        arrived: dict[tuple[int, _Seen], _Counts] = defaultdict(lambda: (0.0, 0.0))
        for (before, seen), counts in alive.items():
            for failures in _within(killed, n, before):
                state = failures, _after(killed.tables, seen, n, failures)
                green = 0.0 if n == runs and failures > allowed else counts[1]
                arrived[state] = arrived[state][0] + counts[0], arrived[state][1] + green
        alive = {
            state: counts for state, counts in arrived.items() if _present(state[1]) is Decision.CONTINUE
        }
        ended = _sum(counts for state, counts in arrived.items() if _present(state[1]) is Decision.KILLED)
    if not ended[0]:
        raise ValueError(f"no order kills after {killed.trials} trials with {killed.failures} failures")
    return ended


def _within(killed: KillPlace, n: int, failures: int) -> range:
    """Return the failures after trial n from which the place can still be reached."""
    passes_left = killed.trials - killed.failures - (n - failures - 1)
    return range(failures + (passes_left <= 0), min(failures + 1, killed.failures) + 1)


def _sum(counts: Iterable[_Counts]) -> _Counts:
    every, green = 0.0, 0.0
    for one, one_green in counts:
        every, green = every + one, green + one_green
    return every, green


def _begin(tables: Sequence[KillTable]) -> _Seen:
    return tuple(table.decide(0, 0) for table in tables)


def _after(tables: Sequence[KillTable], seen: _Seen, n: int, failures: int) -> _Seen:
    return tuple(
        table.decide(n, failures) if decision is Decision.CONTINUE else decision
        for table, decision in zip(tables, seen, strict=True)
    )


def _present(seen: _Seen) -> Decision:
    """Return the decision of the first table that has neither decided for survival nor given up."""
    turns = (decision for decision in seen if decision in (Decision.CONTINUE, Decision.KILLED))
    return next(turns, Decision.SURVIVED)
