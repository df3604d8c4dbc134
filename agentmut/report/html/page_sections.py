"""What the sections of the page show, computed from a result."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from agentmut.insight import PAPER, Coverage
from agentmut.nouns import Intent, MutantRow, OperatorClass, Result, Score, Status
from agentmut.report.html.inline import cut
from agentmut.report.proof_wording import group_score, is_few


class Interval(NamedTuple):
    """An interval on a line from 0 to 100."""

    low: float
    high: float
    value: float | None
    mark: float | None
    """Where a threshold is drawn."""


def interval(
    low: float | None, high: float | None, value: float | None, mark: float | None = None
) -> Interval | None:
    """Return an interval of shares; None where there is none.

    >>> interval(0.25, 0.75, 0.5)
    Interval(low=25.0, high=75.0, value=50.0, mark=None)
    """
    if low is None or high is None:
        return None
    shown = [None if share is None else round(100 * share, 2) for share in (low, high, value, mark)]
    return Interval(shown[0] or 0.0, shown[1] or 0.0, shown[2], shown[3])


class Spoke(NamedTuple):
    """One direction of a radar, from the middle (0, 0) to its rim at a radius of 100."""

    name: str
    share: float
    x: float
    y: float
    rim_x: float
    rim_y: float
    text_x: float
    text_y: float
    anchor: str


def radar(shares: Sequence[tuple[str, float]]) -> list[Spoke]:
    """Return the places of a radar's shares, the first one above the middle, the rest clockwise.

    >>> [(spoke.x, spoke.y) for spoke in radar([("a", 0.5), ("b", 1.0)])]
    [(0.0, -50.0), (0.0, 100.0)]
    """
    spokes = []
    for number, (name, share) in enumerate(shares):
        angle = 2 * math.pi * number / len(shares)
        across, up = round(math.sin(angle), 4), round(math.cos(angle), 4)
        anchor = "middle" if abs(across) < 0.2 else "start" if across > 0 else "end"
        at = (_tidy(100 * share * across), _tidy(-100 * share * up))
        rim = (_tidy(100 * across), _tidy(-100 * up))
        spokes.append(Spoke(name, share, *at, *rim, _tidy(114 * across), _tidy(-114 * up + 4), anchor))
    return spokes


def _tidy(value: float) -> float:
    return round(value, 2) + 0.0  # no -0.0


class ScoreLine(NamedTuple):
    """One row of the score table: a class, an operator, or all mutants."""

    name: str
    words: str
    chart: Interval | None
    score: Score
    preserve: bool
    """Whether it is the share of harmless changes that are *not* killed."""


class ScoreGroup(NamedTuple):
    """A class and its operators."""

    head: ScoreLine
    operators: tuple[ScoreLine, ...]


def score_groups(result: Result) -> list[ScoreGroup]:
    """Return scores by class with their operators; harmless changes and pairs in groups of their own."""
    preserving = _preserving(result)
    found = []
    for name, score in result.classes.items():
        own = [o for o in result.operators if o.startswith(f"{name}.") and o not in preserving]
        found.append(_group(_line(name, score), list(_operators(result, own, preserve=False))))
    harmless = [o for o in result.operators if o in preserving and not _is_pair(o)]
    if harmless:
        head = _line("robustness", result.robustness, preserve=True)
        found.append(ScoreGroup(head, tuple(_operators(result, harmless, preserve=True))))
    return found


def _group(head: ScoreLine, operators: list[ScoreLine]) -> ScoreGroup:
    """Return a class with its operators; a class of one operator stands there once, by that operator's name."""
    if len(operators) == 1 and operators[0].score == head.score:
        return ScoreGroup(operators[0], ())
    return ScoreGroup(head, tuple(operators))


def _preserving(result: Result) -> set[str]:
    others = {row.operator for row in result.mutants if row.intent is not Intent.PRESERVE}
    return {name for name in result.operators if name not in others}


def _is_pair(operator: str) -> bool:
    return operator.startswith(f"{OperatorClass.HIGHER_ORDER}.")


def _operators(result: Result, names: Iterable[str], *, preserve: bool) -> Iterator[ScoreLine]:
    return (_line(name, result.operators[name], preserve=preserve) for name in names)


