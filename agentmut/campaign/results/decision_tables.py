"""The decision tables that ended the trials of a campaign, as reports show them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.lane import Lane
from agentmut.nouns import DecisionTable

Key = tuple[int, int, float]
"""Failures and trials of the baseline, and the level."""


class DecisionTables(NamedTuple):
    """Each decision table once, up to the last trial that used it."""

    tables: tuple[DecisionTable, ...]
    number: Mapping[Key, int]

    def index_for(self, lane: Lane) -> int:
        """Return the index in `tables` of the table that ended a lane's trials."""
        return self.number[_key(lane)]


def decision_tables(arms: Iterable[Arm]) -> DecisionTables:
    """Return the tables of all scenarios that some mutant was tried on."""
    longest: dict[Key, Lane] = {}
    for lane in (lane for arm in arms for lane in arm.lanes if lane.trials):
        known = longest.get(_key(lane))
        if known is None or known.trials < lane.trials:
            longest[_key(lane)] = lane
    tables = tuple(_table_of(lane) for lane in longest.values())
    return DecisionTables(tables, {key: number for number, key in enumerate(longest)})


def _key(lane: Lane) -> Key:
    return lane.table.f0, lane.table.n0, lane.table.design.alpha


def _table_of(lane: Lane) -> DecisionTable:
    table, size = lane.table, lane.trials + 1
    return DecisionTable(
        f0=table.f0,
        n0=table.n0,
        alpha=table.design.alpha,
        kill_at=table.kill_at[:size],
        survive_at=table.survive_at[:size],
        log_evidence=tuple(_reachable(lane, size)),
    )


def _reachable(lane: Lane, size: int) -> Iterable[tuple[float, ...]]:
    """Return log m1/m0 for the numbers of failures that undecided trials, and the deciding trial, can have."""
    low, high = 0, 0
    for n in range(size):
        yield tuple(round(ratio, 3) for ratio in lane.evidence.log_ratio[n][low : high + 1])
        low = max(low, lane.table.survive_at[n] + 1)
        high = min(high, lane.table.kill_at[n] - 1) + 1
