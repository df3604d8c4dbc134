"""Coverage of the mutation score's interval in whole campaigns, and of Wilson's on killed / total for comparison."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.kill.characteristics import TableOf, chance_of, endings
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table, level_for
from agentmut.stats.score.kill_p_value import KillTest
from agentmut.stats.score.mutant_evidence import JudgedMutant
from agentmut.stats.score.mutation_score import Score, mutation_score
from benchmarks.calibration.figures import Figure, Section, simulated_rate

CAMPAIGNS = 400
QUICK = 40
LEAST = 0.965
"""What each end has to cover in every cell; its level is 0.975."""
DELTA = 0.2
SEED = 11


class Cell(NamedTuple):
    """Campaigns of one kind."""

    kind: str
    p: float
    """True pass rate of the original on each scenario."""
    scenarios: int
    n0: int
    mutants: int


NULL, WEAK, TENTH, MIXED, HALVES = (
    "no drop",
    "all drop 0.2",
    "a tenth drops 0.2",
    "mixed",
    "half 0.2, half 0.9",
)
CELLS = (
    Cell(NULL, 0.8, 10, 20, 30),
    Cell(NULL, 0.8, 10, 50, 30),
    Cell(NULL, 0.9, 30, 50, 30),
    Cell(MIXED, 0.9, 10, 50, 30),
    Cell(NULL, 0.5, 10, 50, 30),
    Cell(NULL, 0.9, 10, 100, 100),
    Cell(NULL, 0.8, 3, 20, 30),
    Cell(TENTH, 0.5, 10, 20, 30),
    Cell(MIXED, 0.98, 10, 50, 30),
    Cell(HALVES, 0.9, 3, 50, 30),
    Cell(WEAK, 1.0, 10, 100, 30),
)


def drops(kind: str, mutants: int, rng: np.random.Generator) -> list[float]:
    """Return the drop of each mutant, on one scenario. Mixed: three in ten lose 0.5 to 0.9, two in ten 0.2."""
    strong, weak = {
        NULL: (0, 0),
        WEAK: (0, mutants),
        TENTH: (0, mutants // 10),
        MIXED: (3 * mutants // 10, mutants // 5),
        HALVES: (mutants // 2, mutants // 2),
    }[kind]
    sizes = np.full(strong, 0.9) if kind == HALVES else rng.uniform(0.5, 0.9, strong)
    return [*sizes.tolist(), *[DELTA] * weak, *[0.0] * (mutants - strong - weak)]


class Ended(NamedTuple):
    """Trials on one scenario that came to a decision."""

    decision: Decision
    trials: int
    failures: int


class Endings(NamedTuple):
    """Where trials on one scenario end, and the chances added up."""

    states: tuple[Ended, ...]
    chances: NDArray[np.float64]

    def draw(self, rng: np.random.Generator) -> Ended:
        """Draw where the trials end."""
        return self.states[min(int(self.chances.searchsorted(rng.random())), len(self.states) - 1)]


def endings_at(table: KillTable, failure_rate: float) -> Endings:
    """Return the endings of a table at a true failure rate."""
    found = endings(table).items()
    states = [Ended(decision, int(n), int(f)) for decision, e in found for n, f in zip(e.n, e.f, strict=True)]
    chances = np.concatenate([chance_of(ends, failure_rate)[:, 0] for _, ends in found])
    return Endings(tuple(states), np.cumsum(chances))


class Campaigns:
    """Simulated campaigns of one cell. Trials go to the scenarios in turn, so the quickest kill counts."""

    def __init__(self, cell: Cell, table_of: TableOf) -> None:
        self.cell = cell
        self.design = KillDesign(level_for(cell.scenarios))
        self._table_of = table_of
        self._endings = cache(endings_at)

    def mutants(self, drop: Sequence[float], rng: np.random.Generator) -> list[JudgedMutant]:
        """Return the mutants of one campaign, which share its baselines."""
        f0 = rng.binomial(self.cell.n0, 1 - self.cell.p, self.cell.scenarios).tolist()
        tables = [self._table_of(f, self.cell.n0, self.design) for f in f0]
        return [self._mutant(tables, lost, rng) for lost in drop]

    def _mutant(self, tables: Sequence[KillTable], lost: float, rng: np.random.Generator) -> JudgedMutant:
        worse, where = min(1.0, 1 - self.cell.p + lost), int(rng.integers(len(tables)))
        rates = [worse if i == where else 1 - self.cell.p for i in range(len(tables))]
        known = [i for i, table in enumerate(tables) if not table.untestable]
        ended = {i: self._endings(tables[i], rates[i]).draw(rng) for i in known}
        kills = [(end.trials, i) for i, end in ended.items() if end.decision is Decision.KILLED]
        first, by = min(kills, default=(0, -1))
        tests = tuple(KillTest(f"s{i:02}", tables[i], first * (i == by)) for i in known)
        survived = len(known) == len(tables) and all(e.decision is Decision.SURVIVED for e in ended.values())
        if kills:
            return JudgedMutant(Decision.KILLED, tests)
        return JudgedMutant(Decision.SURVIVED if survived else Decision.UNDECIDED, tests)


class Coverage(NamedTuple):
    """How often each end held, with its standard error; means of K, F and M; and Wilson's interval beside it."""

    low: tuple[float, float]
    high: tuple[float, float]
    wilson: tuple[float, float]
    means: tuple[float, float, float]