def _line(name: str, score: Score, *, preserve: bool = False) -> ScoreLine:
    chart = None if is_few(score) else interval(score.low, score.high, score.value)
    return ScoreLine(cut(name, 120), group_score(score, harmless=preserve), chart, score, preserve)


class ScenarioLine(NamedTuple):
    """A scenario: the original's pass rate on it, and the mutants that it notices."""

    name: str
    passes: int
    trials: int
    words: str
    chart: Interval | None
    threshold: float
    note: str
    killed: int
    alone: int
    """Mutants that no other scenario was seen to kill."""
    tried: int
    usual: float | None
    """Median trials of a mutant."""
    most: int


def scenario_lines(result: Result) -> list[ScenarioLine]:
    """Return the scenarios in the order of the baseline."""
    trials: dict[str, list[int]] = defaultdict(list)
    killed: dict[str, int] = defaultdict(int)
    alone: dict[str, int] = defaultdict(int)
    for row in result.mutants:
        for item in row.evidence:
            trials[item.scenario].append(item.trials)
        for name in row.killed_by:
            killed[name] += 1
            alone[name] += len(row.killed_by) == 1
    lines = []
    for base in result.baseline:
        name, bounds = base.scenario, base.interval
        words = (
            f"{base.rate:.2f} [{bounds.low:.2f}, {bounds.high:.2f}]"
            if bounds and base.rate is not None
            else "-"
        )
        chart = interval(bounds.low, bounds.high, base.rate, base.threshold) if bounds else None
        own = trials[name]
        lines.append(
            ScenarioLine(
                cut(name, 200), base.passes, base.trials, words, chart, base.threshold,
                cut(base.reason, 600), killed[name], alone[name], len(own), median(own) if own else None,
                max(own, default=0),
            )
        )  # fmt: skip
    return lines


class Savings(NamedTuple):
    """Trials of the mutants, and the trials that a fixed number on each tried scenario would take."""

    used: int
    fixed: int
    n_max: int
    share: float
    """Saved, of `fixed`."""


def savings(result: Result) -> Savings | None:
    """Return what stopping early saved; None where the rule is not known or nothing was tried."""
    n_max = int(result.rule.get("n_max", 0))
    used = sum(item.trials for row in result.mutants for item in row.evidence)
    fixed = n_max * sum(len(row.evidence) for row in result.mutants)
    return Savings(used, fixed, n_max, max(0.0, 1 - used / fixed)) if fixed else None


def status_counts(rows: Sequence[MutantRow]) -> list[tuple[Status, int]]:
    """Count the mutants of each status that occurs."""
    return [(status, n) for status in Status if (n := sum(row.status is status for row in rows))]


class KindOfChanges(NamedTuple):
    """Mutants of one kind: where they count, and how many there are of each status."""

    name: str
    says: str
    counts: list[tuple[Status, int]]


def kinds_of_changes(rows: Sequence[MutantRow]) -> list[KindOfChanges]:
    """Return harmful changes, harmless changes and pairs, each with its counts; kinds without mutants are left out."""
    harmless = [row for row in rows if row.intent is Intent.PRESERVE]
    pairs = [row for row in rows if row.parts and row.intent is not Intent.PRESERVE]
    harmful = [row for row in rows if not row.parts and row.intent is not Intent.PRESERVE]
    kinds = (
        KindOfChanges("Harmful", "the score counts them", status_counts(harmful)),
        KindOfChanges("Harmless by intent", "only robustness counts them", status_counts(harmless)),
        KindOfChanges(
            "Two at once", "no score counts them, since the scores count their parts", status_counts(pairs)
        ),
    )
    return [kind for kind in kinds if kind.counts]


class CoverageShape(NamedTuple):
    """The radar of a coverage."""

    spokes: list[Spoke]
    overall: str


def coverage_shape(coverage: Coverage) -> CoverageShape:
    """Return the dimensions that have a value; those of the overall coverage first."""
    found = sorted(coverage.dimensions, key=lambda row: row.dimension not in PAPER)
    shares = [(row.dimension.value, min(1.0, row.value)) for row in found if row.value is not None]
    overall = "n/a" if coverage.overall is None else f"{coverage.overall:.2f}"
    return CoverageShape(radar(shares), overall)
