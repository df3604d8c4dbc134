"""When trials show a kill: a sequential rule for one scenario, valid with an estimated baseline.

The rule counts failures: `f0` in `n0` baseline trials of the original, `f` in the `n` trials of the mutant
so far. It is one-sided, so only a worse mutant is killed. Its decisions depend on nothing but
(n0, f0, design) and are computed once as a `KillTable`.

The false-kill rate is marginal over the draw of the baseline, not given one baseline: at most alpha at every true
failure rate of a fine grid, computed at the sizes and levels of `safety`, whatever `n` the trials stopped at. Two
conditions are the caller's: results of parallel trials are consumed in launch order, and n_max is never extended
after looking.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.safety import safety_factor

if TYPE_CHECKING:
    from agentmut.stats.kill.induction import Flags
    from agentmut.stats.kill.stopping import Solution

RULE_VERSION = 2
"""Changes whenever the same baseline and design give another table: part of the key of a stored table."""
LARGEST_TESTABLE = 0.97
"""A baseline whose estimated failure rate plus delta exceeds this leaves no room to show a drop."""


class KillDesign(NamedTuple):
    """The errors that a decision may make, and its largest cost."""

    alpha: float = 0.05
    """Largest chance of killing a mutant that is no worse; in (0, 0.5]."""
    beta: float = 0.10
    """Chance, on average over baselines, that a mutant worse by delta survives; in (0, 0.5]."""
    delta: float = 0.20
    """The drop of the pass rate that matters; in (0, 0.95)."""
    n_max: int = 100
    """Most trials of one mutant on one scenario; 1 to 500."""


DEFAULT_DESIGN = KillDesign()


class Decision(StrEnum):
    """What the trials so far say about one mutant on one scenario."""

    CONTINUE = "continue"
    """Not enough evidence either way: run another trial."""
    KILLED = "killed"
    """The failure rate has risen."""
    SURVIVED = "survived"
    """A rise by delta or more is ruled out at level beta."""
    UNDECIDED = "undecided"
    """n_max trials were not enough."""
    UNTESTABLE = "untestable"
    """The original fails so often that a drop by delta could not be seen: no trial is spent."""


class StoppedTrials(NamedTuple):
    """The decision that a sequence of trials came to, and the trials it took."""

    decision: Decision
    n: int
    f: int


@dataclass(frozen=True)
class KillTable:
    """The decisions for one baseline and design; both sequences are indexed by n = 0..n_max."""

    f0: int
    n0: int
    design: KillDesign
    kill_at: tuple[int, ...]
    """Least number of failures that is KILLED; n + 1 where none is."""
    survive_at: tuple[int, ...]
    """Greatest number of failures that is SURVIVED; -1 where none is."""
    log_kill: float
    """Logarithm of the price of a kill that the table is optimal for; 0 where untestable."""
    log_survive: float
    """Logarithm of the price of a survival that the table is optimal for; 0 where untestable."""

    @cached_property
    def untestable(self) -> bool:
        """Return whether no trial should be spent: see `is_untestable`."""
        return is_untestable(self.f0, self.n0, self.design.delta)

    @cached_property
    def most_survived(self) -> int:
        """Return the most failures with which any number of trials is SURVIVED; -1 if none is."""
        return max(self.survive_at)

    def decide(self, n: int, f: int) -> Decision:
        """Return the decision after `n` trials with `f` failures; CONTINUE at n = 0.

        Meaningful only where no smaller n has decided: the first crossing counts, see `verdict`.
        """
        if not 0 <= f <= n <= self.design.n_max:
            raise ValueError(f"n and f must satisfy 0 <= f <= n <= {self.design.n_max}, got n={n!r}, f={f!r}")
        if self.untestable:
            return Decision.UNTESTABLE
        if f >= self.kill_at[n]:
            return Decision.KILLED
        if f <= self.survive_at[n]:
            return Decision.SURVIVED
        return Decision.CONTINUE if n < self.design.n_max else Decision.UNDECIDED

    def verdict(self, failures: Iterable[bool]) -> StoppedTrials:
        """Consume trials in launch order (true: it failed) up to the first decision; the rest is not read.

        Outcomes are True and False, or 1 and 0, numpy's too; `ValueError` for anything else, a score included.
        """
        reached = StoppedTrials(self.decide(0, 0), 0, 0)
        if reached.decision is not Decision.CONTINUE:
            return reached
        for n, failed in enumerate(failures, 1):
            if failed not in (True, False):
                raise ValueError(f"failures must hold True and False only, got {failed!r} at trial {n}")
            f = reached.f + bool(failed)
            reached = StoppedTrials(self.decide(n, f), n, f)
            if reached.decision is not Decision.CONTINUE:
                break
        return reached

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able form that `from_json` turns back into an equal table."""
        return {
            "rule_version": RULE_VERSION,
            "f0": self.f0,
            "n0": self.n0,
            "design": self.design._asdict(),
            "kill_at": list(self.kill_at),
            "survive_at": list(self.survive_at),
            "log_kill": self.log_kill,
            "log_survive": self.log_survive,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "KillTable":
        """Return the table that `to_json` wrote; `ValueError` if it is damaged or of another version of the rule."""
        if stored.get("rule_version") != RULE_VERSION:
            raise ValueError(
                f"rule_version must be {RULE_VERSION}, got {stored.get('rule_version')!r}: recompute"
            )
        design = KillDesign(**stored["design"])
        kill_at, survive_at = tuple(stored["kill_at"]), tuple(stored["survive_at"])
        if not len(kill_at) == len(survive_at) == design.n_max + 1:
            raise ValueError(f"a table must have {design.n_max + 1} entries, got {len(kill_at)}: recompute")
        prices = float(stored["log_kill"]), float(stored["log_survive"])
        return cls(stored["f0"], stored["n0"], design, kill_at, survive_at, *prices)


def is_untestable(f0: int, n0: int, delta: float) -> bool:
    """Return whether (f0 + 1/2)/(n0 + 1) + delta > 0.97: neither a kill nor a survival could be shown."""
    return (f0 + 0.5) / (n0 + 1) + delta > LARGEST_TESTABLE


def level_for(k: int, alpha: float = 0.05) -> float:
    """Return the level of each of `k` scenarios: alpha over k rounded up to 1, 2, 3, 5, 8, 12, 20, 30, 50, 80, ...

    From 12 on the steps are 12, 20, 30, 50, 80 times a power of ten. Rounding lets mutants with different
    numbers of scenarios share decision tables; the sum over the scenarios stays at or below alpha.

    >>> level_for(10)
    0.004166666666666667
    """
    k, alpha = check_count("k", k, 1), check_rate("alpha", alpha)
    shares = next(s for s in (1, 2, 3, 5, 8) if s >= k) if k <= 8 else _rounded_share(k)
    return alpha / shares


def _rounded_share(k: int) -> int:
    decade = 1
    while k > 80 * decade:
        decade *= 10
    return next(s * decade for s in (12, 20, 30, 50, 80) if s * decade >= k)


def check_design(design: KillDesign) -> KillDesign:
    """Return the design; `ValueError` naming the field that is out of range."""
    check_rate("alpha", design.alpha, 0.0, 0.5)
    check_rate("beta", design.beta, 0.0, 0.5)
    check_rate("delta", design.delta, 0.0, 0.95)
    check_count("n_max", design.n_max, 1, 500)
    return design


def decision_table(f0: int, n0: int, design: KillDesign = DEFAULT_DESIGN) -> KillTable:
    """Return the decisions for a baseline of `f0` failures in `n0` trials. It takes about 20 ms for n_max = 100.

    The rule minimises the expected trials, averaged over no change and drops of delta to 3 delta, subject to
    P(KILLED) <= safety_factor * alpha if nothing changed and P(SURVIVED) <= 0.95 beta if the rate
    dropped by delta, both predictive given the baseline (Jeffreys prior). An untestable baseline gives a
    table that says UNTESTABLE throughout, with no boundaries.

    Raises `ValueError` for n0 < 1, f0 outside [0, n0] or a design out of range.
    """
    check_design(design)
    n0 = check_count("n0", n0, 1)
    f0 = check_count("f0", f0, 0, n0)
    if is_untestable(f0, n0, design.delta):
        looks = range(design.n_max + 1)
        return KillTable(f0, n0, design, tuple(n + 1 for n in looks), tuple(-1 for _ in looks), 0.0, 0.0)
    return _solved(f0, n0, design)


def _solved(f0: int, n0: int, design: KillDesign) -> KillTable:
    from agentmut.stats.kill.sequences import sequences
    from agentmut.stats.kill.stopping import solve

    chances = sequences(f0, n0, design.delta, design.n_max)
    usual = design._replace(alpha=DEFAULT_DESIGN.alpha) == DEFAULT_DESIGN
    limit = safety_factor(n0, design.alpha, usual=usual) * design.alpha
    solution = solve(chances, limit, 0.95 * design.beta)
    kill_at, survive_at = _boundaries(solution, design.n_max)
    return KillTable(f0, n0, design, kill_at, survive_at, solution.log_kill, solution.log_survive)


def _boundaries(solution: "Solution", n_max: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the regions as two numbers for each n, read where the rule can arrive; rounding may blur them elsewhere.

    Raises `ArithmeticError` if a region that can be reached is not a half-line in f.
    """
    from agentmut.stats.kill.sequences import row

    kill_at, survive_at, low, high = [1], [-1], 0, 0
    for n in range(1, n_max + 1):
        high += 1
        kills, survives = solution.kill[row(n)], solution.survive[row(n)]
        kill, survive = low + _first(kills[low:]), high - _first(survives[high::-1])
        if not (kills[kill : high + 1].all() and survives[low : survive + 1].all()):
            raise ArithmeticError("the decisions of the kill rule are not monotone in the number of failures")
        kill_at.append(kill)
        survive_at.append(survive)
        low, high = max(low, survive + 1), min(high, kill - 1)
    return tuple(kill_at), tuple(survive_at)


def _first(flags: "Flags") -> int:
    """Return the index of the first true flag; the length if there is none."""
    return int(flags.argmax()) if flags.any() else len(flags)