def coverage(cell: Cell, campaigns: int, table_of: TableOf) -> Coverage:
    """Simulate campaigns and compare each interval with the true shares of mutants with a drop (seed 11)."""
    rng, simulated = np.random.default_rng(SEED), Campaigns(cell, table_of)
    held, sizes = [], []
    for _ in range(campaigns):
        drop = drops(cell.kind, cell.mutants, rng)
        mutants = simulated.mutants(drop, rng)
        score = mutation_score(mutants)
        assert score is not None
        killed = sum(m.decision is Decision.KILLED for m in mutants)
        held.append(_held(score, killed, drop))
        sizes.append((killed, score.false_kills, score.missed))
    low, high, plain = zip(*held, strict=True)
    kills, false_kills, missed = np.mean(sizes, axis=0).tolist()
    return Coverage(
        simulated_rate(low), simulated_rate(high), simulated_rate(plain), (kills, false_kills, missed)
    )


def _held(score: Score, killed: int, drop: Sequence[float]) -> tuple[bool, bool, bool]:
    worse = sum(lost > 0 for lost in drop) / len(drop)
    much_worse = sum(lost >= DELTA for lost in drop) / len(drop)
    plain = wilson(killed, len(drop))
    low, high = score.interval.low <= worse + 1e-9, score.interval.high >= much_worse - 1e-9
    return low, high, plain.low <= worse and plain.high >= much_worse


def section(*, thorough: bool) -> Section:
    """Eleven cells of 400 campaigns; two of them with few in the quick pass."""
    table_of, campaigns = cache(decision_table), CAMPAIGNS if thorough else QUICK
    cells = CELLS if thorough else (CELLS[6], CELLS[9])
    figures = [f for cell in cells for f in _figures(cell, campaigns, table_of, strict=thorough)]
    how = (
        f"Simulated (seed {SEED}), {campaigns} campaigns a cell, whose mutants share the baselines and drop on one "
        "scenario: the lower end must not exceed the share with any drop, the upper end not fall below the share "
        f"with a drop of 0.2 or more. Each end has level 0.975; {LEAST} is asked of it in every cell, no error "
        "allowed for. F and M are the mean bounds on false kills and missed drops, K the mean kills."
    )
    return Section("Mutation score", how, tuple(figures))


def _figures(cell: Cell, campaigns: int, table_of: TableOf, *, strict: bool) -> Iterator[Figure]:
    found = coverage(cell, campaigns, table_of)
    kills, false_kills, missed = found.means
    what = f"{cell.kind}, p = {cell.p}, {cell.scenarios} scenarios, n0 = {cell.n0}, {cell.mutants} mutants"
    for end, (rate, error) in (("lower", found.low), ("upper", found.high)):
        promise = f"0.975, at least {LEAST} (K {kills:.1f}, F {false_kills:.1f}, M {missed:.1f})"
        yield Figure(f"{end} end, {what}", rate, promise, low=LEAST, error=0.0 if strict else error)
    yield Figure(f"Wilson's, {what}", found.wilson[0], "none", 0.0, 1.0, found.wilson[1])
