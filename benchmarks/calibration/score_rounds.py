"""Coverage of the upper end of the mutation score after the last rounds, and the bound on missed drops."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from agentmut.stats.kill.characteristics import TableOf
from agentmut.stats.kill.rounds import ROUNDS, design_in, replayed
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table, level_for
from agentmut.stats.score.kill_p_value import KillTest
from agentmut.stats.score.missed_drops import missed_bound
from agentmut.stats.score.mutant_evidence import JudgedMutant
from benchmarks.calibration.figures import Figure, Section, simulated_rate
from benchmarks.calibration.score import HALVES, LEAST, MIXED, WEAK, Cell, drops

CAMPAIGNS = 400
QUICK = 8
SEED = 12
ERROR = 0.025
"""The chance that the upper end of a score's interval may lie too low."""
N_MAX = KillDesign(0.05).n_max
CELLS = (
    Cell(HALVES, 0.9, 3, 100, 30),
    Cell(WEAK, 1.0, 3, 100, 30),
    Cell(MIXED, 0.98, 3, 100, 30),
)
"""Campaigns whose last round has a baseline of 100 trials; those before have 20, 30 and 50 of these."""


class Lived(NamedTuple):
    """A mutant's trials on each scenario, and what they came to by the end of each round."""

    outcomes: Sequence[str]
    killed: tuple[int, int, int] | None
    """The round, the scenario and the trials of the kill; None where the mutant lives."""
    cleared: Sequence[bool]
    """By round, whether every scenario has ruled out its drop."""


class Tables:
    """The decision tables of a campaign's scenarios in each round, from baselines that grow."""

    def __init__(self, cell: Cell, rng: np.random.Generator, table_of: TableOf) -> None:
        design = KillDesign(level_for(cell.scenarios))
        fails = rng.random((cell.scenarios, ROUNDS[-1].baseline)) >= cell.p
        self.by_round: list[list[KillTable]] = [
            [
                table_of(int(one[: each.baseline].sum()), each.baseline, design_in(each, design))
                for one in fails
            ]
            for each in ROUNDS
        ]

    def lived(self, rates: Sequence[float], rng: np.random.Generator) -> Lived:
        """Draw a mutant that fails at these rates. Trials go to the scenarios in turn, so the quickest kill counts."""
        outcomes = ["".join("01"[int(fails)] for fails in rng.random(N_MAX) < rate) for rate in rates]
        cleared: list[bool] = []
        for number, tables in enumerate(self.by_round):
            said = [replayed(table, seen) for table, seen in zip(tables, outcomes, strict=True)]
            kills = [(each.n, at) for at, each in enumerate(said) if each.decision is Decision.KILLED]
            if kills:
                n, at = min(kills)
                return Lived(outcomes, (number, at, n), cleared)
            cleared.append(all(each.decision is Decision.SURVIVED for each in said))
        return Lived(outcomes, None, cleared)

    def judged(self, mutant: Lived, last: int) -> JudgedMutant:
        """Return the evidence on a mutant when the round `last` has ended."""
        tests = tuple(
            KillTest(f"s{at:02}", table, _killed_at(mutant, number, at, table), ROUNDS[number].weight)
            for number, tables in enumerate(self.by_round[: last + 1])
            for at, table in enumerate(tables)
        )
        later = sum(each.weight for each in ROUNDS[last + 1 :])
        return JudgedMutant(_decision(mutant, last), tests, later=later)


def _decision(mutant: Lived, last: int) -> Decision:
    if mutant.killed and mutant.killed[0] <= last:
        return Decision.KILLED
    return Decision.SURVIVED if mutant.cleared[last] else Decision.UNDECIDED


def _killed_at(mutant: Lived, number: int, at: int, table: KillTable) -> int:
    """Return after how many trials a table kills, of those that were run; 0 if it does not."""
    if not mutant.killed or mutant.killed[1] != at or mutant.killed[0] > number:
        return 0
    found = replayed(table, mutant.outcomes[at][: mutant.killed[2]])
    return found.n if found.decision is Decision.KILLED else 0


class Ended(NamedTuple):
    """What a round has come to: whether the upper end holds, and the bound on missed drops."""

    holds: bool
    missed: int


def campaigns(cell: Cell, count: int, table_of: TableOf) -> Iterator[Mapping[int, Ended]]:
    """Yield what the last two rounds of each campaign have come to."""
    rng = np.random.default_rng(SEED)
    for _ in range(count):
        lost = drops(cell.kind, cell.mutants, rng)
        tables = Tables(cell, rng, table_of)
        lived = [tables.lived(_rates(cell, each, rng), rng) for each in lost]
        yield {last: _ended(tables, lived, lost, last) for last in (2, 3)}


def _rates(cell: Cell, lost: float, rng: np.random.Generator) -> list[float]:
    where, fails = int(rng.integers(cell.scenarios)), 1 - cell.p
    return [min(1.0, fails + lost) if at == where else fails for at in range(cell.scenarios)]


def _ended(tables: Tables, lived: Sequence[Lived], lost: Sequence[float], last: int) -> Ended:
    judged = [tables.judged(mutant, last) for mutant in lived]
    survived = sum(each.decision is Decision.SURVIVED for each in judged)
    missed = min(survived, missed_bound(judged, ERROR))
    most = len(judged) - survived + missed
    return Ended(most >= sum(drop >= ROUNDS[last].delta for drop in lost), missed)


def section(*, thorough: bool) -> Section:
    """Three cells of 400 campaigns; the smallest with few in the quick pass."""
    table_of, count = cache(decision_table), CAMPAIGNS if thorough else QUICK
    figures = [
        figure
        for cell in (CELLS if thorough else CELLS[:1])
        for figure in _figures(cell, list(campaigns(cell, count, table_of)), strict=thorough)
    ]
    how = (
        f"Simulated (seed {SEED}), {count} campaigns a cell, whose mutants share the growing baselines and drop on "
        "one scenario, after the rounds for .3 and for .2: the upper end must not fall below the share with a drop of "
        f"that size. Its level is 0.975; {LEAST} is asked of it in every cell, no error allowed for. M is the mean "
        "bound on missed drops. No trial confirms a kill, and each round ends with its answers."
    )
    return Section("Mutation score over rounds", how, tuple(figures))


def _figures(cell: Cell, found: Sequence[Mapping[int, Ended]], *, strict: bool) -> Iterator[Figure]:
    what = f"{cell.kind}, p = {cell.p}, {cell.scenarios} scenarios, {cell.mutants} mutants"
    for last in (2, 3):
        here, delta = [each[last] for each in found], ROUNDS[last].delta
        rate, error = simulated_rate([each.holds for each in here])
        missed = float(np.mean([each.missed for each in here]))
        promise = f"0.975, at least {LEAST} (M {missed:.1f})"
        error = 0.0 if strict else error
        yield Figure(f"upper end at {delta:g}, {what}", rate, promise, low=LEAST, error=error)
